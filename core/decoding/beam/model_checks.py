"""Checks of a beam search's trace against the model that made it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from ...language import N_, Message
from ..checks.common import count, worst
from ..checks.forwards import logit_tolerance, nan_first, prompt_numbers
from ..checks.model_checks import fit_faults
from ..checks.run_text import run_text_faults
from ..config import MethodConfig
from ..counting import at_step, nth
from ..loop.text import join_text
from ..protocol import LanguageModel, offers
from ..record.trace import Check, Trace
from .candidates import looked_at
from .config import BeamSearch
from .replay import lineage
from .rescoring import Rescoring
from .types import BeamCandidate, BeamStep, ReferencePath

DRAWN = "beam_draws_again"
SAME_HYPOTHESES = "generate_hypotheses"


class HasBeamReference(Protocol):
    """A model that can run another implementation's beam search."""

    def reference_paths(
        self, prompt_ids: Sequence[int], config: MethodConfig
    ) -> list[ReferencePath] | None:
        """Return the finished paths, best first; None if the config can't be compared."""
        ...


def model_checks(trace: Trace[BeamSearch], model: LanguageModel) -> list[Check]:
    """Return the checks that need the model; if it can't have made the trace, only that failed
    check.
    """
    fits = _fits(trace, model)
    if not fits.passed:
        return [fits]
    rescoring = Rescoring(trace, model)
    tolerance = logit_tolerance(trace, model, rescoring.largest)
    checks = [
        fits,
        _texts(trace, model),
        prompt_numbers(trace, model),
        _rescored(rescoring, tolerance),
    ]
    if trace.config.draws:
        detail = N_("steps with another, by the lowest that the other tokens may have been")
        checks.append(count(DRAWN, rescoring.draws, detail))
    reference = _reference(trace, model, tolerance)
    return [*checks, *([reference] if reference else [])]


def _fits(trace: Trace[BeamSearch], model: LanguageModel) -> Check:
    """Check that ids, lengths, ends and the number of candidates are possible with this model."""
    config, steps = trace.config, trace.beam_steps
    faults = fit_faults(trace, model, {c.token_id for step in steps for c in step.candidates})
    window = model.context_window
    room = config.max_new_tokens if window is None else window - len(trace.prompt_ids)
    if any(step.limit != min(config.max_new_tokens, room) for step in steps):
        faults.append(N_("the limit is not what max_new_tokens and the context window leave"))
    if any(
        (c.ended == "eos") != (c.token_id in model.eos_ids) for s in steps for c in s.candidates
    ):
        faults.append(N_("a path ended without the end-of-sequence token, or went on after it"))
    most = looked_at(config, model)
    faults += [fault for step in steps if (fault := _too_many(step, most, model.vocab_size))]
    return count("fits_model", faults, "contradictions")


def _too_many(step: BeamStep, most: int, vocab_size: int) -> str:
    """Describe a step with more than K candidates, or more than its rows can give; the rescoring
    finds missing ones.
    """
    for group in sorted(set(step.groups)):
        listed = sum(step.group_of(c) == group for c in step.candidates)
        allowed = min(most, step.groups.count(group) * vocab_size)
        if listed > allowed:
            return Message(
                "step {index}: more than the {allowed} candidates of a group",
                index=nth(step.index),
                allowed=allowed,
            )
    return ""


def _texts(trace: Trace[BeamSearch], model: LanguageModel) -> Check:
    faults, steps = list[str](), trace.beam_steps
    for index, step in enumerate(steps):
        if any(c.text != model.token_text(c.token_id) for c in step.candidates):
            faults.append(at_step(step.index, N_("a candidate's text is not its token's")))
        for candidate, text in zip(step.finished, step.finished_texts, strict=True):
            path = [c.token_id for c in lineage(steps, index, candidate)]
            if join_text(model, path) != text:
                faults.append(at_step(step.index, N_("a path's text is not its tokens'")))
        for candidate in step.candidates if trace.config.stop_strings else ():
            text = join_text(model, [c.token_id for c in lineage(steps, index, candidate)])
            stops = any(stop in text for stop in trace.config.stop_strings)
            if candidate.ended != "eos" and stops != (candidate.ended == "stop"):
                faults.append(
                    at_step(step.index, N_("a path went past a stop string, or had none"))
                )
    faults += run_text_faults(trace, model)
    return count("tokenizer_text", faults, "differences")


