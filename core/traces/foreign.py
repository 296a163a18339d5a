"""Read another server's answer with log-probabilities.

The answers are untrusted: their size is limited, and each fault has a message of one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..decoding.by_engine.told import ToldSpeculation, told_in
from ..decoding.counting import counted
from ..decoding.errors import TraceError
from ..decoding.record.bounds import MAX_COUNT
from ..decoding.validation import shortened
from ..language import N_, Message
from .bounded_file import require_sparse
from .foreign_formats import FORMATS, ForeignFormat, JsonObject, format_of
from .foreign_tokens import ForeignToken, objects, tokens_of

MAX_TOKENS = 20_000
MAX_PROMPT = 100_000
MAX_BYTES = 5 * 2**20
# Limit on lists and objects; the densest answers have one for 25 bytes.
MAX_VALUES = 300_000
NO_LOGPROBS = "This answer holds no log-probabilities: ask for them ({}) and open it again."
UNKNOWN_FORMAT = f"This answer is none of the known formats ({', '.join(f.name for f in FORMATS)})."


# Object types that are no chunks of a stream.
_WHOLE = ("chat.completion", "response")


class UnknownFormatError(TraceError):
    """A file is no answer of a known format."""


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """An answer of another server.

    Args:
        format: its row in the table of formats.
        choices: number of choices in it; the tokens belong to the first.
        prompt, prompt_ids: empty where the answer doesn't hold them.
        finish: as the server names the end; empty if it doesn't.
        told: its own speculative decoding; None if the answer tells nothing of it.
    """

    model: str
    tokens: tuple[ForeignToken, ...]
    format: ForeignFormat
    choices: int = 1
    prompt: str = ""
    prompt_ids: tuple[int, ...] = ()
    finish: str = ""
    told: ToldSpeculation | None = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """Sentences on the limits of such an answer."""
        named = max((len(token.top) for token in self.tokens), default=0)
        beyond = sum(t.rank is None and t.logprob is not None for t in self.tokens)
        others = Message(
            "Each place names {tokens} at most: which tokens share the rest is not known, only how "
            "much it is.",
            tokens=counted(named, "token"),
        )
        ranks = Message(
            "The rank of {beyond} of {tokens} is not known: tokens that are not named may be more "
            "probable.",
            beyond=beyond,
            tokens=counted(len(self.tokens), "token"),
        )
        more = Message(
            "Of its {choices} choices the first is drawn; paste another one alone.",
            choices=self.choices,
        )
        return (
            *([more] if self.choices > 1 else []),
            others
            if named
            else N_("No place names its most probable tokens: ask for top_logprobs."),
            *([ranks] if beyond else []),
            N_(
                "Whether the numbers are the model's own or those after temperature and filters, "
                "only the server can say."
            ),
            Message(
                "This is {format}. {lacks}",
                format=Message(self.format.name),
                lacks=Message(self.format.lacks),
            ),
            N_(
                "Settings, seed and draws are not in the answer, so that nothing of it can be "
                "proved."
            ),
        )


def read_foreign(raw: bytes | str) -> ForeignAnswer:
    """Return the answer in a JSON text or in a stream of JSON lines or events.

    Raises:
        TraceError: no JSON, no known format, or no log-probabilities.
    """
    if len(raw) > MAX_BYTES:
        raise TraceError(
            Message("The answer holds more than {max_bytes} MB.", max_bytes=MAX_BYTES // 2**20)
        )
    data = _values(raw)
    bodies = objects(data)
    if not bodies or len(bodies) < len(data):
        raise UnknownFormatError(
            N_("The answer is not the JSON object of an API, nor a list of them.")
        )
    kind = format_of(bodies)
    alone = _is_one(bodies)
    tokens = []
    for token in tokens_of(bodies if alone else bodies[:1]):
        tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            raise TraceError(
                Message("The answer holds more than {max_tokens:,} tokens.", max_tokens=MAX_TOKENS)
            )
    if not tokens:
        error = bodies[-1].get("error")
        sentence = error.get("message") if isinstance(error, Mapping) else error
        if isinstance(sentence, str) and sentence:
            raise TraceError(Message("The server refused: {shown}", shown=shortened(sentence, 200)))
        if kind is None:
            raise UnknownFormatError(UNKNOWN_FORMAT)
        raise TraceError(NO_LOGPROBS.format(kind.ask))
    assert kind is not None  # Tokens are found in known formats alone.
    model = next((name for body in bodies if isinstance(name := body.get("model"), str)), "")
    choices = max(len(objects(body.get("choices"))) for body in bodies)
    choices = max(choices, *(len(objects(body.get("outputs"))) for body in bodies))
    return ForeignAnswer(
        shortened(model, 100),
        tuple(tokens),
        kind,
        max(1, choices if alone else len(bodies)),
        *_prompt_of(bodies[0]),
        _end_of(bodies if alone else bodies[:1]),
        next(filter(None, map(told_in, reversed(bodies if alone else bodies[:1]))), None),
    )


def answers_in(raw: bytes) -> list[bytes]:
    """Return the answers in a file: the file itself if it is one answer or its stream.

    Raises:
        TraceError: neither JSON text nor a stream of it, or more than is read.
    """
    if len(raw) > MAX_BYTES:
        raise TraceError(
            Message("The answers hold more than {max_bytes} MB.", max_bytes=MAX_BYTES // 2**20)
        )
    values = _values(raw)
    if _is_one(objects(values)):
        return [raw]
    return [json.dumps(value).encode() for value in values]


def _prompt_of(body: JsonObject) -> tuple[str, tuple[int, ...]]:
    """Return the prompt of an answer that holds it, with its ids if those are given too."""
    text, ids = body.get("prompt"), body.get("prompt_token_ids")
    listed = ids if isinstance(ids, list) and len(ids) <= MAX_TOKENS else []
    whole = all(type(token) is int and 0 <= token <= MAX_COUNT for token in listed)
    text = text if isinstance(text, str) and len(text) <= MAX_PROMPT else ""
    return text, tuple(listed) if whole and text else ()


def _end_of(bodies: Sequence[JsonObject]) -> str:
    """Return the server's name of the answer's end; empty if it gives none."""
    names = ("finish_reason", "stop_type", "done_reason", "stop_reason")
    for body in reversed(bodies):
        places = [body, *objects(body.get("choices"))[:1], *objects(body.get("outputs"))[:1]]
        meta = body.get("meta_info")
        places += [meta] if isinstance(meta, Mapping) else []
        for place, name in product(places, names):
            value = place.get(name)
            value = value.get("type") if isinstance(value, Mapping) else value
            if isinstance(value, str) and value and value != "none":
                return shortened(value, 40)
    return ""


def _values(raw: bytes | str) -> list[Any]:
    """Return the JSON values: a single one, the items of a list, or the lines of a stream."""
    require_sparse(raw, Message("answer"), TraceError, MAX_VALUES)
    try:
        whole = json.loads(raw)
    except (ValueError, RecursionError):
        return _lines(raw)
    return whole if isinstance(whole, list) else [whole]


def _lines(raw: bytes | str) -> list[Any]:
    """Return the values of a stream: NDJSON lines, or `data:` lines (server-sent events)."""
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    # Not splitlines: it would also split at characters that JSON strings may hold.
    lines = [line.strip(" \t\ufeff") for line in text.replace("\r", "\n").split("\n")]
    events = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    plain = [line for line in lines if line]
    try:
        values = [json.loads(line) for line in events or plain if line != "[DONE]"]
    except (ValueError, RecursionError):
        values = []
    if not values:
        raise UnknownFormatError(N_("The answer is neither JSON text nor a stream of it."))
    return values


def _is_one(bodies: Sequence[JsonObject]) -> bool:
    """Return True if the bodies are one answer or its chunks, not several answers."""
    if any("resps" in body for body in bodies):
        return True
    metas = [body["meta_info"] for body in bodies if isinstance(body.get("meta_info"), Mapping)]
    if metas:
        return len({str(meta.get("id")) for meta in metas}) == 1
    whole = [b for b in bodies if b.get("stop") is True or b.get("object") in _WHOLE]
    return len(bodies) == 1 or len(whole) < len(bodies)
