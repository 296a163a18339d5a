"""Patterns of a broken draft, recognised from the recorded numbers of a run.

`docs/drafts.md` has the rules and where their limits come from. Each rule reads the first drafted
token of every round: all tokens before it were emitted, so draft and target have the same text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

from ...record.trace import Trace
from ..config import Speculative
from ..types import DraftToken, PairCandidate

PatternName: TypeAlias = Literal["constant_draft", "constant_token", "other_text", "other_start"]

# Least number of rounds, and of different tokens before their drafts.
_ROUNDS, _CONTEXTS = 6, 4
# Constant distribution: number of tokens seen in several rounds, and largest spread of each.
_SHARED, _SPREAD = 5, 1e-3
# Constant token: least share of the rounds, largest acceptance rate.
_SAME, _ACCEPTED = 0.9, 0.2
# Another text: largest overlap in nine of ten rounds, and how sure the draft is of its own token.
_OTHER_ROUNDS, _NOTHING, _SURE = 8, 0.02, 0.5
# Another beginning: number of first rounds without overlap, and the later ones' number and median.
_FIRST, _LATER, _RECOVERED = 2, 5, 0.3


class FirstDraft(NamedTuple):
    """First drafted token of a round.

    Args:
        before: the token before it.
        overlap: sum of min(target, draft) over the candidates, both unshaped; 0 if the source has
            no distribution.
        favourite: the draft's likeliest candidate.
    """

    before: int
    token: DraftToken
    overlap: float
    favourite: PairCandidate


class Pattern(NamedTuple):
    """A recognised pattern with its evidence.

    Args:
        name: `constant_draft`: the draft's distribution is the same everywhere; `constant_token`:
            its first token is; `other_text`: it gives almost nothing to the target's tokens in any
            round; `other_start`: in the first rounds only.
        rounds: number of rounds that show it.
        of: number of rounds that it was looked for in.
        contexts: number of different tokens before the drafts.
        token: text of the token that the draft repeats, if it repeats one.
        accepted: number of these first tokens that were accepted.
        sure: median probability that the draft gives its own likeliest token.
        overlap: largest overlap in these rounds.
        later: median overlap of the other rounds.
    """

    name: PatternName
    rounds: int
    of: int
    contexts: int
    token: str
    accepted: int
    sure: float
    overlap: float
    later: float


def pattern_of(trace: Trace) -> Pattern | None:
    """Return the pattern of a run; None for a draft that shows none, that copies the text, or whose
    first tokens were all accepted.
    """
    source = trace.require(Speculative).config.source
    firsts = _first_drafts(trace)
    rejects = any(first.token.outcome == "rejected" for first in firsts)
    if source.from_text or source.from_rounds or not rejects:
        return None
    found = _constant_token(firsts)
    if source.draws:
        found = _constant_draft(firsts) or found or _other_text(firsts) or _other_start(firsts)
    return found


def _first_drafts(trace: Trace) -> list[FirstDraft]:
    firsts, before = [], trace.prompt_ids[-1] if trace.prompt_ids else -1
    for step in trace.rounds:
        if step.drafted and step.drafted[0].candidates:
            token = step.drafted[0]
            overlap = sum(min(c.target_raw_prob, c.draft_raw_prob or 0) for c in token.candidates)
            favourite = max(token.candidates, key=lambda c: c.draft_raw_prob or 0.0)
            firsts.append(FirstDraft(before, token, overlap, favourite))
        before = step.token_ids[-1] if step.token_ids else before
    return firsts


def _enough(firsts: list[FirstDraft]) -> bool:
    return len(firsts) >= _ROUNDS and len({first.before for first in firsts}) >= _CONTEXTS


def _constant_draft(firsts: list[FirstDraft]) -> Pattern | None:
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
    if not _enough(firsts) or len(shared) < _SHARED or spread > _SPREAD:
        return None
    favourites = Counter(first.favourite.text for first in firsts).most_common(1)
    repeats = favourites[0][1] == len(firsts)
    return _pattern("constant_draft", firsts, firsts, token=favourites[0][0] if repeats else "")


def _constant_token(firsts: list[FirstDraft]) -> Pattern | None:
    if not _enough(firsts):
        return None
    token_id, count = Counter(first.token.token_id for first in firsts).most_common(1)[0]
    same = [first for first in firsts if first.token.token_id == token_id]
    accepted = sum(first.token.outcome == "accepted" for first in same)
    if count < _SAME * len(firsts) or accepted > _ACCEPTED * count:
        return None
    return _pattern("constant_token", firsts, same, token=same[0].token.text)


def _other_text(firsts: list[FirstDraft]) -> Pattern | None:
    if len(firsts) < _OTHER_ROUNDS or not _enough(firsts):
        return None
    none = [first for first in firsts if first.overlap < _NOTHING]
    sure = median(first.favourite.draft_raw_prob or 0.0 for first in firsts)
    if len(none) < 0.9 * len(firsts) or sure < _SURE:
        return None
    return _pattern("other_text", firsts, none)


def _other_start(firsts: list[FirstDraft]) -> Pattern | None:
    head, rest = firsts[:_FIRST], firsts[_FIRST:]
    if len(rest) < _LATER or any(first.overlap >= _NOTHING for first in head):
        return None
    later = median(first.overlap for first in rest)
    return _pattern("other_start", firsts, head, later=later) if later >= _RECOVERED else None


def _pattern(
    name: PatternName,
    firsts: list[FirstDraft],
    shown: list[FirstDraft],
    *,
    token: str = "",
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
        max(first.overlap for first in shown),
        later,
    )
