"""Record of speculative decoding: rounds of proposing, scoring and verifying; torch-free.

A round's drafted tokens have positions 0, 1, 2, ...; in a tree several tokens share a position. The
token that the target adds itself (recovered or bonus) has the position after the last accepted one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

from ..config import MAX_CANDIDATES, Ended
from ..record.bounds import (
    Bounds,
    ByColumn,
    Index,
    LeftOut,
    Prob,
    Seconds,
    ShortText,
    TokenId,
    Uniform,
)
from ..record.masks import Mask
from ..record.steps import MethodRecord, RunTokens, Step, emitted_tokens
from .block import BlockNumbers
from .config import MAX_DRAFT_LENGTH
from .lookahead.window import GuessWindow
from .tree.shape import chain, depths_of

_AT_MOST, _ONE_MORE = Bounds(max_length=MAX_DRAFT_LENGTH), Bounds(max_length=MAX_DRAFT_LENGTH + 1)
Outcome: TypeAlias = Literal["accepted", "rejected", "not_reached"]
DraftEnd: TypeAlias = Literal[
    "length", "room", "confidence", "eos", "no_match", "no_token", "translation"
]


class PairCandidate(NamedTuple):
    """A token with both models' probabilities at one position.

    `target_prob` and `draft_prob` are compared by the verification (after shaping); the raw ones
    are unshaped. The draft's are None if it has no distribution: at the bonus token's position, and
    (raw) for prompt lookup.
    """

    token_id: TokenId
    text: ShortText
    target_prob: Prob
    draft_prob: Prob | None
    target_raw_prob: Prob
    draft_raw_prob: Prob | None

    @property
    def excess(self) -> float:
        """max(0, target_prob - draft_prob): its part of the residual before renormalising."""
        return max(0.0, self.target_prob - (self.draft_prob or 0.0))


# Both models' top candidates, the drafted token and the recovered token.
PairCandidates: TypeAlias = Annotated[
    tuple[PairCandidate, ...], ByColumn(), Bounds(max_length=2 * MAX_CANDIDATES + 2)
]


class DraftToken(NamedTuple):
    """A drafted token and its verification.

    In a tree, a token whose sibling was drafted before it is verified only if that one is rejected:
    its probabilities are those of the target's residual and of the draft's remaining distribution.

    Args:
        draft_prob: probability with which the draft proposed it; 1 if nothing was drawn.
        target_prob: probability with which the target would emit it after the drafted tokens before
            it.
        accept_prob: min(1, target_prob / draft_prob); target_prob for exact match; 1 or 0 for
            typical acceptance; for block verification the probability that no later token need be
            accepted for this one.
        uniform: the verification's number in [0, 1), drawn for every drafted token, reached or not;
            None for typical acceptance, which draws none.
        passed: result of the verification, reached or not.
        outcome: `not_reached` after a rejected token, after a token that ended the run, and for the
            siblings after an accepted token. With block verification a token is accepted if it or a
            later one passes.
        residual_mass: sum of max(0, target - draft) over the vocabulary; it equals the probability
            that a token drafted here is rejected (1 - beta of Leviathan et al. 2023).
        candidates: the most probable tokens of either model by falling target_raw_prob; the drafted
            and the recovered token are always included.
        draft_uniform: number with which the draft drew it; None if there was only one token.
        draft_interval: interval that contains that number, as in a `Draw`.
        interval: for exact match, the interval that contains `uniform` if it passed: the token's
            part of the target's cumulative distribution.
        threshold: for typical acceptance, the threshold that target_prob must exceed.
        block: numbers of block verification.
        refused: whether the constraint doesn't allow the token, so that target_prob is 0.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = Speculative(draft_length=3, max_new_tokens=8)
        >>> trace = collect(model, "Once upon a time", config, draft=load_model("embedded:draft"))
        >>> first = trace.rounds[0].drafted[0]
        >>> first.outcome, round(first.accept_prob, 2)
        ('accepted', 1.0)
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
    block: Annotated[BlockNumbers | None, LeftOut(lambda token: token.block is None)] = None
    refused: Annotated[bool, LeftOut(lambda token: not token.refused)] = False


