"""Checks of a run that a server made: its numbers, but not its draws."""

from __future__ import annotations

from ...language import N_
from ..checks.common import checked_if_whole, count
from ..checks.known_tokens import asked_again
from ..checks.model_checks import ending_faults, fit_faults, texts
from ..checks.trace_checks import NUMBER_CHECKS, whole
from ..counting import at_step
from ..protocol import LanguageModel
from ..record.steps import TokenStep
from ..record.trace import Check, Trace
from .config import ByEngine
from .told import told_of

_STAGES = ["raw", "server", "final"]


def self_checks(trace: Trace[ByEngine]) -> list[Check]:
    """Return the checks of the numbers; the server's draws can't be checked."""
    own = (_told,) if told_of(trace.method_record) else ()
    return checked_if_whole(trace, whole, (*NUMBER_CHECKS, _drawn_by_the_server, *own))


def _drawn_by_the_server(trace: Trace[ByEngine]) -> Check:
    faults = [fault for step in trace.token_steps if (fault := _fault(step))]
    detail = N_("steps with another; how it shaped and drew can't be checked")
    return count("tokens_of_server", faults, detail)


def _told(trace: Trace[ByEngine]) -> Check:
    """Check that the server's numbers of its own speculation add up."""
    told, faults = told_of(trace.method_record), list[str]()
    assert told is not None
    if told.accepted > told.drafted:
        faults.append(N_("more tokens were accepted than drafted"))
    if told.each:
        drafted, accepted = map(sum, zip(*told.each, strict=True))
        if (drafted, accepted) != told[:2] or told.rounds not in (None, len(told.each)):
            faults.append(N_("the rounds don't add up to the numbers of the run"))
    return count("speculation_told", faults, N_("numbers that don't add up"))


def _fault(step: TokenStep) -> str:
    if (step.origin, step.draw.method) != ("server", "server") or step.chosen.prob != 1:
        return at_step(step.index, N_("the token isn't the server's"))
    if [stage.name for stage in step.stages] != _STAGES:
        return at_step(step.index, N_("its stages aren't those of a server's draw"))
    return ""


def model_checks(trace: Trace[ByEngine], model: LanguageModel) -> list[Check]:
    """Query the server again for every position, step by step, and compare."""
    ids = {c.token_id for step in trace.token_steps for c in step.candidates}
    faults = fit_faults(trace, model, ids) + ending_faults(trace, model)
    fits = count("fits_model", faults, "contradictions")
    if faults:
        return [fits]
    return [fits, texts(trace, model), *asked_again(trace, model)]
