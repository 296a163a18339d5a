"""Answers of other servers with log-probabilities: what they say of each token, and no more.

Reads what OpenAI-shaped APIs return: chat completions, completions and responses. The bodies are
strangers': they are bounded and checked, and a wrong one gets one sentence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.decoding.counting import counted
from core.decoding.errors import TraceError
from core.decoding.validation import shortened

MAX_TOKENS, MAX_TOP, MAX_TEXT = 20_000, 1_000, 1_000
MAX_BYTES = 5 * 2**20
# llama.cpp says about this for the logarithm of 0, others say minus infinity.
_LOWEST = -1e38
NO_LOGPROBS = (
    "This answer holds no log-probabilities: ask for them (logprobs and top_logprobs, of responses "
    "include=message.output_text.logprobs) and open it again."
)


@dataclass(frozen=True, slots=True)
class ForeignToken:
    """A token of another server.

    Args:
        logprob: nats; None where it wasn't given (a prompt's first token).
        top: the tokens that it named as the most probable, by their log-probabilities.
    """

    text: str
    logprob: float | None
    top: tuple[tuple[str, float], ...]

    @property
    def least_rank(self) -> int:
        """It is this one (1 for the most probable) or a later one."""
        own = -math.inf if self.logprob is None else self.logprob
        return 1 + sum(logprob > own for _, logprob in self.top)

    @property
    def rank(self) -> int | None:
        """1 for the most probable; None where it isn't known.

        vLLM names the token that came out whatever its rank, so that being named says nothing: it
        is known where a token below it is named, or where those that aren't named are too few.
        """
        if self.logprob is None or self.tail_mass is None:
            return None
        above = any(logprob < self.logprob for _, logprob in self.top)
        return self.least_rank if above or self.tail_mass < self.probability else None

    @property
    def probability(self) -> float:
        """0 where it wasn't given."""
        return 0.0 if self.logprob is None else math.exp(self.logprob)

    @property
    def tail_mass(self) -> float | None:
        """The probability of all tokens that were not named, as far as the numbers tell."""
        if not self.top:
            return None
        return max(0.0, 1.0 - math.fsum(math.exp(lp) for _, lp in self.top))


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """An answer of another server.

    Args:
        choices: how many it holds; the tokens are the first one's.
    """

    model: str
    tokens: tuple[ForeignToken, ...]
    choices: int = 1

    @property
    def unknown(self) -> tuple[str, ...]:
        """What such an answer can't tell, in sentences."""
        named = max((len(token.top) for token in self.tokens), default=0)
        beyond = sum(t.rank is None and t.logprob is not None for t in self.tokens)
        others = (
            f"Each place names {counted(named, 'token')} at most: which tokens share the rest is "
            "not known, only how much it is."
        )
        ranks = (
            f"The rank of {beyond} of {counted(len(self.tokens), 'token')} is not known: tokens "
            "that are not named may be more probable."
        )
        more = f"Of its {self.choices} choices the first is drawn; paste another one alone."
        return (
            *([more] if self.choices > 1 else []),
            others if named else "No place names its most probable tokens: ask for top_logprobs.",
            *([ranks] if beyond else []),
            "Whether the numbers are the model's own or those after temperature and filters, only "
            "the server can say.",
            "Settings, seed and draws are not in the answer, so that nothing of it can be proved.",
        )


def read_foreign(raw: bytes | str) -> ForeignAnswer:
    """The tokens of an answer.

    Raises:
        TraceError: no JSON, no such answer, or one without log-probabilities.
    """
    if len(raw) > MAX_BYTES:
        raise TraceError(f"The answer holds more than {MAX_BYTES // 2**20} MB.")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        raise TraceError("The answer is not JSON text.") from None
    if not isinstance(data, Mapping):
        raise TraceError("The answer is not the JSON object of an OpenAI-shaped API.")
    tokens = []
    for token in _tokens(data):
        tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            raise TraceError(f"The answer holds more than {MAX_TOKENS:,} tokens.")
    if not tokens:
        raise TraceError(NO_LOGPROBS)
    model = data.get("model")
    named = shortened(model, 100) if isinstance(model, str) else ""
    return ForeignAnswer(named, tuple(tokens), max(1, len(_objects(data.get("choices")))))


def _tokens(data: Mapping[str, Any]) -> Iterator[ForeignToken]:
    """Of the first choice, or of every part of a response's messages."""
    for item in _objects(data.get("output")):
        for part in _objects(item.get("content")):
            yield from map(_entry, _objects(part.get("logprobs")))
    for choice in _objects(data.get("choices"))[:1]:
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, Mapping):
            yield from map(_entry, _objects(logprobs.get("content")))
            yield from _legacy(logprobs)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, Mapping)]


def _entry(entry: Mapping[str, Any]) -> ForeignToken:
    named = _objects(entry.get("top_logprobs")) or _objects(entry.get("top_probs"))
    own, *top = [(_text(one.get("token")), _given(one)) for one in (entry, *named[:MAX_TOP])]
    return ForeignToken(*own, _ranked(top))


def _legacy(logprobs: Mapping[str, Any]) -> Iterator[ForeignToken]:
    texts, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    tops = logprobs.get("top_logprobs")
    if not isinstance(texts, list) or not isinstance(values, list):
        return
    tops = tops if isinstance(tops, list) else [None] * len(texts)
    if not len(texts) == len(values) == len(tops):
        raise TraceError("The lists of this answer's log-probabilities differ in length.")
    for text, value, named in zip(texts, values, tops, strict=True):
        pairs = list(named.items())[:MAX_TOP] if isinstance(named, Mapping) else []
        top = _ranked([(_text(key), _logprob(own)) for key, own in pairs])
        yield ForeignToken(_text(text), None if value is None else _logprob(value), top)


def _ranked(top: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(top, key=lambda one: -one[1]))


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise TraceError("A token of this answer is no text, or a very long one.")
    return value.encode("utf-8", "replace").decode()


def _given(entry: Mapping[str, Any]) -> float:
    """A log-probability, or a probability as llama.cpp gives them with `post_sampling_probs`."""
    prob = entry.get("prob")
    if "logprob" in entry or not isinstance(prob, float | int) or not 0 <= prob <= 1.01:
        return _logprob(entry.get("logprob"))
    return _logprob(math.log(prob) if prob else _LOWEST)


def _logprob(value: Any) -> float:
    wrong = isinstance(value, bool) or not isinstance(value, int | float)
    if wrong or not value <= 0.01:
        raise TraceError("A log-probability of this answer is no number from minus infinity to 0.")
    return float(min(0.0, max(value, _LOWEST)))
