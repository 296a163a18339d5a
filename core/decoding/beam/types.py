"""Record of a beam search: the candidates of every step with their parents, and the hypotheses.

The beam of a step is a list of rows, numbered from 0. A candidate extends one row; a kept candidate
becomes a row of the next step's beam. The first beam holds the prompt, once for each group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from ..config import MAX_NEW_TOKENS, Ended
from ..record.bounds import (
    Bounds,
    ByColumn,
    FiniteNumber,
    Index,
    LeftOut,
    LongText,
    Nats,
    Rank,
    Seconds,
    ShortText,
    TokenId,
)
from ..record.masks import Mask
from ..record.steps import MethodRecord, Step
from .config import MAX_BEAMS

# K of the largest beam for a model with about sixty end-of-sequence tokens.
MAX_BEAM_CANDIDATES = 64 * MAX_BEAMS

Fate: TypeAlias = Literal["kept", "finished", "pruned"]
BeamRow: TypeAlias = Annotated[int, Bounds(ge=0, lt=MAX_BEAMS)]
_Rows = Bounds(max_length=MAX_BEAMS)


class BeamCandidate(NamedTuple):
    """One of the K continuations that a step considered.

    Args:
        rank: rank in its group, from 1: by falling `cum_logprob`, or in the order of the draw.
        parent: row of this step's beam that it extends.
        text: the token as it is displayed; see `Candidate`.
        logprob: the token's contribution to the path's score, nats: the model's log-probability
            after penalties, the group's diversity penalty and the shaping of a draw.
        raw_logprob: the model's unshaped log-probability of the token after this parent.
        cum_logprob: sum of `logprob` over the path.
        fate: `kept`: it becomes `row` of the next beam; `finished`: it ended within the first
            num_beams and is a hypothesis; `pruned`: neither.
        ended: what ends the path with this token, whatever its fate; None if nothing does.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> best = trace.beam_steps[1].candidates[0]
        >>> best.text, best.rank, best.parent, best.fate, round(best.cum_logprob, 2)
        (' there', 1, 0, 'kept', -0.66)
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
    """Seconds of a step's parts: the forward, log-probabilities with entropies, and the search.

    `forward` of the first step is 0: the prompt step counts it.
    """

    forward: Seconds
    scores: Seconds
    search: Seconds

    @property
    def total(self) -> float:
        return self.forward + self.scores + self.search


@dataclass(frozen=True, slots=True, repr=False)
class BeamStep(Step):
    """One step of the search: every row of the beam is extended by one token.

    Args:
        index: 0 for the first generated token; a path that ends here has `index + 1` tokens.
        candidates: candidates by group, then by rank.
        groups: group of each row of this step's beam.
        entropies: entropy of the model's distribution after each row, nats.
        kept_logprobs: for each kept candidate, in the order of the next beam, a list of its
            token's `logprob` after each hypothesis of this step's beam; None for a banned token.
        finished_texts: whole text of each finished candidate, in order; tokens may hold parts of
            characters, so the tokens' texts don't add up to it.
        limit: maximum number of tokens of a hypothesis in this run.
        origin: `argmax` takes the best K candidates, `sampled` draws them.
        finish_reason: finish reason of the best hypothesis; set on the last step of a search that
            ended.
        masks: what the constraint allowed after each row's path; empty without one, and in files
            from before masks were recorded.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> step = trace.beam_steps[1]
        >>> len(step.groups), len(step.candidates)
        (3, 9)
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
    masks: Annotated[tuple[Mask, ...], _Rows, LeftOut(lambda step: not step.masks)] = ()

    @property
    def kept(self) -> tuple[BeamCandidate, ...]:
        """Rows of the next step's beam, in order."""
        survivors = (c for c in self.candidates if c.row is not None)
        return tuple(sorted(survivors, key=lambda c: c.row or 0))

    @property
    def finished(self) -> tuple[BeamCandidate, ...]:
        """Candidates that became hypotheses at this step."""
        return tuple(c for c in self.candidates if c.fate == "finished")

    def group_of(self, candidate: BeamCandidate) -> int:
        """Return the group of the candidate."""
        return self.groups[candidate.parent]

    def taken_before(self, group: int) -> list[int]:
        """Return the tokens that earlier groups took at this step, with repetitions: tokens of
        paths that go on, and of paths that only the limit or a stop string ended.
        """
        return [
            c.token_id
            for c in self.candidates
            if self.group_of(c) < group and c.fate != "pruned" and c.ended != "eos"
        ]

    def margin(self, candidate: BeamCandidate) -> float | None:
        """Return `cum_logprob` minus that of its group's worst survivor; None if the group has no
        survivor.

        For most pruned candidates it is negative: their deficit in nats.
        """
        group = self.group_of(candidate)
        rivals = [c.cum_logprob for c in self.kept if self.group_of(c) == group]
        return candidate.cum_logprob - min(rivals) if rivals else None


class Hypothesis(NamedTuple):
    """A finished path.

    Args:
        token_ids: generated tokens, the ending one included.
        score: `sum_logprob / len(token_ids) ** length_penalty` in float32, as in transformers.
        sum_logprob: log-probability of the whole path, nats.
        parents: for each token, its parent row in that step's beam.
        finish_reason: the reason for its end.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> best = trace.hypotheses[0]
        >>> len(best.token_ids), best.finish_reason
        (6, 'length')
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
        hypotheses: every finished path that was held at the end, best first; the first
            `config.num_return_sequences` are the requested ones.
    """

    hypotheses: Annotated[tuple[Hypothesis, ...], Bounds(max_length=MAX_BEAMS)] = ()


class ReferencePath(NamedTuple):
    """A finished path from another implementation of the same search."""

    token_ids: tuple[int, ...]
    score: float
    parents: tuple[int, ...]
