"""Candidates of a beam search: log-probabilities, penalties, and the choice of K candidates.

As in transformers 5.23 (`_beam_search`), penalties and filters act on log-probabilities, and the
candidates are chosen over all rows at once by the summed log-probability of their paths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from ...language import Message
from ..constraints.grammar import grammars_of
from ..errors import DecodingError
from ..protocol import LanguageModel
from ..shaping.stages import NO_DISTRIBUTION
from ..shaping.step import StepShaper
from .config import BeamSearch
from .hypotheses import NOTHING

# A path with a lower sum is dead: its token is banned, or no row holds its place.
_ALIVE = NOTHING / 2
# Tensors larger than this are searched block by block: 0.4 ms for 16 x 152,000 numbers, where
# `topk` takes 18.
_BLOCKS_FROM = 32_768
_BLOCKS = 64
_DRAWN_FROM_AT_MOST = 2**24


def looked_at(config: BeamSearch, model: LanguageModel) -> int:
    """Return K: the number of continuations that each group considers, if it has that many."""
    return max(2, 1 + len(model.eos_ids)) * (config.num_beams // config.num_beam_groups)


class RankedCandidates(NamedTuple):
    """Candidates of one group in the order of choice.

    Args:
        places: places among the K candidates, from 0; only the first num_beams may finish.
        sums: summed log-probabilities of the candidates' paths.
        parents: row of each candidate within the group.
        token_ids: token of each candidate.
    """

    places: list[int]
    sums: list[float]
    parents: list[int]
    token_ids: list[int]


class LogProbabilities:
    """Converter from logits to log-probabilities; each call overwrites the buffers of the previous
    one.

    Allocating two new 16 x 152,000 tensors takes three times as long as filling them.
    """

    def __init__(self) -> None:
        self._log_probs = self._probs = torch.empty(0)

    def __call__(self, logits: Tensor) -> tuple[Tensor, list[float]]:
        """Return log-probabilities of `[rows, vocab]` logits, and the entropy of each row in nats.

        Raises:
            DecodingError: a row is no distribution.
        """
        if self._log_probs.shape != logits.shape:
            self._log_probs, self._probs = torch.empty(logits.shape), torch.empty(logits.shape)
        log_probs = torch.log_softmax(logits, dim=-1, out=self._log_probs)
        # Takes half the time of exp(log_probs).
        probs = torch.softmax(logits, dim=-1, out=self._probs)
        entropies = -torch.linalg.vecdot(probs, log_probs)
        if bool(entropies.isnan().any()):
            # NaN is 0 * -inf of a token with no probability, or the row is no distribution.
            entropies = torch.special.entr(probs).sum(dim=-1)
            if bool(entropies.isnan().any()):
                raise DecodingError(NO_DISTRIBUTION)
        return log_probs, entropies.clamp_(min=0).tolist()


def shaper_of(model: LanguageModel, config: BeamSearch) -> StepShaper:
    """Return the shaper of a search's log-probabilities.

    Every filter leaves one token more than there are tokens that can end a path, so that a path can
    go on.
    """
    eos_ids = model.eos_ids
    return StepShaper(
        config.shaping,
        draws=config.draws,
        min_new_tokens=config.min_new_tokens,
        eos_ids=eos_ids,
        min_tokens_to_keep=max(2, len(eos_ids) + 1) if config.num_beams > 1 else 1,
        seed=config.seed,
        token_bytes=model.token_bytes,
        grammars=partial(grammars_of, model),
    )


def less_taken(log_probs: Tensor, penalty: float, taken: Sequence[int]) -> Tensor:
    """Return log-probabilities `[rows, vocab]` minus the penalty for each time a token was taken.

    Args:
        taken: tokens that earlier groups took at this step, with repetitions.
    """
    if not taken or not penalty:
        return log_probs
    counts = torch.bincount(torch.tensor(taken), minlength=log_probs.shape[-1])
    return log_probs - penalty * counts


def choose(
    log_probs: Tensor,
    sums: Sequence[float],
    beams: int,
    count: int,
    generator: torch.Generator | None,
) -> RankedCandidates:
    """Return the `count` best continuations of a group's rows, or `count` drawn without
    replacement.

    Args:
        log_probs: shaped log-probabilities, `[rows, vocab]`.
        sums: summed log-probability of each row's path so far.
        beams: number of rows of a group when all rows are alive; `rows` or more.
        generator: draws the candidates; None takes the best ones.

    Raises:
        DecodingError: too many numbers to draw from.
    """
    vocab = log_probs.shape[-1]
    before = torch.tensor(sums)[:, None]
    best = None
    if generator is None and log_probs.numel() > _BLOCKS_FROM:
        best = _best_by_blocks(log_probs, before, count)
    values, flat = best or _over_all(log_probs, before, beams, count, generator)
    alive = (values > _ALIVE).tolist()
    places = [place for place, lives in enumerate(alive) if lives]
    values, flat = values[places], flat[places]
    parents = torch.div(flat, vocab, rounding_mode="floor")
    return RankedCandidates(places, values.tolist(), parents.tolist(), (flat % vocab).tolist())


def _over_all(
    log_probs: Tensor, before: Tensor, beams: int, count: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """Choose by the same call as transformers, on a tensor of the same shape: ties and draws are
    equal too.
    """
    vocab = log_probs.shape[-1]
    flat = _flat(log_probs, before, beams)
    count = min(count, len(flat))
    if generator is None:
        values, places = torch.topk(flat, count)
        return values, places
    if len(flat) >= _DRAWN_FROM_AT_MOST:
        raise DecodingError(
            Message(
                "torch draws from at most {drawn_from_at_most:,} numbers, {beams} "
                "beams over a vocabulary of {vocab:,} are more; use fewer beams.",
                drawn_from_at_most=_DRAWN_FROM_AT_MOST,
                beams=beams,
                vocab=vocab,
            )
        )
    places = torch.multinomial(torch.softmax(flat, dim=-1), count, generator=generator)
    return flat[places], places


def _flat(log_probs: Tensor, before: Tensor, beams: int) -> Tensor:
    """Return the sums of all continuations; rows that have ended give none."""
    rows, vocab = log_probs.shape
    flat = (log_probs + before).flatten()
    missing = flat.new_full(((beams - rows) * vocab,), NOTHING)
    return torch.cat([flat, missing]) if rows < beams else flat


def draw_order_numbers(
    log_probs: Tensor, sums: Sequence[float], beams: int, generator: torch.Generator
) -> Tensor:
    """Return `[rows, vocab]` numbers: `choose` draws the largest first.

    `torch.multinomial` without replacement divides the probabilities by exponential noise.
    """
    flat = _flat(log_probs, torch.tensor(sums)[:, None], beams)
    noise = torch.empty_like(flat).exponential_(1, generator=generator)
    return (torch.softmax(flat, dim=-1) / noise)[: log_probs.numel()].view_as(log_probs)


def _best_by_blocks(log_probs: Tensor, before: Tensor, count: int) -> tuple[Tensor, Tensor] | None:
    """Return the same candidates as `topk` over the whole tensor, faster; None if a tie might
    differ.

    The best `count + 1` numbers lie in the `count + 1` blocks with the highest maxima. A block
    holds every n-th token, so that the maxima are computed over whole vectors.
    """
    rows, vocab = log_probs.shape
    width = vocab // _BLOCKS
    whole = log_probs[:, : width * _BLOCKS].view(rows, _BLOCKS, width).amax(dim=1)
    highest = (whole + before).flatten()
    blocks = torch.topk(highest, min(count + 1, len(highest)))[1]
    row = torch.div(blocks, width, rounding_mode="floor")
    inside = torch.arange(_BLOCKS) * width + (blocks % width)[:, None] + (row * vocab)[:, None]
    places = inside.flatten()
    if width * _BLOCKS < vocab:
        last = torch.arange(width * _BLOCKS, vocab) + torch.arange(rows)[:, None] * vocab
        places = torch.cat([places, last.flatten()])
    values = log_probs.flatten()[places] + before.flatten()[places // vocab]
    values, order = torch.topk(values, min(count + 1, len(values)))
    if bool((values[1:] == values[:-1]).any()) or float(values[-1]) == -math.inf:
        return None
    return values[:count], places[order[:count]]
