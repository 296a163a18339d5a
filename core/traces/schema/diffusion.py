"""Validation rules for a stored run of masked diffusion: whole steps that fill open positions."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.diffusion.canvas import canvas_steps
from ...decoding.diffusion.config import Diffusion
from ...decoding.diffusion.types import CanvasStep, OpenCandidate
from ...decoding.record.layout import Rules
from ...decoding.record.trace import Trace
from ...language import N_


def _listed_once(candidates: Sequence[OpenCandidate]) -> None:
    if len({(c.position, c.token_id) for c in candidates}) != len(candidates):
        raise ValueError(N_("a candidate is listed twice at a position"))


def _fills_open_positions(step: CanvasStep) -> None:
    places = [opened.position for opened in step.open]
    if places != sorted(set(places)) or places[-1] >= step.limit:
        raise ValueError(N_("the open positions are not in the order of the text, or too many"))
    if {c.position for c in step.candidates} != {*places}:
        raise ValueError(N_("an open position has no candidates, or another one has"))
    if step.unguided and len(step.unguided) != len(step.candidates):
        raise ValueError(N_("a step has not two probabilities before guidance for each candidate"))
    filled = [one.index for one in step.filled]
    if step.canvas:
        if len(step.canvas) != len(places) or filled not in ([], places) or step.remasked:
            raise ValueError(N_("a canvas of noise has not one token for each position"))
    elif (
        not filled
        or len(set(filled)) != len(filled)
        or ({*filled} != {o.position for o in step.open if o.filled})
    ):
        raise ValueError(N_("a step fills other positions than it says"))
    if len(step.emitted) != len(step.texts):
        raise ValueError(N_("a step has not one text for each token that the text gained"))
    for one in step.filled:
        if one.text or one.finish_reason or one.forced_as or one.phase != "answer" or one.compared:
            raise ValueError(N_("a filled position has what only a step of one token has"))


def _one_canvas(trace: Trace) -> None:
    """Require that the steps fill one canvas, each position once, and make up the tokens."""
    if not isinstance(trace.config, Diffusion):
        return
    steps = canvas_steps(trace)
    if any(bool(step.canvas) != (trace.config.canvas == "noise") for step in steps):
        raise ValueError(
            N_("the tokens of a canvas of noise are missing, or its canvas is of masks")
        )
    if len({step.limit for step in steps}) > 1:
        raise ValueError(N_("the canvas changes its length"))
    filled: set[int] = set()
    for step in steps:
        if filled & {one.index for one in step.filled} or {*step.remasked} - filled:
            raise ValueError(N_("a position is filled twice, or masked again before it was filled"))
        filled = (filled | {one.index for one in step.filled}) - {*step.remasked}
    if [step.index for step in steps] != list(range(len(steps))):
        raise ValueError(N_("the steps are not numbered from 0"))
    if tuple(token for step in steps for token in step.emitted) != trace.token_ids:
        raise ValueError(N_("the steps' tokens are not the trace's"))
    if {*range(len(trace.token_ids))} - filled:
        raise ValueError(N_("a token of the text was never filled"))


STEP_RULES: Rules = {
    tuple[OpenCandidate, ...]: (_listed_once,),
    CanvasStep: (_fills_open_positions,),
}
TRACE_RULES = (_one_canvas,)
