"""Reader of responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ApiError, unsupported
from .config import read_settings
from .fields import Fields
from .formats import text_format
from .messages import ChatMessage, read_input, with_instructions
from .plan import MODES, Chat, LogprobsOptions, Plan, ResponseOptions
from .shared import EFFORTS, MOST_TOP, finish
from .tools import read_tools

INCLUDE_LOGPROBS = "message.output_text.logprobs"
# Reasoning is always returned in full, without encryption.
_INCLUDABLE = (INCLUDE_LOGPROBS, "reasoning.encrypted_content")
MAX_METADATA, MAX_KEY, MAX_VALUE = 16, 64, 512


def read_response(
    body: Mapping[str, Any], recall: Callable[[str], tuple[ChatMessage, ...]]
) -> Plan:
    """Read a request for a response.

    Args:
        recall: returns the conversation up to an earlier response, by its id; raises ApiError
            if it doesn't exist.

    Raises:
        ApiError: a parameter is wrong or not supported.
    """
    fields = Fields(body)
    previous = fields.text("previous_response_id")
    # Errors in the request itself are reported before errors in its references.
    fields.require_prompt("responses")
    model, newest = fields.required_text("model"), read_input(fields.any("input"))
    messages = (*(recall(previous) if previous else ()), *newest)
    instructions = fields.text("instructions")
    tool_fields, tools = read_tools(fields, flat=True)
    plan = Plan(
        endpoint="responses",
        model=model,
        prompts=(Chat(tuple(with_instructions(messages, instructions))),),
        settings=read_settings(fields, "responses", _effort(fields)),
        logprobs=_logprobs(fields),
        stream=fields.flag("stream"),
        response=ResponseOptions(
            messages=messages,
            instructions=instructions,
            previous=previous,
            store=fields.flag("store", True),
            metadata=_metadata(fields),
            safety_identifier=fields.text("safety_identifier"),
            prompt_cache_key=fields.text("prompt_cache_key"),
            text_format=text_format(body),
            tools=tool_fields,
        ),
        tools=tools,
        body=body,
    )
    finish(fields, "responses")
    return plan


def _effort(fields: Fields) -> str | None:
    value = fields.object("reasoning")
    if value is None:
        return None
    reasoning = Fields(value, "reasoning.")
    effort = reasoning.choice("effort", EFFORTS)
    # No model here summarises its thinking; `auto` accepts this.
    reasoning.inert("summary", "auto")
    reasoning.finish(("generate_summary", "context", "mode"))
    return effort


def _logprobs(fields: Fields) -> LogprobsOptions | None:
    included = fields.items("include")
    if any(value not in _INCLUDABLE for value in included):
        raise unsupported("include", f"It may hold {' and '.join(_INCLUDABLE)}.")
    top = fields.whole("top_logprobs", MOST_TOP)
    mode: Any = fields.choice("logprobs_mode", MODES, "raw")
    if INCLUDE_LOGPROBS in included or top:
        return LogprobsOptions(top or 0, mode)
    if fields.has("logprobs_mode"):
        raise fields.wrong("logprobs_mode", f"acts with {INCLUDE_LOGPROBS} in include")
    return None


def _metadata(fields: Fields) -> dict[str, str]:
    metadata = fields.object("metadata") or {}
    fits = len(metadata) <= MAX_METADATA and all(
        isinstance(value, str) and len(key) <= MAX_KEY and len(value) <= MAX_VALUE
        for key, value in metadata.items()
    )
    if not fits:
        raise ApiError(
            f"metadata holds at most {MAX_METADATA} strings of {MAX_VALUE} characters by names of "
            f"{MAX_KEY}.",
            param="metadata",
        )
    return metadata
