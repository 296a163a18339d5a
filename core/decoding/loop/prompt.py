"""Prompt processing and the token limit of a run, the same for all methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from torch import Tensor

from core.decoding.config import MethodConfig
from core.decoding.loop.recording import read_prompt
from core.decoding.protocol import Context, LanguageModel, OnLogits
from core.decoding.record.trace import PromptPosition, PromptStep, Trace


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
