"""Notes of a trace: sentences about choices that were made for the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.decoding.config import MethodConfig
from core.decoding.methods import method_of
from core.decoding.protocol import LanguageModel
from core.decoding.record.trace import RECOMPUTED
from core.decoding.validation import brief


def run_notes(
    model: LanguageModel, config: MethodConfig, prompt_ids: Sequence[int], emitted: int
) -> tuple[str, ...]:
    """Return the notes that follow from the settings and the run's length.

    Args:
        emitted: how many generated tokens the model read.
    """
    recomputed_at: Callable[[int, int, bool], int | None] | None = getattr(
        model, "recomputed_at", None
    )
    begun = len(prompt_ids)
    length = recomputed_at and recomputed_at(begun, begun + emitted, config.use_cache)
    notes: tuple[str, ...] = method_of(config).notes(config)
    if not length:
        return notes
    return (
        *notes,
        f"{RECOMPUTED} before token {length - begun + 1}: from {length} tokens on, "
        "this model's position embeddings are others.",
    )


def doubled_start(model: LanguageModel, prompt: str, ids: Sequence[int]) -> tuple[str, ...]:
    """A sentence on a text that begins with the token which the tokenizer puts before it."""
    if len(ids) > 1 and ids[0] == ids[1]:
        name = model.token_text(ids[0])
        if not model.token_bytes(ids[0]) and prompt.startswith(name):
            return (
                f"The model reads {brief(name)} twice: its tokenizer puts it before every text, "
                "and the prompt has it too; leave it out of the prompt.",
            )
    return ()


def tokens_read(token_ids: Sequence[int], steps: Sequence[object]) -> int:
    """Return the number of generated tokens that the model read: all but the last."""
    return max(len(token_ids), len(steps) - 1) - 1
