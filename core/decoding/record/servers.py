"""Names of servers' software, as the versions in a trace have them."""

from __future__ import annotations

VLLM, LLAMA_CPP, OPENAI_SHAPED = "vLLM", "llama.cpp", "OpenAI-shaped server"
SERVERS = frozenset({VLLM, LLAMA_CPP, OPENAI_SHAPED})
