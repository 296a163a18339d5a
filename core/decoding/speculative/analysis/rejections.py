"""Rejected tokens of a run: what the draft knew, what the target preferred, how likely it was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...record.trace import Trace
from ..config import Speculative
from ..drafters.prompt_lookup import find_match
from ..rounds import candidate_of
from ..tree.shape import path_to
from ..types import DraftRound, DraftToken, PairCandidate


class Occurrence(NamedTuple):
    """Earlier place of a drafted token in prompt and text: its index, and the number of tokens
    before it that are the same as before the drafted one.
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
        earlier: for a source that copies the text, where the text had the token before.
    """

    round: int
    place: int
    token: DraftToken
    drafted: PairCandidate
    preferred: PairCandidate
    likelihood: float
    earlier: Occurrence | None


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
    earlier, likelihood = earlier_place(trace, at, place), rejection_probability(step, place)
    return Rejection(at, place, token, drafted, preferred_over(token), likelihood, earlier)


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


def earlier_place(trace: Trace, at: int, place: int) -> Occurrence | None:
    """Return the earlier place of a drafted token in prompt and text.

    For a chain of prompt lookup it is the match of its rule; sources that count occurrences have
    the one with the most equal tokens before it, of several the first. None for a source that
    copies nothing.
    """
    config, step = trace.require(Speculative).config, trace.rounds[at]
    if not config.source.from_text or config.source.from_rounds:
        return None
    ids = [*trace.prompt_ids, *trace.token_ids[: step.start]]
    if config.drafter == "prompt_lookup" and not step.parents:
        match = find_match(ids, config.lookup_ngram, config.lookup_min)
        return match and Occurrence(match.start + match.size + place, match.size + place)
    path = [step.drafted[node].token_id for node in path_to(step.tree, place)]
    return _longest(ids, [*ids, *path[:-1]], path[-1])


def _longest(ids: Sequence[int], before: Sequence[int], token_id: int) -> Occurrence | None:
    """Return the place of a token in `ids` with the longest ending of `before` in front of it."""
    best = None
    for at, held in enumerate(ids):
        same = 0
        while held == token_id and same < at and ids[at - 1 - same] == before[-1 - same]:
            same += 1
        if same > (best.same if best else 0):
            best = Occurrence(at, same)
    return best
