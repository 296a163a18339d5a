"""Reader of chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....decoding.validation import Interval
from . import vllm_fields
from .config import read_settings
from .fields import Fields
from .messages import read_messages
from .plan import MAX_CHOICES, MODES, Chat, LogprobsOptions, Plan
from .shared import EFFORTS, MOST_TOP, finish, read_usage
from .tools import read_tools


def read_chat(body: Mapping[str, Any]) -> Plan:
    """Read a request for a chat completion.

    Raises:
        ApiError: a parameter is wrong or not supported.
    """
    fields = Fields(body)
    model = fields.required_text("model")
    effort = fields.choice("reasoning_effort", EFFORTS)
    _, tools = read_tools(fields, flat=False)
    fields.require_prompt("chat")
    messages = tuple(read_messages(fields.any("messages"), "messages"))
    plan = Plan(
        endpoint="chat",
        model=model,
        prompts=(Chat(messages, fields.flag("add_generation_prompt", True)),),
        settings=read_settings(fields, "chat", effort),
        n=fields.whole("n", Interval(1, MAX_CHOICES)) or 1,
        logprobs=_logprobs(fields),
        stream=fields.flag("stream"),
        **vllm_fields.read_shown(fields),
        usage=read_usage(fields),
        tools=tools,
        body=body,
    )
    fields.object("metadata")
    finish(fields, "chat")
    return plan


def _logprobs(fields: Fields) -> LogprobsOptions | None:
    on, top = fields.flag("logprobs"), fields.whole("top_logprobs", MOST_TOP)
    mode: Any = fields.choice("logprobs_mode", MODES, "raw")
    if on:
        return LogprobsOptions(top or 0, mode)
    for name in ("top_logprobs", "logprobs_mode") if top else ("logprobs_mode",):
        if fields.has(name):
            raise fields.wrong(name, "says how log-probabilities are given; set logprobs to true")
    return None
