"""Conversion of one step's tensors to the frozen values of the trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from ..errors import DecodingError
from ..protocol import LanguageModel, Vocabulary
from ..record.steps import Candidate, MarkedToken, PromptPosition, Second, Stage
from ..shaping.draws import Pick, noisy_scores
from ..shaping.known import known_distribution
from ..shaping.long_rows import (
    Ranking,
    count_above,
    count_equal,
    ranked,
    ranked_rows,
)
from ..shaping.stage import SecondLogits, TokenScores
from ..shaping.stages import NO_DISTRIBUTION, Distribution

PROMPT_CANDIDATES = 5
_AT_ONCE = 5 * 2**17  # Number of logits of prompt positions that are read at once.


class StepNumbers(NamedTuple):
    """Numbers of a step, ready for a TokenStep."""

    candidates: tuple[Candidate, ...]
    stages: tuple[Stage, ...]
    entropy: float
    tail_mass: float
    surprisal: float
    scores: tuple[float | None, ...] | None


def read_step(
    model: Vocabulary,
    stages: Sequence[Distribution],
    pick: Pick,
    top_candidates: int,
    top: Ranking | None = None,
) -> StepNumbers:
    """Return the candidates by rank, the chosen one included, and their numbers in every stage.

    Args:
        top: the highest logits of the first stage, if known; as many as there are candidates.
    """
    raw = stages[0]
    ids, logits, places = top or ranked(raw.logits, top_candidates)
    ranks = list(range(1, len(ids) + 1))
    # As in `_entropies`, but norm and highest logit are known already.
    below = float(torch.linalg.vecdot(raw.probs, raw.logits - logits[0]))
    if raw.tail:
        entropy = least_entropy(raw)
    elif math.isnan(below):
        entropy = float(_entropies(raw.probs[None], raw.logits[None])[0])
    else:
        entropy = max(0.0, raw.log_norm - logits[0] - below)
    if pick.token_id not in ids:
        ids, logits = [*ids, pick.token_id], [*logits, float(raw.logits[pick.token_id])]
        places = torch.tensor(ids)
        ranks.append(rank_of(raw.logits, pick.token_id))
    log_probs = [[logit - raw.log_norm for logit in logits]]
    log_probs += [stage.log_probs_of(places) for stage in stages[1:]]
    shown = [[math.exp(value) for value in row] for row in log_probs]
    records: list[Stage] = []
    for before, stage, row in zip((raw, *stages), stages, shown, strict=False):
        # Measured over the tensor, unless all remaining tokens are candidates.
        tail = max(0.0, float(stage.probs.sum()) - sum(row)) + stage.tail
        if stage is not raw and stage.kept == sum(1 for prob in row if prob > 0):
            tail = 0.0
        kept = stage.record
        mark = _mark(before, stage, kept, pick.token_id) if isinstance(kept, TokenScores) else None
        second = _second(kept, places) if isinstance(kept, SecondLogits) else None
        numbers = stage.kept, stage.removed_mass, stage.noise, stage.state, mark, second
        records.append(Stage(stage.name, tuple(row), tail, *numbers))
    records.append(records[-1].unchanged)
    removed: list[str | None] = [None] * len(ids)
    for stage, row in zip(reversed(stages), reversed(log_probs), strict=True):
        if -math.inf in row:
            pairs = zip(row, removed, strict=True)
            removed = [stage.name if value == -math.inf else later for value, later in pairs]
    candidates = tuple(
        map(Candidate, ids, map(model.token_text, ids), ranks, logits, shown[0], shown[-1], removed)
    )
    scores = None if pick.noise is None else tuple(noisy_scores(pick, places, log_probs[-1]))
    tail_mass, surprisal = records[0].tail_mass, -log_probs[0][ids.index(pick.token_id)]
    return StepNumbers(candidates, tuple(records), entropy, tail_mass, surprisal, scores)


def _second(second: SecondLogits, token_ids: Tensor) -> Second:
    """Return the probabilities of candidates in a second forward."""
    log_probs = torch.log_softmax(second.logits.double(), dim=-1)
    return Second(tuple(log_probs.take(token_ids).exp().tolist()), second.layer)


def _mark(
    before: Distribution, stage: Distribution, scores: TokenScores, token_id: int
) -> MarkedToken:
    """Return the numbers of a watermark's stage, given the emitted token."""
    values, of = scores
    means = [
        float(torch.linalg.vecdot(d.probs, values if d.ids is None else values.take(d.ids)))
        for d in (before, stage)
    ]
    return MarkedToken(of(token_id), *(min(1.0, mean) for mean in means))