def _rescored(rescoring: Rescoring, tolerance: float) -> Check:
    """Compare every number of every row with independent forwards."""
    name = "tree_rescored"
    if rescoring.masks:
        return count(name, rescoring.masks, "")
    _, index = max(rescoring.deviations, key=lambda d: nan_first(d[0]))
    detail = Message(
        "largest difference over {rows} rows, {paths} paths of them without a "
        "cache: at step {index}; a better or missing candidate counts, and one "
        "that the settings remove",
        rows=rescoring.rows,
        paths=rescoring.paths,
        index=nth(index),
    )
    # A log-probability is a logit minus the row's log-sum-exp; each has an error.
    return worst(name, [value for value, _ in rescoring.deviations], 2 * tolerance, detail)


def _reference(trace: Trace[BeamSearch], model: LanguageModel, tolerance: float) -> Check | None:
    if not offers(model, HasBeamReference) or trace.finish_reason == "cancelled":
        return None
    expected = model.reference_paths(trace.prompt_ids, trace.config)
    if expected is None:
        return None
    paths = [(hypothesis.token_ids, hypothesis.parents) for hypothesis in trace.hypotheses]
    if paths == [(path.token_ids, path.parents) for path in expected]:
        return _same_scores(trace, expected, tolerance)
    gap, where = _parting(trace, expected)
    # Both sides are sums of n log-probabilities, each with at most the tolerance as error.
    bound = 2 * tolerance * (where + 1)
    detail = Message(
        "the searches part at step {where}; there the candidates are {gap:.2g} nats apart",
        where=nth(where),
        gap=gap,
    )
    return worst(SAME_HYPOTHESES, [gap], bound, detail)


def _same_scores(
    trace: Trace[BeamSearch], expected: Sequence[ReferencePath], tolerance: float
) -> Check:
    penalty = getattr(trace.config, "length_penalty", 1.0)
    gaps, bounds = [0.0], [tolerance]
    for hypothesis, path in zip(trace.hypotheses, expected, strict=True):
        length = len(hypothesis.token_ids)
        gaps.append(abs(hypothesis.score - path.score))
        bounds.append(2 * tolerance * length / length**penalty)
    detail = Message(
        "{expected} of {expected} hypotheses are equal; largest difference of scores",
        expected=len(expected),
    )
    return worst(SAME_HYPOTHESES, gaps, max(bounds), detail)


def _parting(trace: Trace[BeamSearch], expected: Sequence[ReferencePath]) -> tuple[float, int]:
    """Return the distance of the candidates where two searches part, in nats, and the step.

    Of several such places, return the one with the largest distance relative to its step: a near
    tie at one step doesn't excuse a larger distance at another.
    """
    steps = trace.beam_steps
    partings = [parting for path in expected if (parting := _leaves(steps, path))]
    if partings:
        return max(partings, key=lambda parting: parting[0] / (parting[1] + 1))
    # The trees are equal: the searches hold different paths, or stop at different steps.
    scores = [hypothesis.score for hypothesis in trace.hypotheses]
    expected_scores = [path.score for path in expected]
    if len(scores) != len(expected_scores):
        return math.inf, len(steps) - 1
    gaps = [abs(a - b) for a, b in zip(scores, expected_scores, strict=True)]
    return max(gaps, default=math.inf), len(steps) - 1


def _leaves(steps: Sequence[BeamStep], path: ReferencePath) -> tuple[float, int] | None:
    """Return the step at which a path leaves the tree, and its deficit in nats; None if it
    stays.
    """
    last = len(path.token_ids) - 1
    for index, (token_id, parent) in enumerate(zip(path.token_ids, path.parents, strict=True)):
        if index >= len(steps):
            return math.inf, index
        step = steps[index]
        candidate = next(
            (c for c in step.candidates if (c.parent, c.token_id) == (parent, token_id)), None
        )
        if candidate is None:
            return math.inf, index
        row = None if index == last else path.parents[index + 1]
        if index == last and candidate.fate != "finished":
            return _distance(
                step, candidate, [c for c in step.candidates if c.fate == "finished"]
            ), index
        if index < last and candidate.row != row:
            rivals = [c for c in step.kept if c.row == row or candidate.row is None]
            return _distance(step, candidate, rivals), index
    return None


def _distance(step: BeamStep, candidate: BeamCandidate, rivals: Sequence[BeamCandidate]) -> float:
    group = step.group_of(candidate)
    near = (abs(candidate.cum_logprob - c.cum_logprob) for c in rivals if step.group_of(c) == group)
    return min(near, default=math.inf)
