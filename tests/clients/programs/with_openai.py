"""OpenAI's Python client: chat, completions and responses, whole and streamed; objects; tools."""

import sys

from openai import OpenAI, pydantic_function_tool
from pydantic import BaseModel, Field

base, model = sys.argv[1:]
client = OpenAI(base_url=base, api_key="none")
ask = [{"role": "user", "content": "What is 3 + 4?"}]
answer = client.chat.completions.create(model=model, messages=ask, temperature=0)
assert answer.choices[0].message.content == "The answer is 7."
stream = client.chat.completions.create(model=model, messages=ask, temperature=0, stream=True)
assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "The answer is 7."
assert client.completions.create(model=model, prompt="Once", max_tokens=4).choices[0].text
assert client.responses.create(model=model, input="What is 3 + 4?", temperature=0).output_text


class Sum(BaseModel):
    total: int = Field(ge=0, le=99)


chat = client.chat.completions.parse(model=model, messages=ask, response_format=Sum)
assert isinstance(chat.choices[0].message.parsed, Sum)
response = client.responses.parse(model=model, input="What is 3 + 4?", text_format=Sum)
assert isinstance(response.output_parsed, Sum)
tool = pydantic_function_tool(Sum)
chat = client.chat.completions.parse(
    model=model, messages=ask, tools=[tool], tool_choice="required"
)
assert isinstance(chat.choices[0].message.tool_calls[0].function.parsed_arguments, Sum)
