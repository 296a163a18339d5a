"""LlamaIndex: chat, its stream, and text."""

import sys

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

base, model = sys.argv[1:]
options = {"api_base": base, "api_key": "none", "model": model, "temperature": 0}
chat = OpenAILike(**options, is_chat_model=True)
ask = [ChatMessage(role="user", content="What is 3 + 4?")]
assert chat.chat(ask).message.content == "The answer is 7."
assert list(chat.stream_chat(ask))[-1].message.content == "The answer is 7."
assert OpenAILike(**options, max_tokens=4).complete("Once").text
