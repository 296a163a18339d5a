"""Content of one answer so far; the writer of each API turns it into JSON."""

from __future__ import annotations

import json
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from openai.types import CompletionUsage
from openai.types.completion_usage import CompletionTokensDetails, PromptTokensDetails

from ....decoding.methods import config_to_dict
from ..endpoints import ENDPOINTS
from ..request.messages import ChatMessage
from ..request.plan import Plan
from .logprobs import TokenLogprobs, prompt_entry
from .parts import (
    AnswerPart,
    ApiFinishReason,
    CallDelta,
    ChoiceEnded,
    Delta,
    PartPhase,
    PromptScored,
    Started,
)


@dataclass(eq=False, slots=True)
class Call:
    """Call of a function so far; `id` is the one that its result names."""

    name: str
    arguments: str = ""
    id: str = field(default_factory=lambda: f"call_{uuid.uuid4().hex}")


@dataclass(eq=False, slots=True)
class Choice:
    """Content of one choice so far.

    Args:
        spoken: number of the answer's log-probabilities up to the last text outside of calls.
    """

    texts: dict[PartPhase, str] = field(default_factory=dict)
    logprobs: dict[PartPhase, list[TokenLogprobs]] = field(default_factory=dict)
    prompt_ids: tuple[int, ...] = ()
    token_ids: list[int] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    spoken: int = 0
    scored: PromptScored | None = None
    finish_reason: ApiFinishReason | None = None
    tokens: int = 0
    reasoning_tokens: int = 0

    def text(self, *phases: PartPhase) -> str:
        return "".join(self.texts.get(phase, "") for phase in phases)

    def add(self, part: Delta) -> None:
        """Append tokens, and the text that they complete."""
        self.texts[part.phase] = self.texts.get(part.phase, "") + part.text
        self.logprobs.setdefault(part.phase, []).extend(part.logprobs)
        if part.phase == "answer" and part.text:
            self.spoken = len(self.logprobs["answer"])
        if part.phase == "prompt":
            self.prompt_ids = part.token_ids
        else:
            self.tokens += len(part.token_ids)
            self.token_ids += part.token_ids

    def add_call(self, part: CallDelta) -> None:
        """Append a part of a call; the first part begins it."""
        if part.call == len(self.calls):
            self.calls.append(Call(part.name))
        self.calls[part.call].arguments += part.arguments

    @property
    def text_logprobs(self) -> list[TokenLogprobs]:
        """The log-probabilities of the answer's tokens, without those of calls."""
        held = self.logprobs.get("answer", [])
        return held[: self.spoken] if self.calls else held

    @property
    def message(self) -> ChatMessage:
        """The answer as a message of a later request, without a call that was cut off."""
        calls = []
        for call in self.calls:
            with suppress(ValueError, RecursionError):
                function = {"name": call.name, "arguments": json.loads(call.arguments)}
                calls.append({"id": call.id, "type": "function", "function": function})
        message: ChatMessage = {"role": "assistant", "content": self.text("answer")}
        return {**message, "tool_calls": calls} if calls else message


class Answer:
    """Choices, usage and settings of one request's answer.

    Attributes:
        started: set by the first part, before anything is written.
    """

    started: Started

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.id = f"{ENDPOINTS[plan.endpoint].id_prefix}{uuid.uuid4().hex}"
        self.created = int(time.time())
        self.notes: list[str] = []
        self.choices = [Choice() for _ in range(len(plan.prompts) * plan.n)]

    def take(self, part: AnswerPart) -> None:
        """Add a part of the run."""
        if isinstance(part, Started):
            self.started = part
        elif isinstance(part, Delta):
            self.choices[part.choice].add(part)
        elif isinstance(part, CallDelta):
            self.choices[part.choice].add_call(part)
        elif isinstance(part, PromptScored):
            self.choices[part.choice].scored = part
        elif isinstance(part, ChoiceEnded):
            choice = self.choices[part.choice]
            choice.finish_reason = part.finish_reason
            # Until now `tokens` counted only the streamed tokens.
            choice.tokens = part.tokens
            choice.reasoning_tokens = part.reasoning_tokens
            self.notes += [note for note in part.notes if note not in self.notes]

    @property
    def tokens(self) -> int:
        return sum(choice.tokens for choice in self.choices)

    @property
    def reasoning_tokens(self) -> int:
        return sum(choice.reasoning_tokens for choice in self.choices)

    def usage(self) -> dict[str, Any]:
        """Return the token counts in the form of chat and completions."""
        prompt = self.started.prompt_tokens
        usage = CompletionUsage(
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
        return usage.model_dump(mode="json", exclude_unset=True)

    def prompt_extras(self, at: int) -> dict[str, Any]:
        """Return vLLM's fields about the prompt of a choice, as far as they were requested."""
        extras: dict[str, Any] = {}
        if self.plan.token_ids:
            extras["prompt_token_ids"] = list(self.started.prompts[at // self.plan.n])
        if scored := self.choices[at].scored:
            extras["prompt_logprobs"] = [
                None,
                *(
                    prompt_entry(self.started.vocabulary, token, rank)
                    for token, rank in zip(scored.logprobs, scored.ranks, strict=True)
                ),
            ]
        return extras

    def extras(self) -> dict[str, Any]:
        """Return fields beyond OpenAI's API: settings used, notes on those that could not act, and
        the kind of log-probabilities.
        """
        decoding = config_to_dict(self.started.configs[0])
        if self.plan.settings.draft:
            decoding["draft"] = self.plan.settings.draft
        logprobs = self.plan.logprobs
        mode = {"logprobs_mode": logprobs.mode} if logprobs else {}
        return {"decoding": decoding, **mode, **self.noted()}

    def noted(self) -> dict[str, Any]:
        """Return the field of the notes; empty without one."""
        return {"notes": self.notes} if self.notes else {}
