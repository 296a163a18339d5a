"""Record of speculative decoding: rounds of proposing, scoring and verifying; torch-free.

A round's drafted tokens stand at positions 0, 1, 2, ...; the token that the target adds itself
(recovered or bonus) takes the position after the last accepted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from core.decoding.config import MAX_CANDIDATES, Ended
from core.decoding.record.bounds import (
    Bounds,
    ByColumn,
    Index,
    Prob,
    Seconds,
    ShortText,
    TokenId,
    Uniform,
)
from core.decoding.record.steps import MethodRecord, Step
from core.decoding.speculative.config import MAX_DRAFT_LENGTH

Outcome: TypeAlias = Literal["accepted", "rejected", "not_reached"]
DraftEnd: TypeAlias = Literal["length", "room", "confidence", "eos", "no_match", "no_token"]


class PairCandidate(NamedTuple):
    """A token with both models' numbers at one position.

    `target_prob` and `draft_prob` are what the verification compares (after shaping), the raw ones
    the models' own. The draft's are None where it has no distribution: at the bonus' position, and
    (raw) where tokens are looked up in the text.
    """

    token_id: TokenId
    text: ShortText
    target_prob: Prob
    draft_prob: Prob | None
    target_raw_prob: Prob
    draft_raw_prob: Prob | None

    @property
    def excess(self) -> float:
        """max(0, target_prob - draft_prob): its part of the residual, before renormalising."""
        return max(0.0, self.target_prob - (self.draft_prob or 0.0))


# Both models' top candidates, and the drafted and the recovered token.
PairCandidates: TypeAlias = Annotated[
    tuple[PairCandidate, ...], ByColumn(), Bounds(max_length=2 * MAX_CANDIDATES + 2)
]


class DraftToken(NamedTuple):
    """One drafted token and its verification.

    Args:
        draft_prob: with which the draft proposed it, 1 where nothing was drawn.
        target_prob: with which the target would emit it here, after the drafted tokens before it.
        accept_prob: min(1, target_prob / draft_prob); of exact match target_prob, of typical
            acceptance 1 or 0.
        uniform: the verification's number in [0, 1); drawn for every drafted token, reached or
            not; None in typical acceptance, which draws none.
        passed: what the verification says, whether or not it was reached.
        outcome: `not_reached` behind a rejected token, and behind one that ended the run.
        residual_mass: sum of max(0, target - draft) over the vocabulary, which is also the
            probability that a token drafted here is rejected (1 - beta of Leviathan et al. 2023).
        candidates: the most probable tokens of either model, by falling target_raw_prob; the
            drafted token and the recovered one are always among them.
        draft_uniform: the number that the draft drew with, None where it took the only token.
        draft_interval: where that number fell, as in a `Draw`.
        interval: of exact match, where `uniform` fell if it passed: the token's part of the
            target's cumulative distribution.
        threshold: of typical acceptance, what target_prob has to exceed.
    """

    token_id: TokenId
    text: ShortText
    draft_prob: Annotated[float, Bounds(gt=0, le=1.001)]
    target_prob: Prob
    accept_prob: Prob
    uniform: Uniform | None
    passed: bool
    outcome: Outcome
    residual_mass: Prob
    candidates: PairCandidates
    draft_uniform: Uniform | None = None
    draft_interval: tuple[Prob, Prob] | None = None
    interval: tuple[Prob, Prob] | None = None
    threshold: Prob | None = None


class ExtraToken(NamedTuple):
    """The token that the target itself adds to a round: recovered, or bonus.

    Args:
        prob: in the distribution that it was drawn from: the renormalised residual for a recovered
            token, the target's own for a bonus (and for both in exact match).
        target_prob: the target's at this position.
        draft_prob: the draft's, None for a bonus.
        uniform: the number that it was drawn with; of a recovered token in exact match the number
            of its verification; None in typical acceptance, where the recovered token is the most
            probable one.
        interval: where that number fell.
        candidates: of a bonus; a recovered token's are those of the rejected one.
    """

    token_id: TokenId
    text: ShortText
    prob: Prob
    target_prob: Prob
    draft_prob: Prob | None
    uniform: Uniform | None
    interval: tuple[Prob, Prob] | None
    candidates: PairCandidates = ()


class CacheSizes(NamedTuple):
    """Tokens in a model's context before the round, at its largest, and after the rollback.

    Of a target that scores by batch expansion `peak` counts the longest row's.
    """

    before: Index
    peak: Index
    after: Index


class RoundSeconds(NamedTuple):
    """Seconds of a round.

    Args:
        propose: the draft's forwards and draws.
        score: the target's forward.
        verify: shaping, verifications, residual, rollback.
        record: the running text, and what the trace shows beside: not decoding's own work.
        prefill: the draft's prompt processing, in the first round only.
    """

    propose: Seconds
    score: Seconds
    verify: Seconds
    record: Seconds
    prefill: Seconds = 0.0

    @property
    def total(self) -> float:
        """Everything but `record` and `prefill`."""
        return self.propose + self.score + self.verify


@dataclass(frozen=True, slots=True, repr=False)
class DraftRound(Step):
    """One round: the draft proposes, the target scores all of it at once, each token is tried.

    Args:
        index: 0 for the first round.
        start: how many tokens were out before this round.
        draft_length: how many tokens the draft was allowed in this round.
        draft_end: why it proposed no more: that `length`; the `room` left in max_new_tokens or a
            context window; a `confidence` below the threshold; a drafted `eos`; `no_match` of the
            prompt lookup; `no_token` that the penalties left.
        drafted: every drafted token in order.
        recovered: drawn after a rejection.
        bonus: drawn after the last drafted token was accepted (and where none was drafted).
        texts: what each emitted token added to the running text.
        draft_cache: None for prompt lookup.
        finish_reason: set on the last round of a run that ended by itself.
    """

    kind: ClassVar[str] = "round"

    index: Index
    start: Index
    draft_length: Annotated[int, Bounds(ge=0, le=MAX_DRAFT_LENGTH)]
    draft_end: DraftEnd
    drafted: Annotated[tuple[DraftToken, ...], Bounds(max_length=MAX_DRAFT_LENGTH)]
    recovered: ExtraToken | None
    bonus: ExtraToken | None
    texts: Annotated[tuple[ShortText, ...], Bounds(max_length=MAX_DRAFT_LENGTH + 1)]
    target_cache: CacheSizes
    draft_cache: CacheSizes | None
    seconds: RoundSeconds
    finish_reason: Ended | None = None

    @property
    def accepted(self) -> tuple[DraftToken, ...]:
        """The drafted tokens that were emitted."""
        return tuple(token for token in self.drafted if token.outcome == "accepted")

    @property
    def extra(self) -> ExtraToken | None:
        """The recovered token or the bonus; None where an accepted token ended the run."""
        return self.recovered or self.bonus

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The emitted tokens."""
        ids = tuple(token.token_id for token in self.accepted)
        return ids if self.extra is None else (*ids, self.extra.token_id)

    @property
    def text(self) -> str:
        """The round's addition to the running text."""
        return "".join(self.texts)


@dataclass(frozen=True, slots=True)
class DraftRecord(MethodRecord):
    """Name, revision and dtype of the draft model; empty for prompt lookup."""

    draft_id: ShortText = ""
    draft_revision: ShortText = ""
    draft_dtype: ShortText = ""
