"""Patterns of a broken draft, recognised from the recorded numbers of a run.

`docs/drafts.md` has the rules and where their limits come from, `benchmarks/draft_patterns.py`
measures them. Draft and target have read the same tokens before each drafted one, so that their
unshaped probabilities there are comparable, whether it was reached or not.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Literal, NamedTuple, TypeAlias

from ...record.trace import Trace
from ..config import Speculative
from ..types import DraftRound, DraftToken, PairCandidate

PatternName: TypeAlias = Literal[
    "constant_draft", "constant_token", "late", "other_text", "other_start"
]

# Least number of rounds, and of different tokens before their drafts.
_ROUNDS, _CONTEXTS = 6, 4
# Constant distribution: number of tokens seen in several rounds, and largest spread of each.
_SHARED, _SPREAD = 5, 1e-3
# Constant token: least share of the rounds, largest acceptance rate.
_SAME, _ACCEPTED = 0.9, 0.2
# Late draft: least share of the rounds.
_LATE = 1 / 3
# Another text: number of rounds, least mean divergence and least mean overconfidence, nats.
_OTHER_ROUNDS, _APART, _OVERCONFIDENT = 12, 5.5, 5.0
# Another beginning: number of first rounds, least number of later ones, and by how much divergence
# and overconfidence are higher in the first ones, nats.
_FIRST, _LATER, _APART_MORE, _OVERCONFIDENT_MORE = 3, 5, 4.5, 2.0
# Stands for a probability of 0 in a logarithm.
_LEAST = 1e-9


class Contrast(NamedTuple):
    """Comparison of both models at one position, over its recorded candidates, in nats.

    Args:
        divergence: KL(target ‖ draft), the expected log-likelihood ratio for the target.
        excess: overconfidence: cross-entropy of the draft under the target minus the draft's own
            entropy; 0 in the mean for a calibrated draft.
    """

    divergence: float
    excess: float


class FirstDraft(NamedTuple):
    """First drafted token of a round.

    Args:
        before: the token before it.
        favourite: the draft's likeliest candidate.
    """

    before: int
    token: DraftToken
    favourite: PairCandidate


class Pattern(NamedTuple):
    """A recognised pattern with its evidence.

    Args:
        name: `constant_draft`: the draft's distribution is the same everywhere; `constant_token`:
            its first token is; `late`: it predicts the token that stands there already;
            `other_text`: it is sure of tokens to which the target gives almost nothing, in all
            rounds; `other_start`: in the first rounds.
        rounds: number of rounds that show it.
        of: number of rounds that it was looked for in.
        contexts: number of different tokens before the drafts.
        token: text of the token that the draft repeats, if it repeats one.
        accepted: number of these first tokens that were accepted.
        sure: median probability that the draft gives its own likeliest token.
        nats: mean divergence in these rounds.
        later: mean divergence in the other rounds.
    """

    name: PatternName
    rounds: int
    of: int
    contexts: int
    token: str = ""
    accepted: int = 0
    sure: float = 0.0
    nats: float = 0.0
    later: float = 0.0


def pattern_of(trace: Trace) -> Pattern | None:
    """Return the pattern of a run; None for a draft that shows none, that copies the text, or whose
    first tokens were all accepted.
    """
    source = trace.require(Speculative).config.source
    firsts = _first_drafts(trace)
    if not _is_judged(trace, firsts):
        return None
    if not source.draws:
        return _constant_token(firsts)
    contrasts = [contrasts_of(step) for step in trace.rounds if step.drafted]
    return (
        _constant_draft(firsts)
        or _constant_token(firsts)
        or _late(firsts)
        or _other_text(firsts, contrasts)
        or _other_start(firsts, contrasts)
    )


def is_judged(trace: Trace) -> bool:
    """Return whether a run has what the rules need, and a rejected first token."""
    return _is_judged(trace, _first_drafts(trace))


def _is_judged(trace: Trace, firsts: Sequence[FirstDraft]) -> bool:
    source = trace.require(Speculative).config.source
    rejects = any(first.token.outcome == "rejected" for first in firsts)
    enough = len(firsts) >= _ROUNDS and len({first.before for first in firsts}) >= _CONTEXTS
    return rejects and enough and not (source.from_text or source.from_rounds)


def contrasts_of(step: DraftRound) -> list[Contrast]:
    """Return the comparison at each position of a round; siblings share theirs."""
    return [_contrast(siblings[0].candidates) for siblings in step.siblings]


def _contrast(candidates: Iterable[PairCandidate]) -> Contrast:
    divergence = cross = entropy = 0.0
    target_mass = draft_mass = _LEAST
    for candidate in candidates:
        target, draft = candidate.target_raw_prob, candidate.draft_raw_prob or 0.0
        surprisal = -math.log(max(draft, _LEAST))
        if target > 0:
            divergence += target * (math.log(target) + surprisal)
        cross, entropy = cross + target * surprisal, entropy + draft * surprisal
        target_mass, draft_mass = target_mass + target, draft_mass + draft
    return Contrast(divergence, cross / target_mass - entropy / draft_mass)


def _mean(contrasts: Sequence[Contrast]) -> Contrast:
    return Contrast(
        fmean(contrast.divergence for contrast in contrasts),
        fmean(contrast.excess for contrast in contrasts),
    )


def _first_drafts(trace: Trace) -> list[FirstDraft]:
    firsts, before = [], trace.prompt_ids[-1] if trace.prompt_ids else -1
    for step in trace.rounds:
        if step.drafted and step.drafted[0].candidates:
            token = step.drafted[0]
            favourite = max(token.candidates, key=lambda c: c.draft_raw_prob or 0.0)
            firsts.append(FirstDraft(before, token, favourite))
        before = step.token_ids[-1] if step.token_ids else before
    return firsts


def _constant_draft(firsts: Sequence[FirstDraft]) -> Pattern | None:
    probs: dict[int, list[float]] = defaultdict(list)
    for first in firsts:
        for candidate in first.token.candidates:
            probs[candidate.token_id].append(candidate.draft_raw_prob or 0.0)
    shared = [values for values in probs.values() if len(values) > 1]
    spread = max((max(values) - min(values) for values in shared), default=1.0)
    # The favourite of a constant draft is a candidate in every round; an honest draft that is sure
    # of another token in each round shares only its tail.
    always = [min(values) for values in shared if len(values) == len(firsts)]
    highest = max((first.favourite.draft_raw_prob or 0.0 for first in firsts), default=1.0)
    spread = max(spread, highest - max(always, default=0.0))
    if len(shared) < _SHARED or spread > _SPREAD:
        return None
    favourites = Counter(first.favourite.text for first in firsts).most_common(1)
    repeats = favourites[0][1] == len(firsts)
    return _pattern("constant_draft", firsts, firsts, token=favourites[0][0] if repeats else "")


def _constant_token(firsts: Sequence[FirstDraft]) -> Pattern | None:
    token_id, count = Counter(first.token.token_id for first in firsts).most_common(1)[0]
    same = [first for first in firsts if first.token.token_id == token_id]
    accepted = sum(first.token.outcome == "accepted" for first in same)
    if count < _SAME * len(firsts) or accepted > _ACCEPTED * count:
        return None
    return _pattern("constant_token", firsts, same, token=same[0].token.text)


def _late(firsts: Sequence[FirstDraft]) -> Pattern | None:
    late = [first for first in firsts if first.favourite.token_id == first.before]
    if len(late) < _LATE * len(firsts) or len({first.before for first in late}) < _CONTEXTS:
        return None
    return _pattern("late", firsts, late)


def _other_text(
    firsts: Sequence[FirstDraft], contrasts: Sequence[Sequence[Contrast]]
) -> Pattern | None:
    mean = _mean([round_[0] for round_ in contrasts])
    if len(firsts) < _OTHER_ROUNDS or mean.divergence < _APART or mean.excess < _OVERCONFIDENT:
        return None
    return _pattern("other_text", firsts, firsts, nats=mean.divergence)


def _other_start(
    firsts: Sequence[FirstDraft], contrasts: Sequence[Sequence[Contrast]]
) -> Pattern | None:
    if len(contrasts) < _FIRST + _LATER:
        return None
    head = _mean([each for round_ in contrasts[:_FIRST] for each in round_])
    rest = _mean([each for round_ in contrasts[_FIRST:] for each in round_])
    if (
        head.divergence - rest.divergence < _APART_MORE
        or head.excess - rest.excess < _OVERCONFIDENT_MORE
    ):
        return None
    apart, later = head.divergence, rest.divergence
    return _pattern("other_start", firsts, firsts[:_FIRST], nats=apart, later=later)


def _pattern(
    name: PatternName,
    firsts: Sequence[FirstDraft],
    shown: Sequence[FirstDraft],
    *,
    token: str = "",
    nats: float = 0.0,
    later: float = 0.0,
) -> Pattern:
    return Pattern(
        name,
        len(shown),
        len(firsts),
        len({first.before for first in shown}),
        token,
        sum(first.token.outcome == "accepted" for first in shown),
        median(first.favourite.draft_raw_prob or 0.0 for first in shown),
        nats,
        later,
    )
