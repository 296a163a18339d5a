"""OpenAI's Python client: chat, completions and responses, whole and streamed."""

import sys

from openai import OpenAI

base, model = sys.argv[1:]
client = OpenAI(base_url=base, api_key="none")
ask = [{"role": "user", "content": "What is 3 + 4?"}]
answer = client.chat.completions.create(model=model, messages=ask, temperature=0)
assert answer.choices[0].message.content == "The answer is 7."
stream = client.chat.completions.create(model=model, messages=ask, temperature=0, stream=True)
assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "The answer is 7."
assert client.completions.create(model=model, prompt="Once", max_tokens=4).choices[0].text
assert client.responses.create(model=model, input="What is 3 + 4?", temperature=0).output_text
