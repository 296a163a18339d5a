"""Check of masked diffusion against its model: every canvas again, and every open position."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from core.decoding.checks.common import MASS_TOLERANCE, TINY, count, worst
from core.decoding.checks.forwards import (
    candidate_error,
    entropy_of,
    largest_logit,
    log_error,
    logit_tolerance,
    nan_first,
    stretched,
)
from core.decoding.checks.model_checks import ending_faults, fit_faults, texts
from core.decoding.checks.token_replay import SAME_STAGES, TokenReplay, record_picked
from core.decoding.counting import nth
from core.decoding.diffusion.canvas import (
    all_filled,
    as_tokens,
    canvas_steps,
    listed_in,
    replayed,
)
from core.decoding.diffusion.checks import canvas_check
from core.decoding.diffusion.config import Diffusion
from core.decoding.diffusion.engine import (
    FillsMasks,
    PositionPicker,
    forward_canvas,
    require_masks,
)
from core.decoding.diffusion.order import draw_uniform
from core.decoding.diffusion.types import OPEN_CANDIDATES, CanvasStep, OpenCandidate, OpenPosition
from core.decoding.errors import DecodingError
from core.decoding.loop.run import token_limit
from core.decoding.protocol import LanguageModel, offers
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Check, Trace
from core.decoding.shaping.draws import interval_of


def model_checks(trace: Trace[Diffusion], model: LanguageModel) -> list[Check]:
    """Return the checks that need the model; if it can't have made the trace, only that failed
    check.
    """
    fits = _fits(trace, model)
    if not fits.passed:
        return [fits]
    return [fits, texts(as_tokens(trace), model), *_rescored(trace, model)]


def _fits(trace: Trace[Diffusion], model: LanguageModel) -> Check:
    if not offers(model, FillsMasks):
        return count("fits_model", ["the model predicts the next token and fills no masks"], "")
    steps = canvas_steps(trace)
    filled = all_filled(trace)
    ids = {c.token_id for step in filled.token_steps for c in step.candidates}
    ids |= {opened.token_id for step in steps for opened in step.open}
    ids |= {candidate.token_id for step in steps for candidate in step.candidates}
    faults = fit_faults(filled, model, ids) + ending_faults(trace, model)
    if not canvas_check(trace).passed:
        faults.append("steps and canvas don't belong together")
    if not faults and {step.limit for step in steps} - {
        token_limit(model, trace.prompt_ids, trace.config)
    }:
        faults.append("the canvas is shorter or longer than the settings and the window make it")
    return count("fits_model", faults, "contradictions")


class _Replay(TokenReplay):
    """Replay of filled positions, with the number that the seed gives each at its step."""

    step = 0

    def _noise_of(self, step: TokenStep) -> Tensor | None:
        config = self._trace.require(Diffusion).config
        uniform = draw_uniform(config, self.step, step.index)
        return torch.tensor(uniform, dtype=torch.float64)


def _rescored(trace: Trace[Diffusion], model: LanguageModel) -> list[Check]:
    """Run every canvas again and compare all numbers of its open and filled positions."""
    masks, config, steps = require_masks(model), trace.config, canvas_steps(trace)
    picker = PositionPicker(model, trace.prompt_ids, config, masks.mask_id)
    replay = _Replay(trace, model, record_picked)
    deviations, faults, largest = [0.0], list[str](), 1.0
    for step, tokens in replayed(steps, steps[0].limit if steps else 0):
        canvas = forward_canvas(masks, trace.prompt_ids, tokens, config)
        rows = canvas.logits
        largest = max(largest, largest_logit(rows))
        tolerance = _tolerance(trace, model, largest)
        listed = listed_in(step.candidates)
        deviations += [
            log_error(math.log(max(again, TINY)), recorded)
            for both in zip(canvas.unguided(step.candidates), step.unguided, strict=True)
            for again, recorded in zip(*both, strict=True)
        ]
        deviations += [
            _error(opened, listed[opened.position], rows[opened.position]) for opened in step.open
        ]
        replay.step = step.index
        for filled in step.filled:
            row, before = rows[filled.index], picker.ids_before(filled.index, tokens)
            deviations.append(candidate_error(row, filled.candidates))
            faults.append(replay.fault(filled, row, before, tolerance))
        for opened in (one for one in step.open if not one.filled):
            row = rows[opened.position]
            if not _may_propose(picker, step.index, opened, row, tokens, tolerance):
                faults.append(f"step {nth(step.index)}: another token is proposed for a position")
            if opened.text != model.token_text(opened.token_id):
                faults.append(f"step {nth(step.index)}: a text is not its token's")
        faults += _text_faults(step, model)
    detail = f"largest difference of log-probabilities and entropies over {len(steps)} canvases"
    tolerance = _tolerance(trace, model, largest)
    return [
        worst("canvas_again", deviations, 2 * tolerance, detail),
        count(SAME_STAGES, [*filter(None, faults)], "faults"),
    ]


def _tolerance(trace: Trace[Diffusion], model: LanguageModel, largest: float) -> float:
    """Return the tolerance of a logit; guidance adds the errors of its two forwards."""
    return logit_tolerance(trace, model, largest) * (1 + 2 * trace.config.cfg_scale)


def _text_faults(step: CanvasStep, model: LanguageModel) -> Iterator[str]:
    if any(c.text != model.token_text(c.token_id) for c in step.candidates):
        yield f"step {nth(step.index)}: a text is not its token's"


def _error(opened: OpenPosition, listed: Sequence[OpenCandidate], logits: Tensor) -> float:
    """Return the largest deviation of an open position's numbers from `[vocab]` logits, in nats."""
    log_probs = torch.log_softmax(logits.double(), dim=-1)
    errors = [
        abs(entropy_of(log_probs) - opened.entropy),
        log_error(float(log_probs[opened.token_id]), opened.prob),
        *(log_error(float(log_probs[c.token_id]), c.prob) for c in listed),
        *_ranking_errors(log_probs, listed),
    ]
    return max(errors, key=nan_first)


def _ranking_errors(log_probs: Tensor, listed: Sequence[OpenCandidate]) -> Iterator[float]:
    """Yield the distance of each listed probability from the one of its rank in the vocabulary."""
    alive = int((log_probs > -math.inf).sum())
    highest = torch.topk(log_probs, min(OPEN_CANDIDATES, alive))[0].tolist()
    if len(listed) > len(highest):
        yield math.inf
    for value, candidate in zip(highest, listed, strict=False):
        yield log_error(value, candidate.prob)


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
