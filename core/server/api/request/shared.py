"""Parameters that several of OpenAI's APIs share, and parameters without effect here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openai.types.chat import completion_create_params as chat_params
from openai.types.completion_create_params import CompletionCreateParamsBase
from openai.types.responses.response_create_params import ResponseCreateParamsBase

from ....decoding.reasoning.config import LEVELS
from ....decoding.validation import Interval
from ..endpoints import Endpoint
from .fields import Fields
from .plan import StreamUsage

EFFORTS = ("none", *LEVELS)
MOST_TOP = Interval(-1, 10_000_000)
# Names in OpenAI's APIs, besides `stream`.
_PARAMS: Mapping[Endpoint, type] = {
    "chat": chat_params.CompletionCreateParamsBase,
    "completions": CompletionCreateParamsBase,
    "responses": ResponseCreateParamsBase,
}
_TIER = {"service_tier": ("auto", "default")}
# Values that match the server's behaviour anyway.
_INERT: Mapping[Endpoint, Mapping[str, tuple[Any, ...]]] = {
    "chat": {
        "modalities": (["text"],),
        **_TIER,
        "store": (False,),
    },
    "completions": {},
    "responses": {
        "background": (False,),
        **_TIER,
        "truncation": ("disabled",),
        "stream_options": ({"include_obfuscation": False}, {}),
    },
}
# Parameters that only label a request.
_LABELS: Mapping[Endpoint, tuple[str, ...]] = {
    "chat": ("user", "safety_identifier", "prompt_cache_key"),
    "completions": ("user",),
    "responses": ("user",),
}


def read_usage(fields: Fields) -> StreamUsage:
    """Read which chunks of a stream include the usage."""
    value = fields.object("stream_options")
    if value is None:
        return "never"
    if fields.any("stream") is not True:
        raise fields.wrong("stream_options", "acts on a stream only; set stream to true")
    options = Fields(value, "stream_options.")
    usage, always = options.flag("include_usage"), options.flag("continuous_usage_stats")
    options.inert("include_obfuscation", False)
    options.finish(())
    return ("always" if always else "last") if usage else "never"


def finish(fields: Fields, endpoint: Endpoint) -> None:
    """Accept parameters without effect, and refuse unread ones.

    Raises:
        ApiError: a parameter is wrong, unknown or not supported.
    """
    for name, values in _INERT[endpoint].items():
        fields.inert(name, *values)
    for name in _LABELS[endpoint]:
        fields.text(name)
    fields.finish({*_PARAMS[endpoint].__annotations__, "stream"})
