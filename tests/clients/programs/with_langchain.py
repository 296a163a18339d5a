"""LangChain: chat, its stream, text, objects, and a tool."""

import sys

from langchain_openai import ChatOpenAI, OpenAI
from pydantic import BaseModel, Field

base, model = sys.argv[1:]
options = {"base_url": base, "api_key": "none", "model": model}
chat = ChatOpenAI(**options, temperature=0)
assert chat.invoke("What is 3 + 4?").content == "The answer is 7."
assert "".join(part.content for part in chat.stream("What is 3 + 4?")) == "The answer is 7."
assert ChatOpenAI(**options, use_responses_api=True, temperature=0).invoke("What is 3 + 4?").text
assert OpenAI(**options, max_tokens=4).invoke("Once")


class Sum(BaseModel):
    total: int = Field(ge=0, le=99)


for method in ("json_schema", "function_calling"):
    assert isinstance(chat.with_structured_output(Sum, method=method).invoke("What is 3 + 4?"), Sum)


def calculator(expression: str) -> str:
    """Return the value of an expression."""
    return expression


(call,) = chat.bind_tools([calculator]).invoke("What is 4821 * 377?").tool_calls
assert call["args"] == {"expression": "4821*377"}, call
