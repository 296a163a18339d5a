"""Responses: what a request of this API asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openai.types.responses.response_create_params import ResponseCreateParamsBase

from core.server.api.chat import MOST_TOP, read_effort, read_mode, read_no_tools
from core.server.api.config import read_settings
from core.server.api.errors import ApiError, unsupported
from core.server.api.fields import Fields
from core.server.api.logprobs import Wanted
from core.server.api.messages import Message, read_input, with_instructions
from core.server.api.plan import Chat, Plan

KNOWN = frozenset(ResponseCreateParamsBase.__annotations__) | {"stream"}
INCLUDE_LOGPROBS = "message.output_text.logprobs"
# Reasoning is given in full anyway, and nothing of it is encrypted.
_INCLUDABLE = (INCLUDE_LOGPROBS, "reasoning.encrypted_content")
MAX_METADATA, MAX_KEY, MAX_VALUE = 16, 64, 512


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseOptions:
    """What an answer repeats of its request.

    Args:
        messages: the whole conversation without the instructions, for a request that goes on.
        store: whether the answer can be asked for again, and gone on from.
    """

    messages: tuple[Message, ...]
    instructions: str | None
    previous: str | None
    store: bool
    metadata: Mapping[str, str]
    max_output_tokens: int | None
    safety_identifier: str | None
    prompt_cache_key: str | None


def read_response(
    body: Mapping[str, Any], recall: Callable[[str], tuple[Message, ...]]
) -> tuple[Plan, ResponseOptions]:
    """The plan of a request, and what its answer repeats of it.

    Args:
        recall: gives the conversation up to and with an earlier response, by its id; raises
            ApiError where it isn't there.

    Raises:
        ApiError: a parameter that is wrong or not supported.
    """
    fields = Fields(body)
    previous = fields.text("previous_response_id")
    # An error of the request itself comes before one of what it refers to.
    fields.require_prompt("responses")
    model, own = fields.required_text("model"), read_input(fields.any("input"))
    messages = (*(recall(previous) if previous else ()), *own)
    instructions = fields.text("instructions")
    plan = Plan(
        endpoint="responses",
        model=model,
        prompts=(Chat(tuple(with_instructions(messages, instructions))),),
        asked=read_settings(fields, "responses", _effort(fields)),
        logprobs=_logprobs(fields),
        stream=fields.flag("stream"),
        body=body,
    )
    options = _options(fields, messages, instructions, previous, plan.asked.limit)
    _read_what_changes_nothing(fields)
    fields.finish(KNOWN)
    return plan, options


def _options(
    fields: Fields,
    messages: tuple[Message, ...],
    instructions: str | None,
    previous: str | None,
    limit: int | None,
) -> ResponseOptions:
    return ResponseOptions(
        messages=messages,
        instructions=instructions,
        previous=previous,
        store=fields.flag("store", True),
        metadata=_metadata(fields),
        max_output_tokens=limit,
        safety_identifier=fields.text("safety_identifier"),
        prompt_cache_key=fields.text("prompt_cache_key"),
    )


def _effort(fields: Fields) -> str | None:
    given = fields.object("reasoning")
    if given is None:
        return None
    reasoning = Fields(given, "reasoning.")
    effort = read_effort(reasoning, "effort")
    # No model here sums up what it thought; `auto` takes what there is.
    reasoning.inert("summary", "auto")
    reasoning.finish(("generate_summary", "context", "mode"))
    return effort


def _logprobs(fields: Fields) -> Wanted | None:
    included = fields.items("include")
    for one in included:
        if one not in _INCLUDABLE:
            raise unsupported("include", f"It may hold {' and '.join(_INCLUDABLE)}.")
    top, mode = fields.whole("top_logprobs", MOST_TOP), read_mode(fields)
    if INCLUDE_LOGPROBS in included or top:
        return Wanted(top or 0, mode)
    if fields.has("logprobs_mode"):
        raise fields.wrong("logprobs_mode", f"acts with {INCLUDE_LOGPROBS} in include")
    return None


def _metadata(fields: Fields) -> dict[str, str]:
    found = fields.object("metadata") or {}
    fits = len(found) <= MAX_METADATA and all(
        isinstance(value, str) and len(key) <= MAX_KEY and len(value) <= MAX_VALUE
        for key, value in found.items()
    )
    if not fits:
        raise ApiError(
            f"metadata holds at most {MAX_METADATA} strings of {MAX_VALUE} characters by names of "
            f"{MAX_KEY}.",
            param="metadata",
        )
    return found


def _read_what_changes_nothing(fields: Fields) -> None:
    fields.inert("background", False)
    read_no_tools(fields)
    fields.inert("tool_choice", "none", "auto")
    fields.inert("parallel_tool_calls", True, False)
    fields.inert("service_tier", "auto", "default")
    fields.inert("text", {"format": {"type": "text"}}, {})
    fields.inert("truncation", "disabled")
    fields.inert("stream_options", {"include_obfuscation": False}, {})
    for name in ("frequency_penalty", "presence_penalty"):
        fields.inert(name, 0)
    fields.ignored("user")
