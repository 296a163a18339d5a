"""Canvas of a run: its open positions and its clear text; torch-free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from ..record.steps import TokenStep
from ..record.trace import Trace
from .config import Diffusion
from .types import CanvasStep, OpenCandidate

# The new tokens by position; None is a mask.
Slots: TypeAlias = Sequence[int | None]


def canvas_steps(trace: Trace) -> tuple[CanvasStep, ...]:
    """Return the steps of a run of masked diffusion."""
    return cast("tuple[CanvasStep, ...]", trace.steps)


def open_positions(tokens: Slots, block_length: int) -> list[int]:
    """Return the masked positions of the first block that has any."""
    first = next((at for at, token in enumerate(tokens) if token is None), len(tokens))
    end = (first // block_length + 1) * block_length
    return [at for at in range(first, min(end, len(tokens))) if tokens[at] is None]


def canvas_ids(
    prompt_ids: Sequence[int], tokens: Slots, mask_id: int, config: Diffusion
) -> list[int]:
    """Return the token ids of the canvas, at least one of them masked."""
    end = len(tokens)
    if config.canvas == "grows":
        length = config.block_length
        end = (open_positions(tokens, length)[-1] // length + 1) * length
    return [*prompt_ids, *(mask_id if token is None else token for token in tokens[:end])]


def listed_in(candidates: Sequence[OpenCandidate]) -> Mapping[int, Sequence[OpenCandidate]]:
    """Return the candidates by position; none for a position without any."""
    listed: defaultdict[int, list[OpenCandidate]] = defaultdict(list)
    for candidate in candidates:
        listed[candidate.position].append(candidate)
    return listed


def clear_text(tokens: Slots, config: Diffusion) -> list[int]:
    """Return the tokens before the first mask; with remasking those of the full blocks."""
    end = next((at for at, token in enumerate(tokens) if token is None), len(tokens))
    if config.remask_per_step and end < len(tokens):
        end -= end % config.block_length
    return cast("list[int]", tokens[:end])


def replayed(
    steps: Sequence[CanvasStep], limit: int
) -> Iterator[tuple[CanvasStep, list[int | None]]]:
    """Yield each step with the tokens by position before it; the list changes with the steps."""
    tokens: list[int | None] = [None] * limit
    for step in steps:
        yield step, tokens
        change(tokens, step)


def change(tokens: list[int | None], step: CanvasStep) -> None:
    """Put the step's tokens on the canvas, and masks where it masks again."""
    for filled in step.filled:
        tokens[filled.index] = filled.token_id
    for position in step.remasked:
        tokens[position] = None


def all_filled(trace: Trace[Diffusion]) -> Trace[Diffusion]:
    """Return the same run as the steps of all filled positions, in the order of the text.

    A position that was masked again has several, in the order of filling.
    """
    steps = [filled for step in canvas_steps(trace) for filled in step.filled]
    steps.sort(key=lambda step: step.index)
    return replace(trace, steps=tuple(steps))


def last_filled(trace: Trace[Diffusion]) -> Trace[Diffusion]:
    """Return the same run as the last steps of all filled positions, in the order of the text."""
    last = {step.index: step for step in all_filled(trace).token_steps}
    return replace(trace, steps=tuple(last.values()))


def forwards_of(trace: Trace[Diffusion]) -> int:
    """Return the number of forwards of a run: two a step with guidance."""
    return len(trace.steps) * (2 if trace.config.cfg_scale else 1)


def as_tokens(trace: Trace[Diffusion]) -> Trace[Diffusion]:
    """Return the same run as steps of one token in the order of the text, with the texts that they
    added.

    Positions behind the end are left out.
    """
    filled = {step.index: step for step in all_filled(trace).token_steps}
    steps: list[TokenStep] = []
    for canvas in canvas_steps(trace):
        for text in canvas.texts:
            if (at := len(steps)) in filled:
                steps.append(replace(filled[at], text=text))
        if steps and canvas.finish_reason:
            steps[-1] = replace(steps[-1], finish_reason=canvas.finish_reason)
    return replace(trace, steps=tuple(steps))
