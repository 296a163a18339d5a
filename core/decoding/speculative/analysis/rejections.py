"""Rejected tokens of a run: what the draft knew, what the target preferred, how likely it was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...record.trace import Trace
from ..config import Speculative
from ..drafters.ngram_cache import follow_sizes
from ..drafters.prompt_lookup import find_match
from ..drafters.suffix import best_path
from ..rounds import candidate_of
from ..tree.shape import path_to
from ..types import DraftRound, DraftToken, PairCandidate


class Copied(NamedTuple):
    """Token that a drafted token was copied from: its index in prompt and text, and the number of
    tokens before it that are the same in both places.
    """

    at: int
    same: int


class Rejection(NamedTuple):
    """A rejected token.

    Args:
        round, place: index of the round, and of the token in it.
        token: the drafted token.
        drafted: both models' probabilities of it.
        preferred: the token to which the target gives the highest probability there.
        likelihood: probability of the rejection, given the draft: 1 - accept_prob; with block
            verification the product of it over this token and the later ones.
        copied: for a source that copies the text, the token that it copied.
    """

    round: int
    place: int
    token: DraftToken
    drafted: PairCandidate
    preferred: PairCandidate
    likelihood: float
    copied: Copied | None


def rejections(trace: Trace) -> Iterator[Rejection]:
    """Yield the rejected tokens of a run in order."""
    for at, step in enumerate(trace.rounds):
        for place, token in enumerate(step.drafted):
            if token.outcome == "rejected" and (found := rejection_at(trace, at, place)):
                yield found


def rejection_at(trace: Trace, at: int, place: int) -> Rejection | None:
    """Return the rejected token of a round by its place; None if it was not rejected."""
    step = trace.rounds[at]
    token = step.drafted[place] if 0 <= place < len(step.drafted) else None
    if token is None or token.outcome != "rejected":
        return None
    drafted = candidate_of(token.candidates, token.token_id)
    if drafted is None:
        return None
    copied, likelihood = copied_at(trace, at, place), rejection_probability(step, place)
    return Rejection(at, place, token, drafted, preferred_over(token), likelihood, copied)


def preferred_over(token: DraftToken) -> PairCandidate:
    """Return the candidate that the target finds likeliest at a drafted token's position."""
    return max(token.candidates, key=lambda c: (c.target_prob, c.target_raw_prob))


def rejection_probability(step: DraftRound, place: int) -> float:
    """Return the probability with which a drafted token is rejected if it is reached."""
    token = step.drafted[place]
    if token.block is None:
        return 1 - token.accept_prob
    # A token stands if it or a later one passes, so all of them failed.
    return math.prod(1 - later.accept_prob for later in step.drafted[place:])


def copied_at(trace: Trace, at: int, place: int) -> Copied | None:
    """Return the token of prompt and text that a drafted token was copied from.

    None for a source that copies nothing.
    """
    config, step = trace.require(Speculative).config, trace.rounds[at]
    ids = [*trace.prompt_ids, *trace.token_ids[: step.start]]
    drafted = [step.drafted[node].token_id for node in path_to(step.tree, place)]
    if config.drafter == "prompt_lookup":
        match = find_match(ids, config.lookup_ngram, config.lookup_min)
        return match and Copied(match.start + match.size + place, match.size + place)
    if config.drafter == "suffix":
        size = best_path(ids, config, step.draft_length).size
        return _copied(ids, ids[len(ids) - size :] + drafted)
    if config.drafter == "ngram_cache":
        sizes, context = follow_sizes(ids, step.draft_length), [*ids, *drafted]
        size = sizes[place][1] if place < len(sizes) else 0
        return _copied(ids, context[len(context) - size - 1 :])
    return None


def _copied(ids: Sequence[int], piece: list[int]) -> Copied | None:
    """Return the last token of the first occurrence of a piece of the text."""
    held, size = list(ids), len(piece)
    for start in range(len(held) - size + 1):
        if held[start : start + size] == piece:
            return Copied(start + size - 1, size - 1)
    return None
