"""What the model that made a beam search's trace says about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from core.decoding.beam_replay import best_row, lineage
from core.decoding.beam_scores import Shaper
from core.decoding.beam_types import BeamCandidate, BeamStep, ReferencePath
from core.decoding.configs import BeamSearch, MethodConfig
from core.decoding.model_checks import candidate_error, logit_tolerance, made_by
from core.decoding.protocol import LanguageModel
from core.decoding.self_checks import count, worst
from core.decoding.text import join_text
from core.decoding.types import Check, Trace

SAME_HYPOTHESES = "transformers' generate finds the same hypotheses, scores and parents"


@runtime_checkable
class HasBeamReference(Protocol):
    """A model that can say what another implementation's beam search finds."""

    def reference_paths(
        self, prompt_ids: Sequence[int], config: MethodConfig
    ) -> list[ReferencePath] | None:
        """The finished paths, best first; None where the config can't be compared."""
        ...


def beam_model_checks(trace: Trace, model: LanguageModel) -> list[Check]:
    """The checks that need the model; one failed check alone where the trace can't be its own."""
    fits = _fits(trace, model)
    if not fits.passed:
        return [fits]
    rescored, largest = _rescored(trace, model)
    checks = [fits, _texts(trace, model), rescored]
    reference = _reference(trace, model, logit_tolerance(trace, model, largest))
    return [*checks, *([reference] if reference else [])]


def _fits(trace: Trace, model: LanguageModel) -> Check:
    """Ids, lengths, ends and the number of candidates are possible with this model."""
    faults, config, steps = [], trace.config, trace.beam_steps
    prompt = trace.prompt_step
    ids = {*trace.prompt_ids, *trace.token_ids}
    ids |= {c.token_id for step in steps for c in step.candidates}
    ids |= {c.token_id for p in (prompt.positions if prompt else ()) for c in p.candidates}
    if not all(0 <= token < model.vocab_size for token in ids) or not trace.prompt_ids:
        faults.append(
            f"a token id is outside the vocabulary of {model.vocab_size}, or none is there"
        )
    window = model.context_window
    room = config.max_new_tokens if window is None else window - len(trace.prompt_ids)
    if any(step.limit != min(config.max_new_tokens, room) for step in steps):
        faults.append("the limit is not what max_new_tokens and the context window leave")
    if any(
        (c.ended == "eos") != (c.token_id in model.eos_ids) for s in steps for c in s.candidates
    ):
        faults.append("a path ended without the end-of-sequence token, or went on after it")
    groups = config.num_beam_groups if isinstance(config, BeamSearch) else 1
    beams = config.num_beams // groups if isinstance(config, BeamSearch) else 1
    most = max(2, 1 + len(model.eos_ids)) * beams
    for step in steps:
        sizes = [sum(step.group_of(c) == group for c in step.candidates) for group in range(groups)]
        if max(sizes) > most:
            faults.append(f"step {step.index}: more than the {most} candidates of a group")
    if not made_by(trace, model):
        faults.append("the trace was made by another model, or another version of it")
    return count("the trace can be this model's", faults, "contradictions")


def _texts(trace: Trace, model: LanguageModel) -> Check:
    faults, steps = [], trace.beam_steps
    for index, step in enumerate(steps):
        if any(c.text != model.token_text(c.token_id) for c in step.candidates):
            faults.append(f"step {step.index}: a candidate's text is not its token's")
        for candidate, text in zip(step.finished, step.finished_texts, strict=True):
            path = [c.token_id for c in lineage(steps, index, candidate)]
            if join_text(model, path) != text:
                faults.append(f"step {step.index}: a path's text is not its tokens'")
    if join_text(model, trace.token_ids) != trace.text:
        faults.append("the model's tokenizer decodes the tokens to another text")
    return count("the tokenizer decodes the tokens to the text", faults, "differences")


def _rescored(trace: Trace, model: LanguageModel) -> tuple[Check, float]:
    """One forward without a cache over each hypothesis, against every number along its path.

    Returns:
        the check, and the largest logit that was seen.
    """
    name = "an independent forward gives each hypothesis the same log-probabilities"
    rescoring = _Rescoring(trace, model)
    paths = [(found.token_ids, found.parents) for found in trace.hypotheses]
    if not paths:
        open_path = best_row(trace.beam_steps)
        paths = [(trace.token_ids, tuple(candidate.parent for candidate in open_path))]
    for token_ids, parents in paths:
        rescoring.begin(token_ids, parents)
        ids = [*trace.prompt_ids, *token_ids[:-1]]
        model.start(ids, use_cache=False, on_logits=rescoring.compare)
    # A log-probability is a logit less the row's log-sum-exp, and either may be off.
    tolerance = 2 * logit_tolerance(trace, model, rescoring.largest)
    detail = (
        f"largest difference along {len(paths)} paths, and by which a better token was left out"
    )
    return worst(name, rescoring.deviations, tolerance, detail), rescoring.largest


