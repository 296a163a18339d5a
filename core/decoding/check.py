"""The proof of a trace: against itself, and where the model is at hand, against the model.

A check reports the worst deviation that it measured and the bound that it was held to. None raises,
whatever a trace from a stranger says.
"""

from __future__ import annotations

from core.decoding.beam.checks import BEAM_SELF_CHECKS, whole_beams
from core.decoding.beam.config import BeamSearch
from core.decoding.beam.model_checks import beam_model_checks
from core.decoding.checks.model_checks import model_checks
from core.decoding.checks.trace_checks import SELF_CHECKS, prompt_reading, whole
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.checks import reasoning_checks
from core.decoding.speculative.checks import SPECULATIVE_SELF_CHECKS
from core.decoding.speculative.config import Speculative
from core.decoding.speculative.model_checks import speculative_model_checks
from core.decoding.speculative.rounds import whole_rounds
from core.decoding.trace import Check, Trace


def check(
    trace: Trace, model: LanguageModel | None = None, draft: LanguageModel | None = None
) -> list[Check]:
    """Named checks of a trace; with the model, also an independent rescoring and a reference run.

    Args:
        model: the one that made the trace.
        draft: the second model of a speculative run, whose numbers are rescored where it is given.
    """
    if isinstance(trace.config, Speculative):
        return _check_rounds(trace, model, draft)
    if isinstance(trace.config, BeamSearch):
        return _check_beams(trace, model)
    first = whole(trace)
    if not first.passed:
        return [first]
    checks = [first, *(run(trace) for run in SELF_CHECKS), *reasoning_checks(trace)]
    return checks if model is None else checks + model_checks(trace, model)


def _check_beams(trace: Trace, model: LanguageModel | None) -> list[Check]:
    first = whole_beams(trace)
    if not first.passed:
        return [first]
    checks = [first, *(run(trace) for run in (*BEAM_SELF_CHECKS, prompt_reading))]
    return checks if model is None else checks + beam_model_checks(trace, model)


def _check_rounds(
    trace: Trace, model: LanguageModel | None, draft: LanguageModel | None
) -> list[Check]:
    first = whole_rounds(trace)
    if not first.passed:
        return [first]
    checks = [first, *(run(trace) for run in (*SPECULATIVE_SELF_CHECKS, prompt_reading))]
    return checks if model is None else checks + speculative_model_checks(trace, model, draft)
