"""The parameters that vLLM adds to OpenAI's API, at the top level of a body."""

from __future__ import annotations

from typing import Any

from core.decoding.config import MAX_NEW_TOKENS
from core.decoding.record.bounds import MAX_COUNT
from core.decoding.shaping.config import SETTINGS
from core.decoding.validation import Interval
from core.server.api.endpoints import Endpoint
from core.server.api.fields import Fields

SHAPING = ("top_k", "min_p", "repetition_penalty")
# What sets a run, and what its answer shows besides.
SETTINGS_NAMES = (*SHAPING, "min_tokens", "ignore_eos", "stop_token_ids")
SHOWN = ("prompt_logprobs", "include_stop_str_in_output", "skip_special_tokens", "return_token_ids")
_TOP_K = Interval(-1, MAX_COUNT)
_PROMPT_TOP = Interval(-1, MAX_COUNT)
# Values that ask for nothing: clients send them as their defaults.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "use_beam_search": (False,),
    "length_penalty": (1.0,),
    "early_stopping": (False,),
    "truncate_prompt_tokens": (),
    "spaces_between_special_tokens": (True,),
    "priority": (0,),
    "bad_words": ([],),
    "allowed_token_ids": (),
}
_NEUTRAL_IN: dict[Endpoint, dict[str, tuple[Any, ...]]] = {
    "responses": {},
    "chat": {
        "echo": (False,),
        "add_special_tokens": (False,),
        "continue_final_message": (False,),
        "return_tokens_as_token_ids": (False,),
    },
    "completions": {"add_special_tokens": (True,)},
}


def read_shaping(fields: Fields) -> dict[str, Any]:
    """The filters and the penalty that act, by their names; neutral values are left out.

    Raises:
        ApiError: a wrong value.
    """
    given: dict[str, Any] = {"top_k": fields.whole("top_k", _TOP_K)}
    for name in SHAPING[1:]:
        interval = SETTINGS[name].interval
        assert interval is not None
        given[name] = fields.number(name, interval)
    # vLLM's top_k is off at -1, too.
    neutral = {"top_k": (None, -1, 0)}
    return {
        name: value
        for name, value in given.items()
        if value not in neutral.get(name, (None, SETTINGS[name].off))
    }


def read_min_tokens(fields: Fields) -> int | None:
    """Read how many tokens come before an end; None where it isn't given."""
    return fields.whole("min_tokens", Interval(0, MAX_NEW_TOKENS)) or None


def read_stop_ids(fields: Fields) -> tuple[int, ...]:
    """The token ids that end a run beside the model's own."""
    found = fields.items("stop_token_ids")
    if not all(type(one) is int and 0 <= one <= MAX_COUNT for one in found):
        raise fields.wrong("stop_token_ids", "must be a list of token ids")
    return tuple(found)


def read_shown(fields: Fields) -> dict[str, Any]:
    """Fields of a plan: what its answer shows besides.

    Raises:
        ApiError: a wrong value, or log-probabilities of the prompt in a stream.
    """
    top = fields.whole("prompt_logprobs", _PROMPT_TOP)
    if top is not None and fields.any("stream") is True:
        raise fields.wrong("prompt_logprobs", "are not given in a stream; leave stream out")
    return {
        "prompt_logprobs": top,
        "keep_stop": fields.flag("include_stop_str_in_output"),
        "special": not fields.flag("skip_special_tokens", True),
        "token_ids": fields.flag("return_token_ids"),
    }


def read_neutral(fields: Fields, endpoint: Endpoint) -> None:
    """Accept defaults of vLLM's clients.

    Raises:
        ApiError: a value that asks for something that isn't done here.
    """
    for name, values in {**_NEUTRAL, **_NEUTRAL_IN[endpoint]}.items():
        fields.inert(name, *values)


# All that OpenAI's client has no argument for.
NAMES = {
    *(*SETTINGS_NAMES, *SHOWN, *_NEUTRAL, "add_generation_prompt"),
    *(name for names in _NEUTRAL_IN.values() for name in names if name != "echo"),
}
