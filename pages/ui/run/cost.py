"""What a link may start by itself: work up to a bound; more waits until its button is pressed."""

from __future__ import annotations

from core.decoding.config import MethodConfig

# Tokens times runs, beams or samples; of the embedded model some ten seconds.
LINK_TOKENS = 4_000


def tokens_of(config: MethodConfig) -> int:
    """The most tokens that a run computes: those of every beam, and of a draft as many again."""
    rows = int(getattr(config, "num_beams", 1)) + hasattr(config, "draft_length")
    return config.max_new_tokens * rows


def awaited(tokens: int, button: str) -> str:
    """That a link's work waits for the press of a button; empty where it may start by itself."""
    if tokens <= LINK_TOKENS:
        return ""
    return f"This link asks for up to {tokens:,} tokens. Press {button} to start."