def least_entropy(raw: Distribution) -> float:
    """Return the lower bound of the entropy in nats, where the unknown mass lies on as few tokens
    as possible.
    """
    named: list[float] = raw.probs[raw.probs > 0].tolist()
    return least_entropy_of(named, raw.tail, min(named))


def least_entropy_of(named: Sequence[float], tail: float, likeliest: float) -> float:
    """Return the lower bound of the entropy in nats, given named probabilities and the mass of a
    tail of tokens that are no likelier than `likeliest`.
    """
    entropy = -math.fsum(prob * math.log(prob) for prob in named if prob > 0)
    return entropy - (tail and tail * math.log(min(tail, likeliest)))


def _entropies(probs: Tensor, logits: Tensor) -> Tensor:
    """Return the entropies of `[n, vocab]` distributions in nats: -ln p_max minus the mean distance
    of a logit from the top.

    The usual -sum(p ln p) takes ten times as long: it needs a logarithm of every probability.
    """
    below = logits - logits.amax(dim=-1, keepdim=True)
    entropies: Tensor = -probs.amax(dim=-1).log() - torch.linalg.vecdot(probs, below)
    empty = entropies.isnan()  # 0 * -inf of tokens with no probability
    if bool(empty.any()):
        entropies = torch.where(empty, torch.special.entr(probs).sum(dim=-1), entropies)
    return entropies.clamp_(min=0)


def rank_of(logits: Tensor, token_id: int) -> int:
    """Return the rank of a token in `[vocab]` logits, from 1; ties rank by id."""
    logit = logits[token_id]
    return 1 + int(count_above(logits, logit) + count_equal(logits[:token_id], logit))


def read_prompt(
    model: LanguageModel, prompt_ids: Sequence[int], first: int, logits: Tensor
) -> list[PromptPosition]:
    """Record the model's predictions at consecutive prompt positions.

    For a model that names only the likeliest tokens, entropies are lower bounds.

    Args:
        first: position of the first row.
        logits: logits at the positions, `[n, vocab]`.

    Raises:
        DecodingError: a row is no distribution.
    """
    known, text = getattr(model, "known", None) is not None, model.token_text
    positions: list[PromptPosition] = []
    # Small groups of rows stay in the processor's cache: 32 rows of 152,000 take 19 ms four at a
    # time, 31 ms one at a time.
    at_once = max(1, _AT_ONCE // logits.shape[-1])
    for begin in range(0, len(logits), at_once):
        block, start = logits[begin : begin + at_once], first + begin
        if known:
            named, probs = [known_distribution(row) for row in block], block.exp()
            block = torch.stack([row.logits for row in named])
            entropies = [*map(least_entropy, named)]
        else:
            probs = torch.softmax(block, dim=-1)
            if bool(probs.sum(dim=-1).isnan().any()):
                raise DecodingError(NO_DISTRIBUTION)
            entropies = _entropies(probs, block).tolist()
        nexts = _nexts(block, probs, prompt_ids[start + 1 : start + 1 + len(block)])
        rows = zip(ranked_rows(block, PROMPT_CANDIDATES), probs, entropies, nexts, strict=True)
        for at, (top, row, entropy, following) in enumerate(rows, start=start):
            numbers = zip(top.ids, top.logits, row.take(top.places).tolist(), strict=True)
            candidates = tuple(
                Candidate(token_id, text(token_id), rank, logit, prob, prob)
                for rank, (token_id, logit, prob) in enumerate(numbers, start=1)
            )
            token_id = prompt_ids[at]
            positions.append(
                PromptPosition(at, token_id, text(token_id), entropy, candidates, *following)
            )
    return positions


# A token that the server doesn't name has only an id.
_Next: TypeAlias = tuple[int, float, int] | tuple[int | None, None, None]


def _nexts(logits: Tensor, probs: Tensor, token_ids: Sequence[int]) -> list[_Next]:
    """Return each row's next token, its probability and its rank; None after the last token."""
    if not token_ids:
        return [(None, None, None)] * len(logits)
    places = torch.tensor(token_ids)[:, None]
    rows = logits[: len(places)]
    followers = rows.gather(1, places)
    higher = count_above(rows, followers).int()
    if bool((count_equal(rows, followers) > 1).any()):
        before = torch.arange(logits.shape[-1]) < places
        higher += ((rows == followers) & before).sum(dim=-1, dtype=torch.int32)
    shares = probs[: len(places)].gather(1, places).squeeze(1).tolist()
    nexts: list[_Next] = [
        (token, None, None) if math.isnan(share) else (token, share, rank)
        for token, share, rank in zip(token_ids, shares, (higher + 1).tolist(), strict=True)
    ]
    return [*nexts, *[(None, None, None)] * (len(logits) - len(nexts))]
