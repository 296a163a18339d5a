"""Log-probabilities as requests ask for them and as answers write them; no torch."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from core.decoding.protocol import Vocabulary

# What OpenAI's API writes for a probability of 0.
NEVER = -9999.0
# Entries of one answer: a whole vocabulary of 4,096 tokens at 48 positions.
MAX_ENTRIES = 200_000


class TokenLogprobs(NamedTuple):
    """A token's log-probability and those of the most probable tokens at its place, in nats."""

    token_id: int
    logprob: float
    top_ids: tuple[int, ...]
    top: tuple[float, ...]


def entry_of(vocabulary: Vocabulary, token: TokenLogprobs) -> dict[str, Any]:
    """Return a position as chat and responses have it; `token_id` is an addition of ours."""
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
    """Return a prompt's token as vLLM has it, by token id: itself and the most probable ones."""
    top = zip(token.top_ids, token.top, strict=True)
    rows = [
        (token.token_id, token.logprob, rank),
        *((*entry, at) for at, entry in enumerate(top, 1)),
    ]
    return {
        str(token_id): {
            "logprob": logprob,
            "rank": place,
            "decoded_token": vocabulary.token_bytes(token_id).decode("utf-8", "replace")
            or vocabulary.token_text(token_id),
        }
        for token_id, logprob, place in rows
    }


class LegacyLogprobs:
    """Positions as completions have them, in four lists; goes on where the last call ended.

    Args:
        ids_as_text: write a token as `token_id:383`, as vLLM can.
    """

    def __init__(self, vocabulary: Vocabulary, *, ids_as_text: bool) -> None:
        self._vocabulary = vocabulary
        self._text_of = "token_id:{}".format if ids_as_text else vocabulary.token_text
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._offset = 0

    def lists(self, tokens: Sequence[TokenLogprobs | int]) -> dict[str, list[Any]]:
        """Return the next tokens; an id alone is a token without numbers, the first of a prompt."""
        lists: dict[str, list[Any]] = {
            name: [] for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset")
        }
        for token in tokens:
            token_id = token if isinstance(token, int) else token.token_id
            scored = None if isinstance(token, int) else token
            lists["tokens"].append(self._text_of(token_id))
            lists["token_logprobs"].append(scored and scored.logprob)
            lists["top_logprobs"].append(scored and self._top(scored))
            lists["text_offset"].append(self._offset)
            # In characters: bytes of one may be spread over tokens.
            self._offset += len(self._decoder.decode(self._vocabulary.token_bytes(token_id)))
        return lists

    def _top(self, token: TokenLogprobs) -> dict[str, float]:
        """Return log-probabilities by text, the token's own among them.

        Of two tokens that are written alike the more probable one counts.
        """
        top: dict[str, float] = {}
        for token_id, logprob in zip(token.top_ids, token.top, strict=True):
            top.setdefault(self._text_of(token_id), logprob)
        top.setdefault(self._text_of(token.token_id), token.logprob)
        return top
