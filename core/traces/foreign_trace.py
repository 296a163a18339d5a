"""Trace of another tool's answer: a run by the engine, with what the answer doesn't tell as a note.

Ranks of tokens that aren't named, the size of the vocabulary and entropies are lower bounds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from ..decoding.by_engine.config import ByEngine
from ..decoding.by_engine.told import record_of
from ..decoding.config import MAX_CANDIDATES, Ended
from ..decoding.counting import sentences
from ..decoding.errors import TraceError
from ..decoding.loop.recording import least_entropy_of
from ..decoding.record.notes import FOREIGN_ANSWER, Note
from ..decoding.record.steps import (
    Candidate,
    Draw,
    FinishReason,
    Stage,
    StepSeconds,
    TokenStep,
)
from ..decoding.record.trace import Timings, Trace
from ..language import Message
from .foreign import MAX_BYTES, ForeignAnswer, UnknownFormatError, read_foreign

_HEAD = 200
_ENDS: dict[str, Ended] = {
    **dict.fromkeys(("stop", "eos", "end_turn"), "eos"),
    **dict.fromkeys(("length", "limit", "max_tokens"), "length"),
}


def from_answer(answer: Any) -> Trace:
    """Return the trace of another tool's answer with log-probabilities.

    Args:
        answer: its JSON text, bytes or values; or the tool's own object: vLLM's `RequestOutput`,
            an answer of the clients of OpenAI and Ollama, or a list of these.

    Raises:
        TraceError: an unknown format, or an answer without log-probabilities.

    Example:
        >>> token = {"token": " blue", "logprob": -0.5, "bytes": list(b" blue")}
        >>> token["top_logprobs"] = [dict(token)]
        >>> message = {"role": "assistant", "content": " blue"}
        >>> choice = {"message": message, "logprobs": {"content": [token]}, "finish_reason": "stop"}
        >>> answer = {"object": "chat.completion", "model": "any", "choices": [choice]}
        >>> from_answer(answer).text
        ' blue'
    """
    if isinstance(answer, str | bytes):
        return trace_of_answer(read_foreign(answer))
    try:
        text = json.dumps(_plain(answer))
    except (TypeError, ValueError, RecursionError):
        raise TraceError(
            Message(
                "An answer is JSON or an object of its tool, got {name}.",
                name=type(answer).__name__,
            )
        ) from None
    return trace_of_answer(read_foreign(text))


def read_answer(data: bytes) -> Trace | None:
    """Return the trace of a file with another tool's answer; None for any other file.

    Raises:
        TraceError: a known format that holds no log-probabilities.
    """
    # Files of this project begin with their schema.
    if len(data) > MAX_BYTES or b'"schema"' in data[:_HEAD]:
        return None
    try:
        return trace_of_answer(read_foreign(data))
    except UnknownFormatError:
        return None


def _plain(value: Any) -> Any:
    """Return JSON values of a tool's object: of pydantic, a dataclass, or plain attributes."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, Sequence):
        return [_plain(part) for part in value]
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return _plain({name: getattr(value, name) for name in value.__dataclass_fields__})
    named = {"prompt", "prompt_token_ids", "outputs"} & vars(value).keys()
    return {name: _plain(getattr(value, name)) for name in named}


def trace_of_answer(answer: ForeignAnswer) -> Trace:
    """Return the trace of an answer.

    Raises:
        TraceError: a token has no log-probability.
    """
    ids = _Ids(answer)
    named = min((len(token.top) for token in answer.tokens), default=0)
    known = min(max(1, named), MAX_CANDIDATES)
    end = _ENDS.get(answer.finish)
    steps = tuple(
        _step(answer, index, known, ids, end if index + 1 == len(answer.tokens) else None)
        for index, token in enumerate(answer.tokens)
    )
    reason: FinishReason = end or "cancelled"
    return Trace(
        model_id=answer.model or answer.format.name,
        prompt=answer.prompt,
        rendered_prompt=answer.prompt,
        prompt_ids=answer.prompt_ids,
        config=ByEngine(max_new_tokens=max(1, len(steps)), top_candidates=known),
        steps=steps,
        token_ids=tuple(step.token_id for step in steps),
        text="".join(step.text for step in steps),
        finish_reason=reason,
        timings=Timings(0.0, 0.0, 0.0),
        notes=tuple(_notes(answer, ids)),
        known=known,
        method_record=record_of(answer.told),
    )


