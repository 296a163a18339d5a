"""Check of masked diffusion against its model: every canvas again, and every open position."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ...language import N_, Message
from ..checks.common import MASS_TOLERANCE, TINY, count
from ..checks.forwards import log_error, stretched
from ..checks.model_checks import ending_faults, fit_faults, texts
from ..counting import nth
from ..errors import DecodingError
from ..loop.run import token_limit
from ..protocol import LanguageModel, offers
from ..record.trace import Check, Trace
from ..shaping.draws import interval_of
from .canvas import (
    all_filled,
    as_tokens,
    canvas_steps,
    listed_in,
    replayed,
)
from .checks import canvas_check
from .config import Diffusion
from .engine import (
    FillsMasks,
    PositionPicker,
    forward_canvas,
    require_masks,
)
from .noise import Denoises
from .noise_model_checks import denoised_again, length_faults
from .order import draw_uniform
from .replay import CanvasReplay, position_error
from .types import OpenPosition


def model_checks(trace: Trace[Diffusion], model: LanguageModel) -> list[Check]:
    """Return the checks that need the model; if it can't have made the trace, only that failed
    check.
    """
    fits = _fits(trace, model)
    if not fits.passed:
        return [fits]
    again = denoised_again if trace.config.canvas == "noise" else _rescored
    return [fits, texts(as_tokens(trace), model), *again(trace, model)]


def _fits(trace: Trace[Diffusion], model: LanguageModel) -> Check:
    from_noise = trace.config.canvas == "noise"
    if from_noise and not offers(model, Denoises):
        return count("fits_model", [N_("the model denoises no canvas of random tokens")], "")
    if not from_noise and not offers(model, FillsMasks):
        return count("fits_model", [N_("the model predicts the next token and fills no masks")], "")
    steps = canvas_steps(trace)
    filled = all_filled(trace)
    ids = {c.token_id for step in filled.token_steps for c in step.candidates}
    ids |= {opened.token_id for step in steps for opened in step.open}
    ids |= {candidate.token_id for step in steps for candidate in step.candidates}
    ids |= {token.token_id for step in steps for token in step.canvas}
    faults = fit_faults(filled, model, ids) + ending_faults(trace, model)
    if from_noise:
        return count("fits_model", faults or length_faults(trace, model), "contradictions")
    if not canvas_check(trace).passed:
        faults.append(N_("steps and canvas don't belong together"))
    if not faults and {step.limit for step in steps} - {
        token_limit(model, trace.prompt_ids, trace.config)
    }:
        faults.append(
            N_("the canvas is shorter or longer than the settings and the window make it")
        )
    return count("fits_model", faults, "contradictions")


def _rescored(trace: Trace[Diffusion], model: LanguageModel) -> list[Check]:
    """Run every canvas again and compare all numbers of its open and filled positions."""
    masks, config, steps = require_masks(model), trace.config, canvas_steps(trace)
    picker = PositionPicker(model, trace.prompt_ids, config, masks.mask_id)
    replay = CanvasReplay(trace, model)
    for step, tokens in replayed(steps, steps[0].limit if steps else 0):
        canvas = forward_canvas(masks, trace.prompt_ids, tokens, config)
        rows, listed = canvas.logits, listed_in(step.candidates)
        tolerance = replay.widen(rows)
        replay.deviations += [
            position_error(
                opened, listed[opened.position], rows[opened.position], config.top_candidates
            )
            for opened in step.open
        ]
        replay.deviations += [
            log_error(math.log(max(again, TINY)), recorded)
            for both in zip(canvas.unguided(step.candidates), step.unguided, strict=True)
            for again, recorded in zip(*both, strict=True)
        ]
        for filled in step.filled:
            before = picker.ids_before(filled.index, tokens)
            replay.filled(step.index, filled, rows[filled.index], before, tolerance)
        for opened in (one for one in step.open if not one.filled):
            row = rows[opened.position]
            if not _may_propose(picker, step.index, opened, row, tokens, tolerance):
                where = Message("step {step}", step=nth(step.index))
                replay.faults.append(
                    Message("{where}: another token is proposed for a position", where=where)
                )
        replay.texts(step)
    return replay.checks()


def _may_propose(
    picker: PositionPicker,
    step: int,
    opened: OpenPosition,
    logits: Tensor,
    tokens: Sequence[int | None],
    tolerance: float,
) -> bool:
    """Return whether a position's token is the pick, up to the rounding of two forwards."""
    try:
        picked = picker.pick(step, opened.position, logits, tokens)
    except DecodingError:
        return False
    if picked.pick.token_id == opened.token_id:
        return True
    config = picker.config
    drawn = config.shaping.temperature > 0
    last, slack = picked.stages[-1 if drawn else -2], stretched(tolerance, config.shaping)
    probs = last.probs
    if last.ids is not None:
        probs = torch.zeros(len(logits)).scatter(0, last.ids, probs)
    if not drawn:
        return float(probs[opened.token_id]) >= float(probs.max()) * math.exp(-2 * slack)
    low, high = interval_of(probs, opened.token_id)
    uniform = draw_uniform(config, step, opened.position)
    slack = MASS_TOLERANCE + 4 * slack
    return float(probs[opened.token_id]) > 0 and low - slack <= uniform <= high + slack
