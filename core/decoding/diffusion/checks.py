"""Invariants of masked diffusion, checked from its file alone: the canvas, the order, the draws."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks.common import (
    COMMON_CHECKS,
    checked_if_whole,
    count,
)
from ..checks.trace_checks import STEP_CHECKS, TEXT_CHECKS, whole
from ..counting import nth
from ..record.steps import TokenStep
from ..record.trace import Check, Trace
from .canvas import (
    all_filled,
    as_tokens,
    canvas_steps,
    change,
    clear_text,
    listed_in,
    open_positions,
    replayed,
)
from .config import Diffusion
from .noise_checks import (
    canvas_of_noise,
    is_ranking,
    noise_faults,
    order_of_noise,
    proposals_of_noise,
)
from .order import FillChoice, candidates_of, draw_uniform, reading_of, score
from .types import CanvasStep


def self_checks(trace: Trace[Diffusion]) -> list[Check]:
    """Return the checks of every filled position, of the text, and of the canvas."""
    own = (canvas_check, _order, _proposals, _dice)
    if trace.config.canvas == "noise":
        own = (canvas_of_noise, order_of_noise, proposals_of_noise, _dice)
    checks = checked_if_whole(trace, _whole, (*own, *COMMON_CHECKS))
    if checks[0].passed:
        filled, tokens = all_filled(trace), as_tokens(trace)
        checks += [check(filled) for check in STEP_CHECKS]
        checks += [check(tokens) for check in TEXT_CHECKS]
    return checks


def _whole(trace: Trace[Diffusion]) -> Check:
    steps = canvas_steps(trace)
    faults = [fault for at, step in enumerate(steps) for fault in _faults(step, at, trace.config)]
    if len({step.limit for step in steps}) > 1:
        faults.append("the canvas changes its length")
    return count("steps_whole", faults, "steps with something missing") if faults else whole(
        all_filled(trace)
    )  # fmt: skip


def _faults(step: CanvasStep, at: int, config: Diffusion) -> Iterator[str]:
    """Yield missing parts of a step, and parts that no such step has."""
    where = f"step {nth(at)}"
    places = [opened.position for opened in step.open]
    if step.index != at or places != sorted(set(places)):
        yield f"{where}: steps or positions are not numbered in order"
    if [c.position for c in step.candidates] != sorted(c.position for c in step.candidates) or {
        c.position for c in step.candidates
    } != {*places}:
        yield f"{where}: an open position has no candidates, or they stand elsewhere"
    if len(step.emitted) != len(step.texts):
        yield f"{where}: a text is missing"
    if config.canvas == "noise":
        yield from noise_faults(step, config)
    elif not step.filled or step.canvas or step.limit > config.max_new_tokens:
        yield f"{where}: nothing was filled, or the canvas is longer than the settings allow"
    if len(step.unguided) != (len(step.candidates) if config.cfg_scale else 0):
        yield f"{where}: probabilities before guidance are missing, or there was no guidance"
    if any(not 0 <= position < step.limit for position in step.remasked):
        yield f"{where}: a position outside the canvas was masked again"
    for filled in step.filled:
        if not 0 <= filled.index < step.limit:
            yield f"{where}: a position lies outside the canvas"
        if _is_foreign(filled):
            yield f"{where}: a filled position has what only a step of one token has"


def _is_foreign(step: TokenStep) -> bool:
    return bool(
        step.text or step.finish_reason or step.forced_as or step.compared
    ) or step.phase != "answer"  # fmt: skip


def canvas_check(trace: Trace[Diffusion]) -> Check:
    """Check that open positions, emitted tokens and the end follow from the filled positions."""
    faults, steps = [], canvas_steps(trace)
    shown: list[int] = []
    for step, tokens in replayed(steps, steps[0].limit if steps else 0):
        where = f"step {nth(step.index)}"
        if [o.position for o in step.open] != open_positions(tokens, trace.config.block_length):
            faults.append(f"{where}: other positions of the canvas are open")
        after = list(tokens)
        change(after, step)
        shown += step.emitted
        clear = clear_text(after, trace.config)
        ended = step.finish_reason is not None
        if shown != clear[: len(shown)] or (not ended and len(shown) < len(clear)):
            faults.append(f"{where}: the text gained other tokens than stand before the first mask")
        if ended != (step is steps[-1] and trace.finish_reason != "cancelled") or (
            ended and not step.emitted
        ):
            faults.append(f"{where}: the run ended elsewhere")
    if tuple(shown) != trace.token_ids:
        faults.append("the steps' tokens are not the trace's tokens")
    return count("canvas_of_steps", faults, "contradictions")


def _order(trace: Trace[Diffusion]) -> Check:
    faults, choice, steps = [], FillChoice(trace.config), canvas_steps(trace)
    for step, tokens in replayed(steps, steps[0].limit if steps else 0):
        where = f"step {nth(step.index)}"
        listed = listed_in(step.candidates)
        for opened in step.open:
            if opened.score != score(opened, listed[opened.position], trace.config):
                faults.append(f"{where}: a score is not that of the order")
        places = [filled.index for filled in step.filled]
        filled, masked = choice.of(step.open, listed, tokens)
        if places != filled:
            faults.append(f"{where}: other positions have the highest scores")
        if list(step.remasked) != masked:
            faults.append(f"{where}: other tokens came with the lowest probabilities")
        if {*places} != {opened.position for opened in step.open if opened.filled}:
            faults.append(f"{where}: a filled position is said to stay masked, or one more is not")
    return count("order_of_scores", faults, f"steps in another order than {trace.config.order}")


def _proposals(trace: Trace[Diffusion]) -> Check:
    """Check the numbers of open positions with each other and with those of filled ones."""
    faults = []
    for step in canvas_steps(trace):
        where, filled = f"step {nth(step.index)}", {one.index: one for one in step.filled}
        candidates = listed_in(step.candidates)
        for opened in step.open:
            listed = tuple(candidates[opened.position])
            same = filled.get(opened.position)
            if same and (
                reading_of(same, trace.config)._replace(filled=True) != opened
                or candidates_of(same) != listed
            ):
                faults.append(f"{where}: a filled position's numbers are not those of its token")
            if not is_ranking(opened, listed):
                faults.append(f"{where}: the numbers of a position's candidates disagree")
    return count("proposals_of_steps", faults, "positions that disagree")


def _dice(trace: Trace[Diffusion]) -> Check:
    faults = [
        f"step {nth(step.index)}: the seed gives position {nth(filled.index)} another number"
        for step in canvas_steps(trace)
        for filled in step.filled
        if filled.draw.uniform not in (None, draw_uniform(trace.config, step.index, filled.index))
    ]
    return count("dice_of_seed", faults, "uniform numbers that differ")
