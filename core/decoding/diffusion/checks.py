"""Invariants of masked diffusion, checked from its file alone: the canvas, the order, the draws."""

from __future__ import annotations

from collections.abc import Iterator

from ...language import N_, Message
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
        faults.append(N_("the canvas changes its length"))
    return (
        count("steps_whole", faults, N_("steps with something missing"))
        if faults
        else whole(all_filled(trace))
    )


def _faults(step: CanvasStep, at: int, config: Diffusion) -> Iterator[str]:
    """Yield missing parts of a step, and parts that no such step has."""
    where = Message("step {step}", step=nth(at))
    places = [opened.position for opened in step.open]
    if step.index != at or places != sorted(set(places)):
        yield Message("{where}: steps or positions are not numbered in order", where=where)
    if [c.position for c in step.candidates] != sorted(c.position for c in step.candidates) or {
        c.position for c in step.candidates
    } != {*places}:
        yield Message(
            "{where}: an open position has no candidates, or they stand elsewhere", where=where
        )
    if len(step.emitted) != len(step.texts):
        yield Message("{where}: a text is missing", where=where)
    if config.canvas == "noise":
        yield from noise_faults(step, config)
    elif not step.filled or step.canvas or step.limit > config.max_new_tokens:
        yield Message(
            "{where}: nothing was filled, or the canvas is longer than the settings allow",
            where=where,
        )
    if len(step.unguided) != (len(step.candidates) if config.cfg_scale else 0):
        yield Message(
            "{where}: probabilities before guidance are missing, or there was no guidance",
            where=where,
        )
    if any(not 0 <= position < step.limit for position in step.remasked):
        yield Message("{where}: a position outside the canvas was masked again", where=where)
    for filled in step.filled:
        if not 0 <= filled.index < step.limit:
            yield Message("{where}: a position lies outside the canvas", where=where)
        if _is_foreign(filled):
            yield Message(
                "{where}: a filled position has what only a step of one token has", where=where
            )


def _is_foreign(step: TokenStep) -> bool:
    return bool(
        step.text or step.finish_reason or step.forced_as or step.compared
    ) or step.phase != "answer"  # fmt: skip


def canvas_check(trace: Trace[Diffusion]) -> Check:
    """Check that open positions, emitted tokens and the end follow from the filled positions."""
    faults, steps = list[str](), canvas_steps(trace)
    shown: list[int] = []
    for step, tokens in replayed(steps, steps[0].limit if steps else 0):
        where = Message("step {step}", step=nth(step.index))
        if [o.position for o in step.open] != open_positions(tokens, trace.config.block_length):
            faults.append(Message("{where}: other positions of the canvas are open", where=where))
        after = list(tokens)
        change(after, step)
        shown += step.emitted
        clear = clear_text(after, trace.config)
        ended = step.finish_reason is not None
        if shown != clear[: len(shown)] or (not ended and len(shown) < len(clear)):
            faults.append(
                Message(
                    "{where}: the text gained other tokens than stand before the first mask",
                    where=where,
                )
            )
        if ended != (step is steps[-1] and trace.finish_reason != "cancelled") or (
            ended and not step.emitted
        ):
            faults.append(Message("{where}: the run ended elsewhere", where=where))
    if tuple(shown) != trace.token_ids:
        faults.append(N_("the steps' tokens are not the trace's tokens"))
    return count("canvas_of_steps", faults, "contradictions")


def _order(trace: Trace[Diffusion]) -> Check:
    faults, choice, steps = [], FillChoice(trace.config), canvas_steps(trace)
    for step, tokens in replayed(steps, steps[0].limit if steps else 0):
        where = Message("step {step}", step=nth(step.index))
        listed = listed_in(step.candidates)
        for opened in step.open:
            if opened.score != score(opened, listed[opened.position], trace.config):
                faults.append(Message("{where}: a score is not that of the order", where=where))
        places = [filled.index for filled in step.filled]
        filled, masked = choice.of(step.open, listed, tokens)
        if places != filled:
            faults.append(Message("{where}: other positions have the highest scores", where=where))
        if list(step.remasked) != masked:
            faults.append(
                Message("{where}: other tokens came with the lowest probabilities", where=where)
            )
        if {*places} != {opened.position for opened in step.open if opened.filled}:
            faults.append(
                Message(
                    "{where}: a filled position is said to stay masked, or one more is not",
                    where=where,
                )
            )
    return count(
        "order_of_scores",
        faults,
        Message(
            "steps in another order than {order}",
            order=Message(trace.config.order.replace("_", " ")),
        ),
    )


def _proposals(trace: Trace[Diffusion]) -> Check:
    """Check the numbers of open positions with each other and with those of filled ones."""
    faults = []
    for step in canvas_steps(trace):
        where = Message("step {step}", step=nth(step.index))
        filled = {one.index: one for one in step.filled}
        candidates = listed_in(step.candidates)
        for opened in step.open:
            listed = tuple(candidates[opened.position])
            same = filled.get(opened.position)
            if same and (
                reading_of(same, trace.config)._replace(filled=True) != opened
                or candidates_of(same) != listed
            ):
                faults.append(
                    Message(
                        "{where}: a filled position's numbers are not those of its token",
                        where=where,
                    )
                )
            if not is_ranking(opened, listed):
                faults.append(
                    Message("{where}: the numbers of a position's candidates disagree", where=where)
                )
    return count("proposals_of_steps", faults, N_("positions that disagree"))


def _dice(trace: Trace[Diffusion]) -> Check:
    faults = [
        Message(
            "step {step}: the seed gives position {position} another number",
            step=nth(step.index),
            position=nth(filled.index),
        )
        for step in canvas_steps(trace)
        for filled in step.filled
        if filled.draw.uniform not in (None, draw_uniform(trace.config, step.index, filled.index))
    ]
    return count("dice_of_seed", faults, N_("uniform numbers that differ"))
