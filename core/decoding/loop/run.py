"""Prompt, token limit and notes of a run, the same for all methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from torch import Tensor

from core.decoding.config import MethodConfig
from core.decoding.loop.recording import read_prompt
from core.decoding.methods import method_of
from core.decoding.protocol import Context, LanguageModel, OnLogits
from core.decoding.record.notes import DOUBLED_START, RECOMPUTED, Note
from core.decoding.record.steps import PromptPosition, PromptStep
from core.decoding.record.trace import Trace
from core.decoding.validation import brief


def process_prompt(
    model: LanguageModel, prompt_ids: Sequence[int], use_cache: bool
) -> tuple[PromptStep, Context]:
    """Run the prompt and read what the model predicted at each of its positions."""
    positions: list[PromptPosition] = []
    reading = 0.0

    def read(first: int, logits: Tensor) -> None:
        nonlocal reading
        started = perf_counter()
        positions.extend(read_prompt(model, prompt_ids, first, logits))
        reading += perf_counter() - started

    started = perf_counter()
    context = model.start(prompt_ids, use_cache=use_cache, on_logits=read)
    seconds = perf_counter() - started - reading
    return PromptStep(positions=tuple(positions), seconds=seconds), context


def read_again(
    model: LanguageModel,
    trace: Trace,
    token_ids: Sequence[int],
    on_logits: OnLogits | None = None,
) -> Context:
    """Run a trace's prompt and some of its tokens without a cache; the numbers are the run's own.

    A model whose position embeddings depend on the length tells the prompt and the tokens apart.

    Args:
        on_logits: as of `LanguageModel.start`.
    """
    reader: Callable[..., Context] | None = getattr(model, "read_again", None)
    if reader is None:
        return model.start([*trace.prompt_ids, *token_ids], use_cache=False, on_logits=on_logits)
    use_cache = trace.config.use_cache
    return reader(trace.prompt_ids, token_ids, use_cache=use_cache, on_logits=on_logits)


def token_limit(model: LanguageModel, prompt_ids: Sequence[int], config: MethodConfig) -> int:
    """Return the most tokens that a run may emit: `max_new_tokens`, or the window's room."""
    window = model.context_window
    room = config.max_new_tokens if window is None else window - len(prompt_ids)
    return min(config.max_new_tokens, room)


def eos_rows(model: LanguageModel) -> list[int]:
    """The end-of-sequence ids that a row of logits has."""
    return sorted(token for token in model.eos_ids if token < model.vocab_size)


def run_notes(
    model: LanguageModel,
    config: MethodConfig,
    prompt_ids: Sequence[int],
    token_ids: Sequence[int],
    steps: Sequence[object],
) -> tuple[Note, ...]:
    """Return the notes that follow from the settings and the run's length."""
    recomputed_at: Callable[[int, int, bool], int | None] | None = getattr(
        model, "recomputed_at", None
    )
    begun = len(prompt_ids)
    # The model read all generated tokens but the last.
    read = begun + max(len(token_ids), len(steps) - 1) - 1
    length = recomputed_at and recomputed_at(begun, read, config.use_cache)
    notes: tuple[Note, ...] = method_of(config).notes(config)
    if not length:
        return notes
    words = (
        f"The key-value cache was computed anew before token {length - begun + 1}: from {length} "
        "tokens on, this model's position embeddings are others."
    )
    return (*notes, Note(RECOMPUTED, words))


def doubled_start(model: LanguageModel, prompt: str, ids: Sequence[int]) -> tuple[Note, ...]:
    """A note on a text that begins with the token which the tokenizer puts before it."""
    if len(ids) > 1 and ids[0] == ids[1]:
        name = model.token_text(ids[0])
        if not model.token_bytes(ids[0]) and prompt.startswith(name):
            words = (
                f"The model reads {brief(name)} twice: its tokenizer puts it before every text, "
                "and the prompt has it too; leave it out of the prompt."
            )
            return (Note(DOUBLED_START, words),)
    return ()
