"""Greedy decoding's path through a beam search, and a comparison of the search with other methods.

Both are read from the stored candidates; no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ...language import N_, Message
from ..record.characters import whole_characters
from ..record.trace import Trace
from .config import BeamSearch
from .hypotheses import score_of
from .replay import best_row, lineage, replay
from .types import BeamCandidate, BeamStep, Hypothesis

GreedyEnd: TypeAlias = Literal["pruned", "unseen", "finished", "kept"]


@dataclass(frozen=True, slots=True)
class GreedyPath:
    """Greedy decoding's path through the stored candidates of a search.

    Args:
        path: its candidates, up to and including the one at which it left the beam.
        end: `pruned`: its candidate was dropped; `unseen`: no continuation was among the K
            candidates; `finished` or `kept`: it stayed in the beam until it or the search ended.
        step: the step at which that happened.
        parted_at: the first step at which the winner takes another token; None if it never does.
    """

    path: tuple[BeamCandidate, ...]
    end: GreedyEnd
    step: int
    parted_at: int | None


def greedy_path(trace: Trace, winner: Hypothesis | None = None) -> GreedyPath | None:
    """Follow greedy decoding through a search: at every step its row's most probable token.

    In diverse beam search the path is followed through the first group, which no other group
    penalises. Return None if there are no steps, or if the candidates were drawn: drawn candidates
    need not include the most probable token.

    Args:
        winner: the path to compare with; by default the best hypothesis.
    """
    config, steps = trace.config, trace.beam_steps
    if not isinstance(config, BeamSearch) or config.draws or not steps:
        return None
    path, row = [], 0
    end: GreedyEnd = "kept"
    for step in steps:
        after = [c for c in step.candidates if c.parent == row]
        if not after:
            end = "unseen"
            break
        best = max(after, key=lambda candidate: candidate.logprob)
        path.append(best)
        if best.row is None:
            end = best.fate
            break
        row = best.row
        if len(path) < len(steps) and row >= len(steps[len(path)].groups):
            break  # its group has ended, while others go on
    at = len(path) if end == "unseen" else len(path) - 1
    return GreedyPath(tuple(path), end, at, _parted(trace, path, winner))


def _parted(trace: Trace, path: Sequence[BeamCandidate], winner: Hypothesis | None) -> int | None:
    best = winner or next(iter(trace.hypotheses), None)
    ids = best.token_ids if best else tuple(c.token_id for c in best_row(trace.beam_steps))
    pairs = zip(path, ids, strict=False)
    return next(
        (at for at, (candidate, token_id) in enumerate(pairs) if candidate.token_id != token_id),
        None,
    )


def winner_candidates(steps: Sequence[BeamStep], winner: Hypothesis) -> tuple[BeamCandidate, ...]:
    """Return the candidates of a hypothesis in the order of its tokens."""
    at = len(winner.token_ids) - 1
    last = next(
        c
        for c in steps[at].candidates
        if c.parent == winner.parents[-1] and c.token_id == winner.token_ids[-1]
    )
    return lineage(steps, at, last)


def hypothesis_text(steps: Sequence[BeamStep], path: Hypothesis) -> str:
    """Return the text of a hypothesis; bytes that form no character appear as `<EC>`."""
    ends = path.finish_reason == "eos"
    texts = [candidate.text for candidate in winner_candidates(steps, path)]
    return whole_characters(path.text, texts[:-1] if ends else texts)


class Rival(NamedTuple):
    """A method's continuation of the prompt, measured on equal terms with the others.

    Args:
        sum_logprob: log-probability of the whole text under the unshaped model, nats.
        score: `sum_logprob` divided by the text's length to the power of the search's length
            penalty.
        forwards: number of model calls; the prompt's call, which gives the first token, is
            included.
        rows: number of sequences that these calls computed in total.
        at_least: whether the search would have gone on under the settings it is ranked by.
        ran_forwards, ran_rows: numbers of the stored search, if a search under the settings it is
            ranked by would need other numbers; re-ranking itself needs no forward.
    """

    name: str
    text: str
    tokens: int
    sum_logprob: float
    score: float
    forwards: int
    rows: int
    at_least: bool = False
    ran_forwards: int | None = None
    ran_rows: int | None = None


class Ran(NamedTuple):
    """Summary of a run of greedy decoding or sampling, for the comparison.

    Args:
        sum_logprob: log-probability of its text under the unshaped model, nats.
        forwards: number of model calls of one row each, the prompt's included.
    """

    text: str
    tokens: int
    sum_logprob: float
    forwards: int


def ran(trace: Trace) -> Ran:
    """Return the summary of a run, for the comparison."""
    steps = trace.token_steps
    total = -sum(step.surprisal for step in steps)
    return Ran(trace.text, len(trace.token_ids), total, len(steps))


def rivals(search: Trace, greedy: Ran, samples: Sequence[Ran]) -> tuple[Rival, ...]:
    """Compare greedy decoding, the search's best hypothesis and the best sample by the search's
    score.

    The samples' forwards are summed over all samples, and each sample reads the prompt again. The
    search's forwards are those that it needs under the settings it is ranked by. Without a
    hypothesis or a sample, that entry is missing.
    """
    penalty = getattr(search.config, "length_penalty", 1.0)
    ranking = [_rival(N_("Greedy"), greedy, penalty)]
    if search.hypotheses:
        ranking.append(_searched(search, penalty))
    if samples:
        name = Message("Best of {samples} samples", samples=len(samples))
        spent = sum(run.forwards for run in samples)
        drawn = (_rival(name, run, penalty) for run in samples)
        best = max(drawn, key=lambda rival: rival.score)
        ranking.append(best._replace(forwards=spent, rows=spent))
    return tuple(ranking)


def _searched(search: Trace, penalty: float) -> Rival:
    steps, winner = search.beam_steps, search.hypotheses[0]
    total = sum(c.raw_logprob for c in winner_candidates(steps, winner))
    forwards, rows, at_least = _bill(search)
    run = Ran(winner.text, len(winner.token_ids), total, forwards)
    rival = _rival(N_("Beam search"), run, penalty)._replace(rows=rows, at_least=at_least)
    took = len(steps), 1 + sum(len(step.groups) for step in steps[1:])
    if took == (forwards, rows) and not at_least:
        return rival
    return rival._replace(ran_forwards=took[0], ran_rows=took[1])


def _bill(search: Trace) -> tuple[int, int, bool]:
    """Return forwards, rows, and whether they are a lower bound, for the search under its trace's
    settings.

    A stored search that is ranked under other settings may have ended earlier, each group
    separately, or gone on. The prompt's forward gives the first step's logits.
    """
    steps, config = search.beam_steps, search.require(BeamSearch).config
    ends = replay(steps, config).ends
    last = [len(steps) - 1 if end is None else end[0] for end in ends]
    rows = sum(
        last[group] >= at for at, step in enumerate(steps[1:], start=1) for group in step.groups
    )
    return max(last) + 1, rows + 1, None in ends and search.finish_reason != "cancelled"


def _rival(name: str, run: Ran, penalty: float) -> Rival:
    score = score_of(run.sum_logprob, max(run.tokens, 1), penalty)
    return Rival(name, run.text, run.tokens, run.sum_logprob, score, run.forwards, run.forwards)
