"""LangChain: chat, its stream, and text."""

import sys

from langchain_openai import ChatOpenAI, OpenAI

base, model = sys.argv[1:]
options = {"base_url": base, "api_key": "none", "model": model}
chat = ChatOpenAI(**options, temperature=0)
assert chat.invoke("What is 3 + 4?").content == "The answer is 7."
assert "".join(part.content for part in chat.stream("What is 3 + 4?")) == "The answer is 7."
assert ChatOpenAI(**options, use_responses_api=True, temperature=0).invoke("What is 3 + 4?").text
assert OpenAI(**options, max_tokens=4).invoke("Once")
