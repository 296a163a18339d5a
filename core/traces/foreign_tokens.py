"""Read tokens with log-probabilities from other servers' answers, in several formats.

`foreign_formats.FORMATS` lists them; a stream is the list of its chunks.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ..decoding.by_engine.told import told_by
from ..decoding.errors import TraceError
from ..decoding.record.bounds import MAX_COUNT
from ..language import N_
from ..models.text.token_text import display_text
from .foreign_formats import JsonObject

MAX_TOP, MAX_TEXT = 1_000, 1_000
# llama.cpp writes about this number for log 0; others write minus infinity.
_LOWEST = -1e38
# OpenAI's completions write a partial character in this form.
_SPELLED = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)")


@dataclass(frozen=True, slots=True)
class ForeignToken:
    """A token from another server.

    Args:
        text: display text; bytes that form no whole character appear as `<F0>`.
        logprob: log-probability in nats; None if not given (a prompt's first token).
        top: the tokens named as most probable, with their log-probabilities, sorted.
        added: text that the token adds to the output; a character appears when it is complete.
        token_id: id in the other model's vocabulary; None if not given.
        top_ids: ids of the tokens in `top`; None for those that aren't given.
        given_rank: rank that the server names; None if it names none.
    """

    text: str
    logprob: float | None
    top: tuple[tuple[str, float], ...]
    added: str = ""
    token_id: int | None = None
    top_ids: tuple[int | None, ...] = ()
    given_rank: int | None = None

    @property
    def least_rank(self) -> int:
        """Lower bound of the token's rank (1 for the most probable)."""
        chosen = -math.inf if self.logprob is None else self.logprob
        return 1 + sum(logprob > chosen for _, logprob in self.top)

    @property
    def rank(self) -> int | None:
        """Rank of the token, 1 for the most probable; None if unknown.

        vLLM names the emitted token at any rank, so its presence proves nothing: the rank is known
        if a less probable token is named, or if the unnamed mass is below the token's probability.
        """
        if self.given_rank is not None:
            return self.given_rank
        if self.logprob is None or self.tail_mass is None:
            return None
        above = any(logprob < self.logprob for _, logprob in self.top)
        return self.least_rank if above or self.tail_mass < self.probability else None

    @property
    def probability(self) -> float:
        """Probability of the token; 0 if not given."""
        return 0.0 if self.logprob is None else math.exp(self.logprob)

    @property
    def tail_mass(self) -> float | None:
        """Probability mass of the tokens that were not named; None if no token was named."""
        if not self.top:
            return None
        return max(0.0, 1.0 - math.fsum(math.exp(lp) for _, lp in self.top))


class _Named(NamedTuple):
    """A token's bytes, with its log-probability, id and rank; None if not given."""

    raw: bytes
    logprob: float | None
    token_id: int | None = None
    rank: int | None = None


# An emitted token, and its named candidates.
_Place: TypeAlias = tuple[_Named, list[_Named]]


def tokens_of(bodies: Sequence[JsonObject]) -> Iterator[ForeignToken]:
    """Yield the tokens of an answer, or of all chunks of a stream.

    Raises:
        TraceError: a token or a log-probability is invalid.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for token, named in _places(bodies):
        top = [
            (display_text(entry.raw), entry.logprob, entry.token_id)
            for entry in named
            if entry.logprob is not None
        ]
        ranked = sorted(top, key=lambda entry: -entry[1])
        yield ForeignToken(
            display_text(token.raw),
            token.logprob,
            tuple((text, logprob) for text, logprob, _ in ranked),
            decoder.decode(token.raw),
            token.token_id,
            tuple(token_id for *_, token_id in ranked),
            token.rank,
        )


def objects(value: Any) -> list[JsonObject]:
    """Return the objects in a list; empty for any other value."""
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def _places(bodies: Sequence[JsonObject]) -> Iterator[_Place]:
    metas = [body["meta_info"] for body in bodies if isinstance(body.get("meta_info"), Mapping)]
    if metas:  # SGLang's `/generate`: lists of log-probability, id and text.
        # The last chunk of a stream holds all tokens, unless the stream is incremental.
        whole = metas[-1]
        count = len(_list(whole.get("output_token_logprobs")))
        for meta in [whole] if count == whole.get("completion_tokens") else metas:
            values, tops = _list(meta.get("output_token_logprobs")), meta.get("output_top_logprobs")
            for value, named in _together(values, tops):
                yield _triple(value), [_triple(item) for item in _list(named)[:MAX_TOP]]
        return
    if any("resps" in body for body in bodies):
        yield from map(_choices, bodies)
        return
    empty = True
    for place in _outside_responses(bodies):
        empty = False
        yield place
    # A stream of events ends with the whole response; some servers leave its items empty.
    for body in bodies if empty else ():
        response = body.get("response")
        for item in objects((response if isinstance(response, Mapping) else body).get("output")):
            for part in objects(item.get("content")):
                yield from map(_entry, objects(part.get("logprobs")))


def _outside_responses(bodies: Sequence[JsonObject]) -> Iterator[_Place]:
    """Yield the tokens of the first choice, or of a body without choices (Ollama, llama.cpp)."""
    first = next((c.get("index") for body in bodies for c in objects(body.get("choices"))), None)
    of_llama = any(objects(body.get("completion_probabilities")) for body in bodies)
    for body in bodies:
        if not str(body.get("type")).endswith(".done"):
            yield from map(_entry, objects(body.get("logprobs")))
        yield from (_of_llama(body) if of_llama else ())
        yield from _of_vllm(objects(body.get("outputs"))[:1])
        for choice in [c for c in objects(body.get("choices")) if c.get("index") == first][:1]:
            logprobs = choice.get("logprobs")
            if isinstance(logprobs, Mapping):
                yield from _without_drafted(body, map(_entry, objects(logprobs.get("content"))))
                yield from _legacy(logprobs)


def _of_llama(body: JsonObject) -> Iterator[_Place]:
    """Yield the tokens of an answer of llama.cpp, or of an event of its stream, which leaves the
    log-probability of a drafted token out."""
    entries = objects(body.get("completion_probabilities"))
    yield from _without_drafted(body, map(_entry, entries))
    token_ids, content = _list(body.get("tokens")), body.get("content")
    if not entries and (token_ids or content):
        yield _Named(_raw(content), None, _id(token_ids[0]) if token_ids else None), []


def _without_drafted(body: JsonObject, places: Iterator[_Place]) -> Iterator[_Place]:
    """Drop the numbers of drafted tokens: a whole answer of llama.cpp gives them the
    log-probability 0 and names no other token."""
    told = told_by(body.get("timings"))
    for token, named in places:
        drafted = told is not None and told.drafted and not named and token.logprob == 0.0
        yield (token._replace(logprob=None) if drafted else token), named


def _entry(entry: JsonObject) -> _Place:
    """Read an entry of OpenAI, Ollama or llama.cpp (`content`, `probs`: llama.cpp until 2024)."""
    lists = (objects(entry.get(key)) for key in ("top_logprobs", "top_probs", "probs"))
    named = [_named(item) for item in next(filter(None, lists), [])[:MAX_TOP]]
    if "probs" not in entry:
        return _named(entry), named
    raw = _raw(entry.get("content"))
    return _Named(raw, next((item.logprob for item in named if item.raw == raw), None)), named


def _named(entry: JsonObject) -> _Named:
    """Read one token with a log-probability or a probability (`post_sampling_probs`)."""
    prob = entry.get("prob")
    if "logprob" in entry or not isinstance(prob, float | int) or not 0 <= prob <= 1.01:
        logprob = _logprob(entry.get("logprob"))
    else:
        logprob = _logprob(math.log(prob) if prob else _LOWEST)
    text = entry["tok_str"] if "tok_str" in entry else entry.get("token")
    return _Named(_raw(text, entry.get("bytes")), logprob, _id(entry.get("id")))


def _id(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None


def _of_vllm(outputs: Sequence[JsonObject]) -> Iterator[_Place]:
    """Yield the tokens of a completion of vLLM: at each place the named tokens by id."""
    for output in outputs:
        places = output.get("logprobs")
        ids = _list(output.get("token_ids")) if isinstance(places, list) else []
        for token_id, place in _together(ids, places):
            named = dict(_by_id(place))
            if _id(token_id) not in named:
                raise TraceError(N_("A token of this answer is not among the tokens of its place."))
            yield named[token_id], list(named.values())


def _by_id(place: Any) -> Iterator[tuple[int, _Named]]:
    if not isinstance(place, Mapping):
        raise TraceError(N_("A place of this answer is no mapping from ids to log-probabilities."))
    for key, entry in [*place.items()][: MAX_TOP + 1]:
        token_id = _id(int(key) if str(key).isdecimal() and len(str(key)) < 12 else None)
        if token_id is None or not isinstance(entry, Mapping):
            raise TraceError(N_("A token of this answer has no id, or no log-probability."))
        if entry.get("decoded_token") is None:
            raise TraceError(
                N_(
                    "This answer of vLLM names its tokens by ids alone: leave "
                    "detokenize on, and open it again."
                )
            )
        rank = _id(entry.get("rank")) or None
        raw = _raw(entry["decoded_token"])
        yield token_id, _Named(raw, _logprob(entry.get("logprob")), token_id, rank)


def _choices(sample: JsonObject) -> _Place:
    """Read a question of lm-evaluation-harness: its choices are named, the likeliest came out."""
    arguments, named = sample.get("arguments"), []
    requests = list(arguments.values()) if isinstance(arguments, Mapping) else _list(arguments)
    for request, answers in _together(requests[:MAX_TOP], _list(sample.get("resps"))[:MAX_TOP]):
        parts = list(request.values()) if isinstance(request, Mapping) else _list(request)
        answer = _list(answers)[:1]
        pair = answer[0] if answer else None
        if len(parts) < 2 or not isinstance(pair, list) or len(pair) != 2:
            raise TraceError(
                N_(
                    "This samples file holds replies without log-likelihoods: open one "
                    "of a task that compares choices."
                )
            )
        named.append(_Named(_raw(parts[1]), _logprob(_number(pair[0]))))
    if not named:
        raise TraceError(N_("A question of this samples file has no choice."))
    return max(named, key=lambda choice: choice.logprob or 0.0), named


def _number(text: Any) -> Any:
    """Return the number in a text, as the harness writes it; else the value itself."""
    try:
        return float(text) if isinstance(text, str) and len(text) < 40 else text
    except ValueError:
        return text


def _legacy(logprobs: JsonObject) -> Iterator[_Place]:
    """Yield the tokens of OpenAI's completions, which have parallel lists."""
    texts, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(texts, list) or not isinstance(values, list):
        return
    for text, value, named in _together(texts, values, logprobs.get("top_logprobs")):
        pairs = list(named.items())[:MAX_TOP] if isinstance(named, Mapping) else []
        top = [_Named(_raw(key), _logprob(logprob)) for key, logprob in pairs]
        yield _Named(_raw(text), None if value is None else _logprob(value)), top


def _triple(value: Any) -> _Named:
    if not isinstance(value, list) or len(value) != 3:
        raise TraceError(N_("A token of this answer is no list of log-probability, id and text."))
    if value[2] is None:
        raise TraceError(
            N_(
                "This answer of SGLang names its tokens by ids alone: ask for "
                "return_text_in_logprobs and open it again."
            )
        )
    logprob = None if value[0] is None else _logprob(value[0])
    return _Named(_raw(value[2]), logprob, _id(value[1]))


def _together(values: list[Any], *others: Any) -> Iterator[tuple[Any, ...]]:
    """Zip lists of equal length; a missing last list yields None."""
    lists = [values, *others]
    if not isinstance(lists[-1], list):
        lists[-1] = [None] * len(values)
    if len(set(map(len, lists))) != 1:
        raise TraceError(N_("The lists of this answer's log-probabilities differ in length."))
    yield from zip(*lists, strict=True)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _raw(text: Any, given: Any = None) -> bytes:
    """Return a token's bytes: from the answer's list of bytes, else from its text."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise TraceError(N_("A token of this answer is no text, or a very long one."))
    values = given if isinstance(given, list) and len(given) <= 4 * MAX_TEXT else []
    if values and all(type(byte) is int and 0 <= byte < 256 for byte in values):
        return bytes(values)
    spelled = _SPELLED.fullmatch(text)
    if spelled:
        return bytes.fromhex(spelled[1].replace(r"\x", ""))
    return text.encode("utf-8", "replace")


def _logprob(value: Any) -> float:
    wrong = isinstance(value, bool) or not isinstance(value, int | float)
    if wrong or not value <= 0.01:
        raise TraceError(
            N_("A log-probability of this answer is no number from minus infinity to 0.")
        )
    return float(min(0.0, max(value, _LOWEST)))