class _Rescoring:
    """Compares logits along one path after the other with what the steps say."""

    def __init__(self, trace: Trace, model: LanguageModel) -> None:
        self._trace = trace
        self._first = len(trace.prompt_ids) - 1
        eos = sorted(token for token in model.eos_ids if token < model.vocab_size)
        config = trace.config if isinstance(trace.config, BeamSearch) else BeamSearch()
        self._shaper = Shaper(config, eos)
        self._token_ids: Sequence[int] = ()
        self._parents: Sequence[int] = ()
        self.deviations = [0.0]
        self.largest = 1.0

    def begin(self, token_ids: Sequence[int], parents: Sequence[int]) -> None:
        """The path that the next logits belong to."""
        self._token_ids, self._parents = token_ids, parents

    def compare(self, at: int, logits: Tensor) -> None:
        """Logits `[n, vocab]` after prompt and path, from position `at` on."""
        prompt = self._trace.prompt_step
        for position, own in enumerate(logits, start=at):
            if prompt is not None and position < len(prompt.positions):
                self.deviations.append(candidate_error(own, prompt.positions[position].candidates))
            if 0 <= position - self._first < len(self._parents):
                self._compare_step(position - self._first, own)
        self.largest = max(self.largest, float(logits.abs().nan_to_num(posinf=0).max()))

    def _compare_step(self, index: int, logits: Tensor) -> None:
        step, row = self._trace.beam_steps[index], self._parents[index]
        raw = torch.log_softmax(logits.double(), dim=-1)
        entropy = float(torch.special.entr(raw.exp()).sum())
        self.deviations.append(abs(entropy - step.entropies[row]))
        group = step.groups[row]
        ids = [*self._trace.prompt_ids, *self._token_ids[:index]]
        taken = step.taken_before(group)
        shaped = self._shaper(raw[None].float(), index, [ids], taken)[0].double()
        listed = [c for c in step.candidates if c.parent == row]
        at = [c.token_id for c in listed]
        for candidate, own, added in zip(
            listed, raw[at].tolist(), shaped[at].tolist(), strict=True
        ):
            self.deviations.append(abs(candidate.raw_logprob - own))
            # A filter's threshold may fall on either side of a token by rounding alone.
            if step.origin == "argmax" or added > -math.inf:
                self.deviations.append(abs(candidate.logprob - added))
        if step.origin == "argmax":
            others = shaped.index_fill(0, torch.tensor(at, dtype=torch.long), -math.inf)
            self._look_for_better(step, row, others)

    def _look_for_better(self, step: BeamStep, row: int, others: Tensor) -> None:
        """What was not listed must not have a higher sum than the last that was."""
        group = step.groups[row]
        sums = [c.cum_logprob for c in step.candidates if step.group_of(c) == group]
        highest, before = float(others.max()), 0.0
        if step.index:
            before = self._trace.beam_steps[step.index - 1].kept[row].cum_logprob
        if highest > -math.inf:
            self.deviations.append(max(0.0, before + highest - min(sums, default=-math.inf)))


def _reference(trace: Trace, model: LanguageModel, tolerance: float) -> Check | None:
    if not isinstance(model, HasBeamReference) or trace.finish_reason == "cancelled":
        return None
    expected = model.reference_paths(trace.prompt_ids, trace.config)
    if expected is None:
        return None
    own = [(found.token_ids, found.parents) for found in trace.hypotheses]
    if own == [(path.token_ids, path.parents) for path in expected]:
        return _same_scores(trace, expected, tolerance)
    gap, where = _parting(trace, expected)
    # Sums of n log-probabilities, each off by at most the tolerance, on both sides.
    bound = 2 * tolerance * (where + 1)
    detail = f"the searches part at step {where}; there the candidates are {gap:.2g} nats apart"
    return worst(SAME_HYPOTHESES, [gap], bound, detail)


def _same_scores(trace: Trace, expected: Sequence[ReferencePath], tolerance: float) -> Check:
    penalty = getattr(trace.config, "length_penalty", 1.0)
    gaps, bounds = [0.0], [tolerance]
    for found, path in zip(trace.hypotheses, expected, strict=True):
        length = len(found.token_ids)
        gaps.append(abs(found.score - path.score))
        bounds.append(2 * tolerance * length / length**penalty)
    detail = (
        f"{len(expected)} of {len(expected)} hypotheses are equal; largest difference of scores"
    )
    return worst(SAME_HYPOTHESES, gaps, max(bounds), detail)


def _parting(trace: Trace, expected: Sequence[ReferencePath]) -> tuple[float, int]:
    """How close the call was where the two searches part, in nats, and the step."""
    steps = trace.beam_steps
    partings = [parting for path in expected if (parting := _leaves(steps, path))]
    if partings:
        return min(partings, key=lambda parting: parting[1])
    # The same tree: they differ in which of its paths are held, or in when they stop.
    scores = [found.score for found in trace.hypotheses]
    other = [path.score for path in expected]
    if len(scores) != len(other):
        return math.inf, len(steps) - 1
    gaps = [abs(a - b) for a, b in zip(scores, other, strict=True)]
    return max(gaps, default=math.inf), len(steps) - 1


def _leaves(steps: Sequence[BeamStep], path: ReferencePath) -> tuple[float, int] | None:
    """Where a path leaves the tree, and by how much it lacked; None where it lies in the tree."""
    last = len(path.token_ids) - 1
    for index, (token_id, parent) in enumerate(zip(path.token_ids, path.parents, strict=True)):
        if index >= len(steps):
            return math.inf, index
        step = steps[index]
        own = next(
            (c for c in step.candidates if (c.parent, c.token_id) == (parent, token_id)), None
        )
        if own is None:
            return math.inf, index
        row = None if index == last else path.parents[index + 1]
        if index == last and own.fate != "finished":
            return _distance(step, own, [c for c in step.candidates if c.fate == "finished"]), index
        if index < last and own.row != row:
            rivals = [c for c in step.kept if c.row == row or own.row is None]
            return _distance(step, own, rivals), index
    return None


def _distance(step: BeamStep, own: BeamCandidate, rivals: Sequence[BeamCandidate]) -> float:
    group = step.group_of(own)
    near = (abs(own.cum_logprob - c.cum_logprob) for c in rivals if step.group_of(c) == group)
    return min(near, default=math.inf)
