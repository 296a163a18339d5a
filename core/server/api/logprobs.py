"""Log-probabilities as requests ask for them and as answers write them; no torch."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from core.decoding.protocol import Vocabulary

Mode: TypeAlias = Literal["raw", "final"]
MODES: tuple[Mode, ...] = ("raw", "final")
# What OpenAI's API writes for a probability of 0.
NEVER = -9999.0
# Entries of one answer: a whole vocabulary of 4,096 tokens at 48 positions.
MAX_ENTRIES = 200_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which log-probabilities a request asks for.

    Args:
        top: the most probable tokens of each position; -1 for the whole vocabulary.
        mode: `raw` of the model itself, `final` of what was drawn from.
    """

    top: int = 0
    mode: Mode = "raw"

    def count(self, vocab_size: int) -> int:
        """How many tokens stand at a position."""
        return vocab_size if self.top < 0 else min(self.top, vocab_size)


class TokenLogprobs(NamedTuple):
    """A token's log-probability and those of the most probable tokens at its place, in nats."""

    token_id: int
    logprob: float
    top_ids: tuple[int, ...]
    top: tuple[float, ...]


def entry_of(vocabulary: Vocabulary, token: TokenLogprobs) -> dict[str, Any]:
    """A position as chat and responses have it; `token_id` is an addition of ours."""
    top = zip(token.top_ids, token.top, strict=True)
    return {
        **_token(vocabulary, token.token_id, token.logprob),
        "top_logprobs": [_token(vocabulary, token_id, logprob) for token_id, logprob in top],
    }


def _token(vocabulary: Vocabulary, token_id: int, logprob: float) -> dict[str, Any]:
    return {
        "token": vocabulary.token_text(token_id),
        "bytes": list(vocabulary.token_bytes(token_id)),
        "logprob": logprob,
        "token_id": token_id,
    }


def prompt_entry(vocabulary: Vocabulary, token: TokenLogprobs, rank: int) -> dict[str, Any]:
    """A token of a prompt as vLLM has it, by token id: itself and the most probable ones."""
    top = zip(token.top_ids, token.top, strict=True)
    rows = [(token.token_id, token.logprob, rank), *((*one, at) for at, one in enumerate(top, 1))]
    return {
        str(token_id): {
            "logprob": logprob,
            "rank": place,
            "decoded_token": _written(vocabulary, token_id),
        }
        for token_id, logprob, place in rows
    }


def _written(vocabulary: Vocabulary, token_id: int) -> str:
    raw = vocabulary.token_bytes(token_id)
    return raw.decode("utf-8", "replace") if raw else vocabulary.token_text(token_id)


class LegacyLogprobs:
    """Positions as completions have them, in four lists; goes on where the last call ended.

    Args:
        text_of: a token as it is written there.
    """

    def __init__(self, vocabulary: Vocabulary, text_of: Callable[[int], str]) -> None:
        self._vocabulary, self._text_of = vocabulary, text_of
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._offset = 0

    def lists(self, tokens: Sequence[TokenLogprobs | int]) -> dict[str, list[Any]]:
        """The next tokens; an id alone is a token without numbers, the first of a prompt."""
        own = [None if isinstance(token, int) else token for token in tokens]
        ids = [token if isinstance(token, int) else token.token_id for token in tokens]
        return {
            "tokens": [self._text_of(token_id) for token_id in ids],
            "token_logprobs": [token and token.logprob for token in own],
            "top_logprobs": [token and self._top(token) for token in own],
            "text_offset": [self._pass(token_id) for token_id in ids],
        }

    def _top(self, token: TokenLogprobs) -> dict[str, float]:
        """Return log-probabilities by text, the token's own among them.

        Of two tokens that are written alike the more probable one counts.
        """
        top: dict[str, float] = {}
        for token_id, logprob in zip(token.top_ids, token.top, strict=True):
            top.setdefault(self._text_of(token_id), logprob)
        top.setdefault(self._text_of(token.token_id), token.logprob)
        return top

    def _pass(self, token_id: int) -> int:
        """Where a token's text begins, in characters."""
        before = self._offset
        self._offset += len(self._decoder.decode(self._vocabulary.token_bytes(token_id)))
        return before
