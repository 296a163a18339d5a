"""Building blocks of every method's checks, and the checks that any run of one sequence passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from core.decoding.checks.token_text import UNKNOWN, bare, says
from core.decoding.config import MethodConfig
from core.decoding.counting import nth
from core.decoding.methods import method_of
from core.decoding.record.steps import PromptPosition, PromptStep
from core.decoding.record.trace import Check, Trace

# Numbers that were derived from the same float32 logits, relative to the largest of them.
VALUE_TOLERANCE = 1e-5
# Sums of float32 probabilities over a vocabulary stay within this of the truth.
MASS_TOLERANCE = 1e-4
# Seconds by which sums of clock readings may be off.
TIME_TOLERANCE = 1e-3
# No number of a trace file is larger; an infinite deviation is written as this.
_LARGEST = 3e38
# Below this a probability has lost digits that its logit still has.
TINY = 1e-30
_Config = TypeVar("_Config", bound=MethodConfig)


def worst(name: str, deviations: Iterable[float], tolerance: float, detail: str) -> Check:
    """A check of the largest deviation; one that is no number fails."""
    value = max((_LARGEST if math.isnan(d) else min(d, _LARGEST) for d in deviations), default=0.0)
    return Check(name, value <= tolerance, value, tolerance, detail)


def count(name: str, faults: Sequence[str], detail: str) -> Check:
    """A check that allows no fault; the first one becomes its detail."""
    return Check(name, not faults, float(len(faults)), 0.0, faults[0] if faults else detail)


def checked_if_whole(
    trace: Trace[_Config],
    whole: Callable[[Trace[_Config]], Check],
    checks: Iterable[Callable[[Trace[_Config]], Check]],
) -> list[Check]:
    """The check of the trace's wholeness, and the others where it passes: they rely on it."""
    first = whole(trace)
    return [first, *(check(trace) for check in checks)] if first.passed else [first]


def _prompt_reading(trace: Trace) -> Check:
    """Check that prompt processing read the prompt's tokens, with numbers that agree."""
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    faults = [fault for p in positions if (fault := _position_fault(p, trace.prompt_ids))]
    if (trace.prompt_step is not None) != method_of(trace.config).reads_prompt and trace.steps:
        faults.append("prompt processing is missing, or the method has none")
    # A tokenizer that doesn't know a word writes a mark in its place.
    if bare(trace.prompt) not in bare(seen := trace.rendered_prompt) and not UNKNOWN.search(seen):
        faults.append("what was asked is not in the prompt that the model saw")
    if trace.prompt_step and [(p.index, p.token_id) for p in positions] != [
        *enumerate(trace.prompt_ids)
    ]:
        faults.append("prompt processing read other tokens than the prompt's")
    if positions and not says([p.text for p in positions], trace.rendered_prompt):
        faults.append("the prompt's text is not its tokens'")
    return count("prompt_reading", faults, "positions that disagree")


def _position_fault(position: PromptPosition, prompt_ids: Sequence[int]) -> str:
    where, at = f"prompt position {nth(position.index)}", position.index + 1
    if position.next_token_id != (prompt_ids[at] if 0 < at < len(prompt_ids) else None):
        return f"{where}: another token follows in the prompt"
    logits = [c.logit for c in position.candidates]
    if spread(logits, [c.raw_prob for c in position.candidates]) > VALUE_TOLERANCE:
        return f"{where}: the probabilities don't follow from the logits"
    if sum(c.raw_prob for c in position.candidates) > 1 + MASS_TOLERANCE:
        return f"{where}: the candidates have more mass than there is"
    order = [(c.rank, -c.logit, c.token_id) for c in position.candidates]
    if order != sorted(order) or [rank for rank, *_ in order] != [*range(1, len(order) + 1)]:
        return f"{where}: the candidates are not ranked by their logits"
    for candidate in position.candidates:
        if candidate.prob != candidate.raw_prob or candidate.removed_by is not None:
            return f"{where}: a candidate was shaped where nothing is drawn"
        if candidate.token_id == position.next_token_id and (
            candidate.rank != position.next_rank or candidate.raw_prob != position.next_prob
        ):
            return f"{where}: the next token's numbers are not its candidate's"
    return ""


def spread(logits: Sequence[float], probs: Sequence[float]) -> float:
    """Spread of ln p - logit over the tokens, relative to the logits; 0 for a softmax."""
    alive = [(x, p) for x, p in zip(logits, probs, strict=True) if p > TINY]
    if not alive:
        return 0.0
    gaps = [math.log(p) - x for x, p in alive]
    return (max(gaps) - min(gaps)) / max(1.0, *(abs(x) for x, _ in alive))


def finish(trace: Trace) -> Check:
    """Check that a run of one sequence ended once, for the recorded reason."""
    reason, config, faults = trace.finish_reason, trace.config, []
    reported = [step.finish_reason for step in trace.steps if not isinstance(step, PromptStep)]
    if (reported[-1] if reported else None) != (None if reason == "cancelled" else reason):
        faults.append(f"the last step doesn't say that the run ended with {reason}")
    if any(reported[:-1]):
        faults.append("a step before the last one ended the run")
    if len(trace.token_ids) > config.max_new_tokens:
        faults.append("more tokens than max_new_tokens")
    stopped = _stops_at(trace)
    if (stopped is None) != (reason != "stop") and reason != "eos":
        faults.append(
            "the run ended by stop without a stop string in its text, or went on after it"
        )
    if stopped is not None and stopped < len(_answer_texts(trace)) - 1:
        faults.append("the run went on after a stop string")
    if reason == "eos" and len(trace.token_ids) <= config.min_new_tokens:
        faults.append("the run ended before min_new_tokens")
    return count("finish_reason", faults, f"ended with {reason}")


def _stops_at(trace: Trace) -> int | None:
    """Return the place of the answer's text that completes a stop string; None for none."""
    written = ""
    for at, text in enumerate(_answer_texts(trace)):
        written += text
        if any(stop in written for stop in trace.config.stop_strings):
            return at
    return None


def _answer_texts(trace: Trace) -> list[str]:
    """Return what each token added to the text in which stop strings count."""
    rounds = [text for step in trace.rounds for text in step.texts]
    return rounds + [step.text for step in trace.token_steps if step.phase == "answer"]


def _times(trace: Trace) -> Check:
    """Check that no part took longer than the whole; how long it took, no check can tell."""
    timings = trace.timings
    parts = sum(step.duration for step in trace.steps)
    faults = []
    if parts > timings.prefill + timings.decode + TIME_TOLERANCE:
        faults.append("the steps took longer than all work together")
    if timings.prefill + timings.decode > timings.total + TIME_TOLERANCE:
        faults.append("the work took longer than the run")
    return count("times", faults, "times that don't fit")


# What holds of a run by any method.
COMMON_CHECKS: tuple[Callable[[Trace], Check], ...] = (_prompt_reading, _times)