class _Ids:
    """Ids of an answer's tokens; where it has none, places in the list of its texts."""

    def __init__(self, answer: ForeignAnswer) -> None:
        every = [token.token_id for token in answer.tokens]
        every += [token_id for token in answer.tokens for token_id in token.top_ids]
        self.given = None not in every
        self._places: dict[str, int] = {}
        if not self.given:
            for token in answer.tokens:
                for text in (token.text, *(text for text, _ in token.top)):
                    self._places.setdefault(text, len(self._places))
        self.least_size = 1 + max(
            [token_id for token_id in every if token_id is not None] if self.given
            else self._places.values(),
            default=0,
        )  # fmt: skip

    def of(self, text: str, token_id: int | None) -> int:
        """Return the id of a token."""
        return token_id if self.given and token_id is not None else self._places[text]


def _step(
    answer: ForeignAnswer, index: int, known: int, ids: _Ids, finish_reason: Ended | None
) -> TokenStep:
    token = answer.tokens[index]
    if token.logprob is None:
        raise TraceError(
            Message("Token {index} of this answer has no log-probability.", index=index + 1)
        )
    own = ids.of(token.text, token.token_id)
    names = {own: (token.logprob, token.text)}
    for (text, logprob), token_id in zip(token.top, token.top_ids, strict=True):
        names.setdefault(ids.of(text, token_id), (logprob, text))
    ordered = sorted(names.items(), key=lambda named: (-named[1][0], named[0]))
    listed = ordered[:known]
    if own not in dict(listed):
        listed.append((own, names[own]))
    ranks = [*range(1, len(listed) + 1)]
    if len(listed) > known:
        ranks[-1] = max(ranks[-1], token.rank or token.least_rank)
    probs = tuple(math.exp(logprob) for _, (logprob, _) in listed)
    least = max(probs[min(known, len(probs)) - 1], 1e-30)
    tail = max(0.0, 1 - math.fsum(probs))
    if not answer.format.likeliest:
        least = max(least, tail)  # What isn't named may be one text.
    kept = max(ids.least_size, len(listed) + math.ceil(min(tail / least, 1e7)))
    shares = tuple(float(token_id == own) for token_id, _ in listed)
    before = probs[shares.index(1.0)]
    rows = zip(listed, ranks, probs, shares, strict=True)
    return TokenStep(
        index=index,
        token_id=own,
        text=token.added,
        candidates=tuple(
            Candidate(token_id, text, rank, logprob, prob, share, None if share else "server")
            for (token_id, (logprob, text)), rank, prob, share in rows
        ),
        entropy=max(0.0, least_entropy_of(probs, tail, least)),
        tail_mass=tail,
        surprisal=max(0.0, -token.logprob),
        origin="server",
        phase="answer",
        draw=Draw("server"),
        stages=(
            Stage("raw", probs, tail, kept, 0.0),
            Stage("server", shares, 0.0, 1, 1 - before),
            Stage("final", shares, 0.0, 1, 0.0),
        ),
        seconds=StepSeconds(0.0, 0.0, 0.0),
        finish_reason=finish_reason,
    )


def _notes(answer: ForeignAnswer, ids: _Ids) -> list[Note]:
    words = [
        Message(
            "Read from {format}. {lacks}",
            format=Message(answer.format.name),
            lacks=Message(answer.format.lacks),
        )
    ]
    if not ids.given:
        words.append(Message("Ids are places in the list of the answer's texts."))
    if answer.choices > 1:
        words.append(Message("Of its {choices} choices this is the first.", choices=answer.choices))
    if not answer.prompt_ids:
        words.append(Message("The prompt's tokens are unknown."))
    return [Note(FOREIGN_ANSWER, sentences(*words))]
