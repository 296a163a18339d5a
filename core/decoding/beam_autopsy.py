"""What became of greedy's path in a beam search, and how the search compares with its rivals.

Read from the stored candidates alone; no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from core.decoding.beam_replay import best_row, lineage
from core.decoding.beam_types import BeamCandidate, BeamStep, Hypothesis
from core.decoding.configs import BeamSearch
from core.decoding.types import Trace

GreedyEnd: TypeAlias = Literal["pruned", "unseen", "finished", "kept"]


@dataclass(frozen=True, slots=True)
class GreedyPath:
    """Greedy's path, followed through the stored candidates.

    Args:
        path: its candidates, the one at which it left the beam included.
        end: `pruned` where it was looked at and dropped, `unseen` where none of its continuations
            was among the K, `finished` or `kept` where it stayed to its own or the search's end.
        step: where that happened.
        parted_at: the first step at which the winner takes another token; None where it never does.
    """

    path: tuple[BeamCandidate, ...]
    end: GreedyEnd
    step: int
    parted_at: int | None

    @property
    def left(self) -> bool:
        """Whether the beam lost it."""
        return self.end in ("pruned", "unseen")


def greedy_path(trace: Trace, winner: Hypothesis | None = None) -> GreedyPath | None:
    """Follow greedy decoding through a search: at every step its row's most probable token.

    Of diverse beam search, through the first group, which no other group costs anything. None
    where the candidates were drawn (they need not hold the most probable token), or without steps.

    Args:
        winner: the path to compare with; the best hypothesis by default.
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
            break  # its group has ended; the others go on
    at = len(path) if end == "unseen" else len(path) - 1
    return GreedyPath(tuple(path), end, at, _parted(trace, path, winner))


def _parted(trace: Trace, path: Sequence[BeamCandidate], winner: Hypothesis | None) -> int | None:
    best = winner or next(iter(trace.hypotheses), None)
    ids = best.token_ids if best else tuple(c.token_id for c in best_row(trace.beam_steps))
    pairs = zip(path, ids, strict=False)
    return next((at for at, (own, other) in enumerate(pairs) if own.token_id != other), None)


def winner_candidates(steps: Sequence[BeamStep], winner: Hypothesis) -> tuple[BeamCandidate, ...]:
    """The candidates of a hypothesis, first token first."""
    at = len(winner.token_ids) - 1
    last = next(
        c
        for c in steps[at].candidates
        if c.parent == winner.parents[-1] and c.token_id == winner.token_ids[-1]
    )
    return lineage(steps, at, last)


class Rival(NamedTuple):
    """One way to continue the prompt, for a comparison on equal terms.

    Args:
        sum_logprob: of the whole text under the model itself (no penalty), nats.
        score: the same over its length to the search's length penalty.
        forwards: calls of the model after the prompt.
        rows: sequences that those calls computed, all together.
    """

    name: str
    text: str
    tokens: int
    sum_logprob: float
    score: float
    forwards: int
    rows: int


def beam_rival(trace: Trace, winner: Hypothesis, length_penalty: float) -> Rival:
    """The winner of a search, scored by the model's own log-probabilities."""
    steps = trace.beam_steps
    total = sum(c.raw_logprob for c in winner_candidates(steps, winner))
    # The first step's logits come with the prompt.
    rows = sum(len(step.groups) for step in steps[1:])
    return _rival(
        "Beam search",
        winner.text,
        len(winner.token_ids),
        total,
        length_penalty,
        (len(steps) - 1, rows),
    )


def token_rival(name: str, traces: Sequence[Trace], length_penalty: float) -> Rival:
    """The best-scored of some runs of greedy decoding or sampling, and what all of them cost."""
    rivals = []
    for trace in traces:
        total = -sum(step.surprisal for step in trace.token_steps)
        rivals.append(_rival(name, trace.text, len(trace.token_ids), total, length_penalty, (0, 0)))
    best = max(rivals, key=lambda rival: rival.score)
    spent = sum(max(len(trace.token_steps) - 1, 0) for trace in traces)
    return best._replace(forwards=spent, rows=spent)


def _rival(
    name: str,
    text: str,
    tokens: int,
    total: float,
    length_penalty: float,
    spent: tuple[int, int],
) -> Rival:
    score = total / max(tokens, 1) ** length_penalty
    return Rival(name, text, tokens, total, score, *spent)
