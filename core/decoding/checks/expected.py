"""Expected form of a step's record under its settings, forced tokens included."""

from __future__ import annotations

import math
from dataclasses import replace

from ...language import N_
from ..autoregressive.config import drawn_by
from ..counting import at_step
from ..record.steps import Candidate, Origin, TokenStep
from ..record.trace import Trace
from ..shaping.config import RUN_ORDER
from ..shaping.step import StepShaper


def expected_draw(trace: Trace) -> tuple[str, str]:
    """Return the expected origin and draw method of every token that isn't forced."""
    sampling = drawn_by(trace.config.chooser)
    return ("sampled", sampling.draw) if sampling else ("argmax", "argmax")


def expected_draw_of(trace: Trace, step: TokenStep) -> tuple[str, str]:
    """Return the expected origin and draw method of a step.

    A forced token has a draw if it replaced a drawn token; a given token always did.
    """
    replaced_none = step.instead_of is None and step.forced_as == "given"
    if step.forced_as not in trace.config.forces or replaced_none:
        return expected_draw(trace)
    return "forced", "forced" if step.instead_of is None else expected_draw(trace)[1]


def expected_stages(trace: Trace, step: TokenStep, length: int) -> list[list[str]]:
    """Return the possible lists of stages: with and without `min_new_tokens`, which is no stage for
    a model without end-of-sequence tokens.
    """
    config, drawn = trace.config, expected_draw(trace)[0] == "sampled"
    if step.draw.method == "forced":
        return [["raw", "forced", "final"]]
    shaper = StepShaper(config.shaping, draws=drawn)
    shaper.answer_from = None if step.phase == "thinking" else 0
    acting = shaper.names_at(length, step.index)
    ending = [] if drawn else ["argmax"]
    ending += ["forced"] if step.origin == "forced" else []
    expected = [["raw", *acting, *ending, "final"]]
    if step.index < config.min_new_tokens:
        held = [name for name in RUN_ORDER if name in {*acting, "min_new_tokens"}]
        expected.append(["raw", *held, *ending, "final"])
    return expected


def as_picked(step: TokenStep) -> TokenStep | None:
    """Return a forced step as it was before the forcing; None if its draw isn't recorded."""
    ids = [candidate.token_id for candidate in step.candidates]
    if len(step.stages) < 4 or step.instead_of not in ids:
        return None
    stages = (*step.stages[:-2], step.stages[-3].unchanged)
    candidates = tuple(
        Candidate(*c[:5], prob, None if prob > 0 else stages[-2].name)
        for c, prob in zip(step.candidates, stages[-1].probs, strict=True)
    )
    origin: Origin = "argmax" if step.draw.method == "argmax" else "sampled"
    return replace(
        step, token_id=step.instead_of, candidates=candidates, stages=stages, origin=origin
    )


def leaves_one(step: TokenStep) -> bool:
    """Return whether the step leaves one token only: nothing was drawn here."""
    return step.draw.method in ("argmax", "forced", "server") or step.origin == "forced"


def record_fault(step: TokenStep, trace: Trace) -> str:
    """Describe a wrong number of candidates, or a tail or last stage that differs from the stages.

    The settings give the number of candidates (a server may name fewer); the chosen token comes
    last if it is none of them.
    """
    most = min(trace.config.top_candidates, step.stages[0].kept, trace.known or math.inf)
    listed, last = len(step.candidates), step.candidates[-1]
    behind = listed == most + 1 and last.token_id == step.token_id and last.rank > most
    if not behind and (listed != most or last.rank != listed):
        return at_step(step.index, N_("a candidate is missing, or there is one more"))
    *_, drawn, final = step.stages
    if final != drawn.unchanged or (leaves_one(step) and final.kept != 1):
        return at_step(step.index, N_("the last stage is not what the draw left"))
    if step.tail_mass != step.stages[0].tail_mass:
        return at_step(step.index, N_("the tail's mass is not that of its first stage"))
    return ""
