"""Log-probabilities in requests and answers; no torch."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ....decoding.protocol import Vocabulary

# OpenAI's log-probability for a probability of 0.
NEVER = -9999.0
# Limit on entries of an answer: a whole vocabulary of 4,096 tokens at 48 positions.
MAX_ENTRIES = 200_000


class TokenLogprobs(NamedTuple):
    """Log-probabilities of a token, and of the most probable tokens at its position, in nats."""

    token_id: int
    logprob: float
    top_ids: tuple[int, ...]
    top: tuple[float, ...]


def entry_of(vocabulary: Vocabulary, token: TokenLogprobs) -> dict[str, Any]:
    """Return a position in the form of chat and responses; `token_id` is not in OpenAI's API."""
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
    """Return a prompt position in vLLM's form, by token id: the token and the top candidates."""
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
    """Positions in the form of completions, in four lists; each call continues the text offset.

    Args:
        ids_as_text: write a token as `token_id:383`, as vLLM can.
    """

    def __init__(self, vocabulary: Vocabulary, *, ids_as_text: bool) -> None:
        self._vocabulary = vocabulary
        self._text_of = "token_id:{}".format if ids_as_text else vocabulary.token_text
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._offset = 0

    def lists(self, tokens: Sequence[TokenLogprobs | int]) -> dict[str, list[Any]]:
        """Return the next tokens as lists; a bare id, such as a prompt's first, has no numbers."""
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
            # Counted in characters: the bytes of one may be spread over tokens.
            self._offset += len(self._decoder.decode(self._vocabulary.token_bytes(token_id)))
        return lists

    def _top(self, token: TokenLogprobs) -> dict[str, float]:
        """Return log-probabilities by text, including the token's own.

        Of two tokens with the same text, the more probable one counts.
        """
        top: dict[str, float] = {}
        for token_id, logprob in zip(token.top_ids, token.top, strict=True):
            top.setdefault(self._text_of(token_id), logprob)
        top.setdefault(self._text_of(token.token_id), token.logprob)
        return top
