"""Window of lookahead decoding (Fu et al. 2024) and the n-grams that it gives; torch-free.

The rules are those of the authors' code (hao-ai-lab/LookaheadDecoding, `lade/decoding.py`, with
`ALWAYS_FWD_ONE=1` and `POOL_FROM_PROMPT=0`). Their first guesses are random tokens of the prompt;
here they are its tokens in order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from ...record.bounds import Bounds, TokenId

if TYPE_CHECKING:
    from ..config import Speculative

Levels: TypeAlias = tuple[tuple[int, ...], ...]
_ROW = Bounds(max_length=128)


class GuessWindow(NamedTuple):
    """Lookahead branch of a round: guessed tokens that the target's forward read beside the drafts.

    Args:
        levels: guessed tokens, level by level. Those of the first level follow the last emitted
            token one after the other, and give it and themselves a column each. A token of a later
            level follows the token of its column in the level before.
        predicted: the target's most probable token after each token of the last level.
    """

    levels: Annotated[
        tuple[Annotated[tuple[TokenId, ...], _ROW], ...], Bounds(min_length=1, max_length=64)
    ]
    predicted: Annotated[tuple[TokenId, ...], _ROW]

    @property
    def size(self) -> int:
        """Number of guessed tokens."""
        return sum(map(len, self.levels))

    @property
    def reach(self) -> int:
        """Number of positions after the last emitted token that the guesses take."""
        return max(depth for depth, _ in places(self.levels)) + 1


def window_reach(config: Speculative) -> int:
    """Return the number of positions that a window takes, which stays the same in a run."""
    return config.lookahead_window + config.draft_length - 2


def first_levels(prompt_ids: Sequence[int], config: Speculative) -> Levels:
    """Return the guesses of the first round."""
    return (tuple(filler(prompt_ids, at) for at in range(window_reach(config))),)


def moved(
    window: GuessWindow, prompt_ids: Sequence[int], config: Speculative, eos_ids: Collection[int]
) -> Levels:
    """Return the next round's guesses: a new level from the predictions, or, if all levels are
    there, the later levels one level up.

    Args:
        eos_ids: predicted ends, which guesses of the text's own tokens replace.
    """
    levels, predicted = window
    if is_full(levels, config):
        kept = (
            filler(prompt_ids, at) if token_id in eos_ids else token_id
            for at, token_id in enumerate(predicted)
        )
        return (levels[1][1:], *levels[2:], tuple(kept))
    if len(levels) == 1:
        return (levels[0][1:], predicted)
    return (*(level[1:] for level in levels), predicted[1:])


def is_whole(window: GuessWindow, config: Speculative) -> bool:
    """Return whether each level has its columns, and each token of the last one a prediction."""
    levels, predicted = window
    columns = window_reach(config) + 2 - len(levels)
    lengths = [columns - 1, *[columns] * (len(levels) - 1)]
    same = [*map(len, levels), len(predicted)] == [*lengths, lengths[-1]]
    return same and len(levels) <= config.draft_length


def is_full(levels: Levels, config: Speculative) -> bool:
    """Return whether every level is there: an n-gram is whole with the prediction."""
    return len(levels) == config.draft_length


def parents_of(levels: Levels) -> list[int]:
    """Return the parent of each guess among the guesses; -1 for the last emitted token."""
    return [parent for _, parent in places(levels)]


def places(levels: Levels) -> list[tuple[int, int]]:
    """Return the position, from 0, and the parent of each guess; -1 for the last emitted token."""
    first = len(levels[0])
    places = [(at, at - 1) for at in range(first)]
    # The first column of the second level follows the last emitted token.
    above = range(-1, first)
    for level, tokens in enumerate(levels[1:], 1):
        begin = len(places)
        places += [(level + at - 1, above[at]) for at in range(len(tokens))]
        above = range(begin, begin + len(tokens))
    return places


def filler(prompt_ids: Sequence[int], at: int) -> int:
    """Return the guess of a column that has no prediction: the prompt's tokens in order."""
    return prompt_ids[at % len(prompt_ids)]


class NgramPool:
    """The last n-grams after each token: at most `lookahead_guesses`, the newest last."""

    def __init__(self, config: Speculative) -> None:
        self._config = config
        self._ngrams: dict[int, list[tuple[int, ...]]] = {}

    def after(self, token_id: int) -> list[tuple[int, ...]]:
        """Return the continuations of a token."""
        return self._ngrams.get(token_id, [])

    def gather(self, last_id: int, window: GuessWindow) -> None:
        """Take in the n-grams of a window that follows `last_id`, one for each column."""
        levels, predicted = window
        if not is_full(levels, self._config):
            return
        heads = (last_id, *levels[0])
        for head, *rest in zip(heads, *levels[1:], predicted, strict=True):
            ngrams, ngram = self._ngrams.setdefault(head, []), tuple(rest)
            if ngram in ngrams:
                ngrams.remove(ngram)
            ngrams.append(ngram)
            del ngrams[: -self._config.lookahead_guesses]
