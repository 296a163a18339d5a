"""What the answers of every endpoint share: the choices as they grow, usage, and how to write."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from openai import BaseModel
from openai.types import CompletionUsage
from openai.types.completion_usage import CompletionTokensDetails, PromptTokensDetails

from core.decoding.methods import config_to_dict
from core.decoding.protocol import Vocabulary
from core.server.api.errors import ApiError
from core.server.api.logprobs import TokenLogprobs, Wanted, entry_of, prompt_entry
from core.server.api.parts import (
    AnswerPart,
    ApiFinishReason,
    ChoiceEnded,
    Delta,
    PartPhase,
    PromptScored,
    Started,
)
from core.server.api.plan import Plan

# When a stream says the usage: `always` in every chunk.
StreamUsage: TypeAlias = Literal["never", "last", "always"]
DONE = "data: [DONE]\n\n"


@dataclass(eq=False, slots=True)
class Choice:
    """One choice as far as it has come."""

    texts: dict[PartPhase, str] = field(default_factory=dict)
    logprobs: dict[PartPhase, list[TokenLogprobs]] = field(default_factory=dict)
    prompt_ids: tuple[int, ...] = ()
    token_ids: list[int] = field(default_factory=list)
    scored: PromptScored | None = None
    finish_reason: ApiFinishReason | None = None
    tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def answer(self) -> str:
        return self.texts.get("answer", "")

    @property
    def answer_logprobs(self) -> list[TokenLogprobs]:
        return self.logprobs.get("answer", [])

    @property
    def thinking(self) -> str:
        return self.texts.get("thinking", "")

    def take(self, part: Delta | ChoiceEnded) -> None:
        if isinstance(part, ChoiceEnded):
            self.finish_reason = part.finish_reason
            self.tokens, self.reasoning_tokens = part.tokens, part.reasoning_tokens
            return
        self.texts[part.phase] = self.texts.get(part.phase, "") + part.text
        self.logprobs.setdefault(part.phase, []).extend(part.logprobs)
        if part.phase == "prompt":
            self.prompt_ids = part.token_ids
        else:
            self.tokens += len(part.token_ids)
            self.token_ids += part.token_ids


class Answer(Protocol):
    """Writes one request's answer, whole or as events."""

    @property
    def id(self) -> str:
        """Of the answer."""
        ...

    def take(self, part: AnswerPart) -> None:
        """Take in a part of the run."""
        ...

    def events(self, part: AnswerPart) -> Iterator[str]:
        """Take in a part, and say what a stream says of it."""
        ...

    def body(self) -> dict[str, Any]:
        """The whole answer, once every part was taken in."""
        ...

    def error_events(self, error: ApiError) -> Iterator[str]:
        """What a stream says of an error that ends it."""
        ...


class Choices:
    """The choices of an answer, and what every answer says besides them.

    Args:
        prefix: of the answer's id.
    """

    def __init__(self, plan: Plan, prefix: str) -> None:
        self.plan = plan
        self._id = f"{prefix}{uuid.uuid4().hex}"
        self.created = int(time.time())
        self.choices = [Choice() for _ in range(len(plan.prompts) * plan.n)]
        self.started: Started | None = None

    @property
    def id(self) -> str:
        return self._id

    @property
    def vocabulary(self) -> Vocabulary:
        assert self.started is not None
        return self.started.vocabulary

    def take(self, part: AnswerPart) -> None:
        if isinstance(part, Started):
            self.started = part
        elif isinstance(part, Delta | ChoiceEnded):
            self.choices[part.choice].take(part)
        elif isinstance(part, PromptScored):
            self.choices[part.choice].scored = part

    def says(self, part: Delta) -> bool:
        """Return whether a stream has a chunk for a part."""
        return bool(part.text or part.logprobs or (self.plan.token_ids and part.token_ids))

    @property
    def tokens(self) -> int:
        return sum(choice.tokens for choice in self.choices)

    @property
    def reasoning_tokens(self) -> int:
        return sum(choice.reasoning_tokens for choice in self.choices)

    def usage(self) -> CompletionUsage:
        prompt = self.started.prompt_tokens if self.started else 0
        return CompletionUsage(
            prompt_tokens=prompt,
            completion_tokens=self.tokens,
            total_tokens=prompt + self.tokens,
            prompt_tokens_details=PromptTokensDetails(cached_tokens=0, audio_tokens=0),
            completion_tokens_details=CompletionTokensDetails(
                reasoning_tokens=self.reasoning_tokens,
                audio_tokens=0,
                accepted_prediction_tokens=0,
                rejected_prediction_tokens=0,
            ),
        )

    def usage_so_far(self, when: StreamUsage) -> dict[str, Any]:
        """Return the usage field of a chunk."""
        if when == "always":
            return {"usage": plain(self.usage())}
        return {} if when == "never" else {"usage": None}

    def prompt_extras(self, choice: int) -> dict[str, Any]:
        """Return vLLM's fields about the prompt of a choice, as far as they were asked for."""
        ids = self.started.prompts[choice // self.plan.n] if self.started else ()
        found: dict[str, Any] = {"prompt_token_ids": list(ids)} if self.plan.token_ids else {}
        scored = self.choices[choice].scored
        if scored is not None:
            found["prompt_logprobs"] = [None, *self._scored(scored)]
        return found

    def _scored(self, part: PromptScored) -> Iterator[dict[str, Any]]:
        for token, rank in zip(part.logprobs, part.ranks, strict=True):
            yield prompt_entry(self.vocabulary, token, rank)

    @property
    def fingerprint(self) -> str:
        return self.started.fingerprint if self.started else ""

    def extras(self) -> dict[str, Any]:
        """What is ours in an answer: the settings as they were used, and which numbers it has."""
        configs = self.started.configs if self.started else ()
        found: dict[str, Any] = {}
        if configs:
            draft = {"draft": self.plan.asked.draft} if self.plan.asked.draft else {}
            found["decoding"] = {**config_to_dict(configs[0]), **draft}
        return {**found, **mode_of(self.plan.logprobs)}

    def entries(self, tokens: Sequence[TokenLogprobs]) -> list[Any]:
        """Log-probabilities as chat and responses have them."""
        return [entry_of(self.vocabulary, token) for token in tokens]


def mode_of(wanted: Wanted | None) -> dict[str, str]:
    """Which log-probabilities an answer holds, if it holds any."""
    return {"logprobs_mode": wanted.mode} if wanted else {}


def plain(model: BaseModel, **extras: Any) -> dict[str, Any]:
    """A body of the package's as JSON values, with what is not in its type."""
    found: dict[str, Any] = model.model_dump(mode="json", exclude_unset=True)
    return {**found, **extras}


def to_json(value: Mapping[str, Any]) -> str:
    """Compact JSON; NaN and infinities are refused."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def data(value: Mapping[str, Any]) -> str:
    """A server-sent event."""
    return f"data: {to_json(value)}\n\n"


def named(value: Mapping[str, Any]) -> str:
    """A server-sent event under the name of its type."""
    return f"event: {value['type']}\ndata: {to_json(value)}\n\n"