class ExtraToken(NamedTuple):
    """The token that the target adds to a round: a recovered token or a bonus token.

    Args:
        prob: probability in the distribution from which it was drawn: the renormalised residual for
            a recovered token, the target's distribution for a bonus token (and for both in exact
            match).
        target_prob: the target's probability at this position.
        draft_prob: the draft's probability; None for a bonus token.
        uniform: number with which it was drawn; for a recovered token in exact match, the
            verification's number; None in typical acceptance, where the recovered token is the most
            probable one.
        interval: interval that contains that number.
        candidates: candidates of a bonus token; a recovered token's are those of the rejected
            token.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = Speculative(draft_length=3, max_new_tokens=8)
        >>> trace = collect(model, "Once upon a time", config, draft=load_model("embedded:draft"))
        >>> extra = trace.rounds[0].bonus or trace.rounds[0].recovered
        >>> 0 < extra.target_prob <= 1
        True
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
    """Number of tokens in a model's context before the round, at most, and after the rollback.

    For a target that scores by batch expansion, `peak` is the longest row's.
    """

    before: Index
    peak: Index
    after: Index


class RoundSeconds(NamedTuple):
    """Seconds of a round's parts.

    Args:
        propose: forwards and draws of the draft.
        score: forward of the target.
        verify: shaping, verifications, residual, rollback.
        record: running text and recording, which are no part of decoding.
        prefill: prompt processing of the draft, in the first round only.
    """

    propose: Seconds
    score: Seconds
    verify: Seconds
    record: Seconds
    prefill: Seconds = 0.0

    @property
    def total(self) -> float:
        """Seconds of all parts but `record` and `prefill`."""
        return self.propose + self.score + self.verify


class SourceToken(NamedTuple):
    """A token of a draft with another tokenizer."""

    token_id: TokenId
    text: ShortText


@dataclass(frozen=True, slots=True, repr=False)
class DraftRound(Step):
    """One round: the draft proposes tokens, the target scores all at once, and each is verified.

    Args:
        index: 0 for the first round.
        start: number of tokens emitted before this round.
        draft_length: number of positions that the draft was allowed in this round.
        draft_end: reason why it proposed no more: `length`: the draft length; `room`:
            max_new_tokens, a context window or the number of MTP layers; `confidence`: a
            probability below the threshold; `eos`: a drafted end-of-sequence token; `no_match`: no
            more tokens from the text; `no_token`: the penalties left no token; `translation`: the
            draft's tokens are fewer tokens of the target.
        drafted: every drafted token in order; of a tree, level by level.
        recovered: token drawn after a rejection.
        bonus: token drawn after all drafted tokens were accepted (or none was drafted).
        texts: text that each emitted token added to the running text.
        draft_cache: None for a source without a cache of the target's positions.
        translation: tokens that a draft with another tokenizer proposed; their text became the
            drafted tokens.
        finish_reason: set on the last round of a run that ended by itself.
        parents: of a tree, the index of the drafted token that each one follows; -1 for none. Empty
            for a chain.
        masks: what the constraint allowed the target after the last emitted token and after each
            drafted token; empty without one, and in files from before masks were recorded.
        window: guesses of lookahead decoding that the target's forward read too.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = Speculative(draft_length=3, max_new_tokens=8)
        >>> trace = collect(model, "Once upon a time", config, draft=load_model("embedded:draft"))
        >>> first = trace.rounds[0]
        >>> first.texts, first.draft_end
        ((',', ' a', ' girl', ' named'), 'length')
    """

    kind: ClassVar[str] = "round"

    index: Index
    start: Index
    draft_length: Annotated[int, Bounds(ge=0, le=MAX_DRAFT_LENGTH)]
    draft_end: DraftEnd
    drafted: Annotated[tuple[DraftToken, ...], _AT_MOST]
    recovered: ExtraToken | None
    bonus: ExtraToken | None
    texts: Annotated[tuple[ShortText, ...], _ONE_MORE]
    target_cache: CacheSizes
    draft_cache: CacheSizes | None
    seconds: RoundSeconds
    finish_reason: Ended | None = None
    parents: Annotated[
        tuple[Annotated[int, Bounds(ge=-1, lt=MAX_DRAFT_LENGTH)], ...],
        _AT_MOST,
        LeftOut(lambda step: not step.parents),
    ] = ()
    translation: Annotated[
        tuple[SourceToken, ...], _AT_MOST, LeftOut(lambda step: not step.translation)
    ] = ()
    masks: Annotated[tuple[Mask, ...], _ONE_MORE, LeftOut(lambda step: not step.masks)] = ()
    window: Annotated[GuessWindow | None, LeftOut(lambda step: step.window is None)] = None

    @property
    def tree(self) -> tuple[int, ...]:
        """Parent of each drafted token, of a chain too."""
        return self.parents or chain(len(self.drafted))

    @property
    def depths(self) -> tuple[int, ...]:
        """Position of each drafted token."""
        return depths_of(self.tree)

    @property
    def positions(self) -> tuple[tuple[DraftToken, ...], ...]:
        """The drafted tokens of each position; a chain has one in each."""
        grouped: list[list[DraftToken]] = [[] for _ in range(self.depth)]
        for depth, token in zip(self.depths, self.drafted, strict=True):
            grouped[depth].append(token)
        return tuple(map(tuple, grouped))

    @property
    def siblings(self) -> tuple[tuple[DraftToken, ...], ...]:
        """The drafted tokens that follow the same token, for each token that has such."""
        grouped: dict[int, list[DraftToken]] = {}
        for parent, token in zip(self.tree, self.drafted, strict=True):
            grouped.setdefault(parent, []).append(token)
        return tuple(map(tuple, grouped.values()))

    @property
    def depth(self) -> int:
        """Number of drafted positions."""
        return max(self.depths, default=-1) + 1

    @property
    def rejected_at(self) -> int | None:
        """Index of the rejected token that the recovered one replaces: the last one tried."""
        outcomes = [token.outcome for token in self.drafted]
        rejected = [at for at, outcome in enumerate(outcomes) if outcome == "rejected"]
        return rejected[-1] if rejected and self.recovered is not None else None

    @property
    def path(self) -> tuple[int, ...]:
        """Indices of the tokens that were emitted, and of the last rejected one."""
        places = [at for at, token in enumerate(self.drafted) if token.outcome == "accepted"]
        return (*places, *([] if self.rejected_at is None else [self.rejected_at]))

    @property
    def predicted_after(self) -> tuple[int, ...]:
        """Index of the drafted token after which each drafted token, and last the bonus, was
        predicted; -1 for none.
        """
        return (*self.tree, *(self.path[-1:] or (-1,) if self.bonus else ()))

    @property
    def accepted(self) -> tuple[DraftToken, ...]:
        """The drafted tokens that were emitted."""
        return tuple(token for token in self.drafted if token.outcome == "accepted")

    @property
    def extra(self) -> ExtraToken | None:
        """The recovered or bonus token; None if an accepted token ended the run."""
        return self.recovered or self.bonus

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The emitted tokens."""
        ids = tuple(token.token_id for token in self.accepted)
        return ids if self.extra is None else (*ids, self.extra.token_id)

    @property
    def text(self) -> str:
        """Text that the round adds to the running text."""
        return "".join(self.texts)


@dataclass(frozen=True, slots=True)
class DraftRecord(MethodRecord):
    """Name, revision and dtype of the draft model; empty if the source needs none."""

    draft_id: ShortText = ""
    draft_revision: ShortText = ""
    draft_dtype: ShortText = ""


def tokens_and_draft(steps: Sequence[Step], _: object, draft: Any) -> RunTokens:
    """Return the emitted tokens of a run, and the record of its draft model or of none."""
    record = DraftRecord(draft.model_id, draft.revision, draft.dtype) if draft else DraftRecord()
    return RunTokens(emitted_tokens(steps).token_ids, record)
