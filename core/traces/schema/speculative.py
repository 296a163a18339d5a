"""The layout of speculative decoding in a trace file: rounds, and how one follows on another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from core.decoding.config import MAX_CANDIDATES
from core.decoding.speculative.config import MAX_DRAFT_LENGTH
from core.traces.schema.fields import Index, Prob, Seconds, ShortText, Strict, TokenId

# Both models' top candidates, and the drafted and the recovered token.
_Pairs = Field(max_length=2 * MAX_CANDIDATES + 2, fail_fast=True)
_Drafted = Field(max_length=MAX_DRAFT_LENGTH, fail_fast=True)

Uniform: TypeAlias = Annotated[float, Field(ge=0, lt=1)]
Interval: TypeAlias = Annotated[list[Prob], Field(min_length=2, max_length=2, fail_fast=True)]


class PairCandidates(Strict):
    """Columns of equal length."""

    token_id: Annotated[list[TokenId], _Pairs]
    text: Annotated[list[ShortText], _Pairs]
    target_prob: Annotated[list[Prob], _Pairs]
    draft_prob: Annotated[list[Prob | None], _Pairs]
    target_raw_prob: Annotated[list[Prob], _Pairs]
    draft_raw_prob: Annotated[list[Prob | None], _Pairs]

    @model_validator(mode="after")
    def _equal_lengths(self) -> PairCandidates:
        if len({len(column) for _, column in self}) != 1:
            raise ValueError("the candidates' columns differ in length")
        if len(set(self.token_id)) != len(self.token_id):
            raise ValueError("a candidate is listed twice")
        return self


class DraftToken(Strict):
    """One drafted token and its trial."""

    token_id: TokenId
    text: ShortText
    draft_prob: Annotated[float, Field(gt=0, le=1.001)]
    target_prob: Prob
    accept_prob: Annotated[float, Field(ge=0, le=1.001)]
    uniform: Uniform | None
    passed: bool
    outcome: Literal["accepted", "rejected", "not_reached"]
    residual_mass: Prob
    candidates: PairCandidates
    draft_uniform: Uniform | None
    draft_interval: Interval | None
    interval: Interval | None
    threshold: Prob | None

    @model_validator(mode="after")
    def _whole(self) -> DraftToken:
        if self.token_id not in self.candidates.token_id:
            raise ValueError("the drafted token is not among the candidates")
        if (self.draft_uniform is None) != (self.draft_interval is None):
            raise ValueError("a draft's uniform number and its interval belong together")
        if None in self.candidates.draft_prob:
            raise ValueError("a candidate at a drafted position lacks the draft's probability")
        return self


class ExtraToken(Strict):
    """The recovered token or the bonus."""

    token_id: TokenId
    text: ShortText
    prob: Prob
    target_prob: Prob
    draft_prob: Prob | None
    uniform: Uniform | None
    interval: Interval | None
    candidates: PairCandidates

    @model_validator(mode="after")
    def _whole(self) -> ExtraToken:
        if (self.uniform is None) != (self.interval is None):
            raise ValueError("a uniform number and its interval belong together")
        return self


class CacheSizes(Strict):
    """Tokens in a context."""

    before: Index
    peak: Index
    after: Index


class RoundSeconds(Strict):
    """Where a round's time went."""

    propose: Seconds
    score: Seconds
    verify: Seconds
    record: Seconds
    prefill: Seconds


class DraftRound(Strict):
    """One propose-score-verify cycle."""

    kind: Literal["round"]
    index: Index
    start: Index
    draft_length: Annotated[int, Field(ge=0, le=MAX_DRAFT_LENGTH)]
    draft_end: Literal["length", "room", "confidence", "eos", "no_match", "no_token"]
    drafted: Annotated[list[DraftToken], _Drafted]
    recovered: ExtraToken | None
    bonus: ExtraToken | None
    texts: Annotated[list[ShortText], Field(max_length=MAX_DRAFT_LENGTH + 1, fail_fast=True)]
    target_cache: CacheSizes
    draft_cache: CacheSizes | None
    seconds: RoundSeconds
    finish_reason: Literal["eos", "stop", "length"] | None

    @model_validator(mode="after")
    def _outcomes_in_order(self) -> DraftRound:
        outcomes = [token.outcome for token in self.drafted]
        accepted, rejected = outcomes.count("accepted"), outcomes.count("rejected")
        expected = ["accepted"] * accepted + ["rejected"] * rejected
        if outcomes[: len(expected)] != expected or rejected > 1:
            raise ValueError("accepted tokens come first, then at most one rejected")
        if (self.recovered is not None) != (rejected == 1):
            raise ValueError("a rejected token is followed by a recovered one, and no other is")
        if self.bonus is not None and accepted < len(outcomes):
            raise ValueError("a bonus follows on accepted tokens alone")
        extras = sum(extra is not None for extra in (self.recovered, self.bonus))
        if len(self.texts) != accepted + extras or not self.texts:
            raise ValueError("a round has not one text for each token that it emits")
        if extras == 0 and self.finish_reason is None:
            raise ValueError("a round without a token of the target's must end the run")
        return self

    @property
    def emitted(self) -> list[int]:
        """The tokens that came out."""
        ids = [token.token_id for token in self.drafted if token.outcome == "accepted"]
        extra = self.recovered or self.bonus
        return ids if extra is None else [*ids, extra.token_id]


def require_rounds_in_order(rounds: Sequence[DraftRound], token_ids: Sequence[int]) -> None:
    """Raises ValueError unless the rounds make up the tokens and only the last one ends the run."""
    emitted: list[int] = []
    for index, step in enumerate(rounds):
        if step.index != index or step.start != len(emitted):
            raise ValueError("the rounds are not numbered 0, 1, 2, ... by the tokens before them")
        if step.finish_reason is not None and index + 1 < len(rounds):
            raise ValueError("a round before the last one ended the run")
        emitted += step.emitted
    if emitted != list(token_ids):
        raise ValueError("the rounds' tokens are not the trace's")
