"""Building blocks of every method's checks, and the checks of any run with one sequence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ...language import N_, Message
from ..config import MethodConfig
from ..constraints.reading import tokens_of
from ..counting import nth
from ..methods import method_of
from ..record.steps import PromptPosition, PromptStep
from ..record.trace import Check, Trace
from .constraint_text import keeps_to_constraint
from .token_text import UNKNOWN, bare, says

# Tolerance of numbers derived from the same float32 logits, relative to the largest logit.
VALUE_TOLERANCE = 1e-5
# Error bound of sums of float32 probabilities over a vocabulary.
MASS_TOLERANCE = 1e-4
# Error bound of sums of clock readings, in seconds.
TIME_TOLERANCE = 1e-3
# The largest number in a trace file; it stands for an infinite deviation.
_LARGEST = 3e38
# Smaller probabilities have fewer digits than their logits.
TINY = 1e-30
_Config = TypeVar("_Config", bound=MethodConfig)


def worst(name: str, deviations: Iterable[float], tolerance: float, detail: str) -> Check:
    """Return a check of the largest deviation; NaN fails."""
    value = max((_LARGEST if math.isnan(d) else min(d, _LARGEST) for d in deviations), default=0.0)
    return Check(name, value <= tolerance, value, tolerance, detail)


def count(name: str, faults: Sequence[str], detail: str) -> Check:
    """Return a check that allows no fault; the first fault becomes its detail."""
    return Check(name, not faults, float(len(faults)), 0.0, faults[0] if faults else detail)


def checked_if_whole(
    trace: Trace[_Config],
    whole: Callable[[Trace[_Config]], Check],
    checks: Iterable[Callable[[Trace[_Config]], Check]],
) -> list[Check]:
    """Return the check of the trace's wholeness and, if it passes, the checks that rely on it."""
    first = whole(trace)
    return [first, *(check(trace) for check in checks)] if first.passed else [first]


def _prompt_reading(trace: Trace) -> Check:
    """Check that the prompt step holds the prompt's tokens, with consistent numbers."""
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    faults = [fault for p in positions if (fault := _position_fault(p, trace.prompt_ids))]
    if (trace.prompt_step is not None) != method_of(trace.config).reads_prompt and trace.steps:
        faults.append(N_("prompt processing is missing, or the method has none"))
    # A tokenizer replaces an unknown word by a mark.
    if bare(trace.prompt) not in bare(seen := trace.rendered_prompt) and not UNKNOWN.search(seen):
        faults.append(N_("what was asked is not in the prompt that the model saw"))
    if trace.prompt_step and [(p.index, p.token_id) for p in positions] != [
        *enumerate(trace.prompt_ids)
    ]:
        faults.append(N_("prompt processing read other tokens than the prompt's"))
    if positions and not says([p.text for p in positions], trace.rendered_prompt):
        faults.append(N_("the prompt's text is not its tokens'"))
    return count("prompt_reading", faults, N_("positions that disagree"))


def _position_fault(position: PromptPosition, prompt_ids: Sequence[int]) -> str:
    where, at = Message("prompt position {index}", index=nth(position.index)), position.index + 1
    if position.next_token_id != (prompt_ids[at] if 0 < at < len(prompt_ids) else None):
        return Message("{where}: another token follows in the prompt", where=where)
    logits = [c.logit for c in position.candidates]
    if spread(logits, [c.raw_prob for c in position.candidates]) > VALUE_TOLERANCE:
        return Message("{where}: the probabilities don't follow from the logits", where=where)
    if sum(c.raw_prob for c in position.candidates) > 1 + MASS_TOLERANCE:
        return Message("{where}: the candidates have more mass than there is", where=where)
    order = [(c.rank, -c.logit, c.token_id) for c in position.candidates]
    if order != sorted(order) or [rank for rank, *_ in order] != [*range(1, len(order) + 1)]:
        return Message("{where}: the candidates are not ranked by their logits", where=where)
    for candidate in position.candidates:
        if candidate.prob != candidate.raw_prob or candidate.removed_by is not None:
            return Message("{where}: a candidate was shaped where nothing is drawn", where=where)
        if candidate.token_id == position.next_token_id and (
            candidate.rank != position.next_rank or candidate.raw_prob != position.next_prob
        ):
            return Message("{where}: the next token's numbers are not its candidate's", where=where)
    return ""


def spread(logits: Sequence[float], probs: Sequence[float]) -> float:
    """Return the spread of ln p - logit over the tokens, relative to the logits; 0 for a
    softmax.
    """
    alive = [(x, p) for x, p in zip(logits, probs, strict=True) if p > TINY]
    if not alive:
        return 0.0
    gaps = [math.log(p) - x for x, p in alive]
    return (max(gaps) - min(gaps)) / max(1.0, *(abs(x) for x, _ in alive))


def finish(trace: Trace) -> Check:
    """Check that a run of one sequence ended once, for the recorded reason."""
    reason, config, faults = trace.finish_reason, trace.config, list[str]()
    reported = [step.finish_reason for step in trace.steps if not isinstance(step, PromptStep)]
    if (reported[-1] if reported else None) != (None if reason == "cancelled" else reason):
        faults.append(
            Message("the last step doesn't say that the run ended with {reason}", reason=reason)
        )
    if any(reported[:-1]):
        faults.append(N_("a step before the last one ended the run"))
    if len(trace.token_ids) > config.max_new_tokens:
        faults.append(N_("more tokens than max_new_tokens"))
    stopped = _stops_at(trace)
    if (stopped is None) != (reason != "stop") and reason != "eos":
        faults.append(
            N_("the run ended by stop without a stop string in its text, or went on after it")
        )
    if stopped is not None and stopped < len(_answer_texts(trace)) - 1:
        faults.append(N_("the run went on after a stop string"))
    short = len(trace.token_ids) <= config.min_new_tokens
    if reason == "eos" and short and config.shaping.constraint is None:
        faults.append(N_("the run ended before min_new_tokens"))
    text = "".join(_answer_texts(trace))
    if not keeps_to_constraint(trace, text, tokens_of(trace), whole=reason == "eos"):
        faults.append(N_("the text doesn't keep to the constraint"))
    return count("finish_reason", faults, Message("ended with {reason}", reason=reason))


def _stops_at(trace: Trace) -> int | None:
    """Return the index of the token that completes a stop string in the answer; None if none
    does.
    """
    written = ""
    for at, text in enumerate(_answer_texts(trace)):
        written += text
        if any(stop in written for stop in trace.config.stop_strings):
            return at
    return None


def _answer_texts(trace: Trace) -> list[str]:
    """Return the text that each token added to the text in which stop strings count."""
    rounds = [text for step in trace.rounds for text in step.texts]
    return rounds + [step.text for step in trace.token_steps if step.phase == "answer"]


def _times(trace: Trace) -> Check:
    """Check that no part took longer than the whole; the duration itself can't be checked."""
    timings = trace.timings
    parts = sum(step.duration for step in trace.steps)
    faults = []
    if parts > timings.prefill + timings.decode + TIME_TOLERANCE:
        faults.append(N_("the steps took longer than all work together"))
    if timings.prefill + timings.decode > timings.total + TIME_TOLERANCE:
        faults.append(N_("the work took longer than the run"))
    return count("times", faults, N_("times that don't fit"))


# Checks for a run of any method.
COMMON_CHECKS: tuple[Callable[[Trace], Check], ...] = (_prompt_reading, _times)
