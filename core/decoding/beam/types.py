"""Record of a beam search: the candidates of every step with their parents, and the hypotheses.

The beam of a step is a list of rows, numbered from 0; a candidate extends one of them, and a kept
one becomes a row of the next step's beam. The first beam holds the prompt (once for each group).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from core.decoding.beam.config import MAX_BEAMS
from core.decoding.config import MAX_NEW_TOKENS, Ended
from core.decoding.record.bounds import (
    Bounds,
    ByColumn,
    FiniteNumber,
    Index,
    LongText,
    Nats,
    Rank,
    Seconds,
    ShortText,
    TokenId,
)
from core.decoding.record.steps import MethodRecord, Step

# K of the largest beam, of a model with some sixty end-of-sequence tokens.
MAX_BEAM_CANDIDATES = 64 * MAX_BEAMS

Fate: TypeAlias = Literal["kept", "finished", "pruned"]
BeamRow: TypeAlias = Annotated[int, Bounds(ge=0, lt=MAX_BEAMS)]
_Rows = Bounds(max_length=MAX_BEAMS)


class BeamCandidate(NamedTuple):
    """One of the K continuations that a step looked at.

    Args:
        rank: 1 for the first of its group: by falling `cum_logprob`, or in the order of the draw.
        parent: the row of this step's beam that it extends.
        text: the token for display, as a `Candidate`'s.
        logprob: what the token adds to the score of the path, nats: the model's log-probability
            after penalties (and the group's diversity penalty, and what shapes a draw).
        raw_logprob: the model's own log-probability of the token after this parent.
        cum_logprob: `logprob` of the whole path.
        fate: `kept` goes on as `row` of the next beam; `finished` ended within the first num_beams
            and is a hypothesis; `pruned` is neither.
        ended: what would end the path with this token, whatever its fate; None where nothing does.
    """

    rank: Rank
    parent: BeamRow
    token_id: TokenId
    text: ShortText
    logprob: FiniteNumber
    raw_logprob: FiniteNumber
    cum_logprob: FiniteNumber
    fate: Fate
    row: BeamRow | None = None
    ended: Ended | None = None


class BeamSeconds(NamedTuple):
    """Seconds of a step: the model, its log-probabilities and entropies, the search.

    `forward` of the first step is 0, the prompt step paid for it.
    """

    forward: Seconds
    scores: Seconds
    search: Seconds

    @property
    def total(self) -> float:
        return self.forward + self.scores + self.search


@dataclass(frozen=True, slots=True, repr=False)
class BeamStep(Step):
    """One step of the search: every row of the beam extended by one token.

    Args:
        index: 0 for the first generated token; a path that ends here is `index + 1` tokens long.
        candidates: group by group, in order of rank.
        groups: the group of each row of this step's beam.
        entropies: of the model's distribution after each row, nats.
        kept_logprobs: one row for each kept candidate, in order of its `row`: its token's `logprob`
            under every row of this step's beam, None where the token is banned there.
        finished_texts: the whole text of each finished candidate, in order; a token may be half a
            character, so that the tokens' own texts don't give it.
        limit: the most tokens that a hypothesis may have in this run.
        origin: `argmax` takes the best K, `sampled` draws them.
        finish_reason: of the best hypothesis; set on the last step of a search that ended.
    """

    kind: ClassVar[str] = "beam"

    index: Index
    candidates: Annotated[
        tuple[BeamCandidate, ...], ByColumn(), Bounds(max_length=MAX_BEAM_CANDIDATES)
    ]
    groups: Annotated[tuple[BeamRow, ...], Bounds(min_length=1, max_length=MAX_BEAMS)]
    entropies: Annotated[tuple[Nats, ...], _Rows]
    kept_logprobs: Annotated[tuple[Annotated[tuple[FiniteNumber | None, ...], _Rows], ...], _Rows]
    finished_texts: Annotated[tuple[LongText, ...], _Rows]
    limit: Annotated[int, Bounds(ge=1, le=MAX_NEW_TOKENS)]
    origin: Literal["argmax", "sampled"]
    seconds: BeamSeconds
    finish_reason: Ended | None = None

    @property
    def kept(self) -> tuple[BeamCandidate, ...]:
        """The next step's beam, by row."""
        survivors = (c for c in self.candidates if c.row is not None)
        return tuple(sorted(survivors, key=lambda c: c.row or 0))

    @property
    def finished(self) -> tuple[BeamCandidate, ...]:
        """The candidates that became hypotheses here."""
        return tuple(c for c in self.candidates if c.fate == "finished")

    def group_of(self, candidate: BeamCandidate) -> int:
        """The group whose beam the candidate extends."""
        return self.groups[candidate.parent]

    def taken_before(self, group: int) -> list[int]:
        """The tokens that earlier groups took here, with repetitions: of the paths that go on, and
        of those that only the limit or a stop string ended."""
        return [
            c.token_id
            for c in self.candidates
            if self.group_of(c) < group and c.fate != "pruned" and c.ended != "eos"
        ]

    def margin(self, candidate: BeamCandidate) -> float | None:
        """Its `cum_logprob` less that of its group's worst survivor; None where none survived.

        Negative for most pruned candidates: what they lacked, in nats.
        """
        group = self.group_of(candidate)
        rivals = [c.cum_logprob for c in self.kept if self.group_of(c) == group]
        return candidate.cum_logprob - min(rivals) if rivals else None


class Hypothesis(NamedTuple):
    """A finished path.

    Args:
        token_ids: generated, the ending one included.
        score: `sum_logprob / len(token_ids) ** length_penalty`, in float32 as transformers.
        sum_logprob: of the whole path, nats.
        parents: for each token the row of that step's beam that it came from.
        finish_reason: what ended it.
    """

    token_ids: Annotated[tuple[TokenId, ...], Bounds(min_length=1, max_length=MAX_NEW_TOKENS)]
    text: LongText
    score: FiniteNumber
    sum_logprob: FiniteNumber
    parents: Annotated[tuple[BeamRow, ...], Bounds(max_length=MAX_NEW_TOKENS)]
    finish_reason: Ended
    group: BeamRow = 0


@dataclass(frozen=True, slots=True)
class SearchRecord(MethodRecord):
    """Results of a whole search.

    Args:
        hypotheses: best first: every finished path that the search still held at its end;
            `config.num_return_sequences` of them are the ones that were requested.
    """

    hypotheses: Annotated[tuple[Hypothesis, ...], Bounds(max_length=MAX_BEAMS)] = ()


class ReferencePath(NamedTuple):
    """A finished path as another implementation of the same search gives it."""

    token_ids: tuple[int, ...]
    score: float
    parents: tuple[int, ...]
