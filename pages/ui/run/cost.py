"""Upper bound of the work that a link starts by itself; more waits for a press of its button."""

from __future__ import annotations

from core.decoding.config import MethodConfig
from core.decoding.methods import method_of
from core.language import Message

# Tokens times runs, rows or samples; the embedded model takes some ten seconds for them.
LINK_TOKENS = 4_000


def tokens_of(config: MethodConfig) -> int:
    """Return the most tokens that a run computes after its prompt: in all rows, and without the KV
    cache the previous tokens again at each step."""
    steps = config.max_new_tokens
    return steps * method_of(config).rows(config) * (1 if config.use_cache else steps)


def awaited(tokens: int, button: str) -> str:
    """Return the notice that a link's work waits for a button; empty up to `LINK_TOKENS`."""
    if tokens <= LINK_TOKENS:
        return ""
    return Message(
        "This link asks for up to {tokens:,} tokens. Press {button} to start.",
        tokens=tokens,
        button=Message(button),
    )
