"""Parameters that vLLM and other servers add to OpenAI's API, at the top level of a body."""

from __future__ import annotations

from typing import Any

from core.decoding.record.bounds import MAX_COUNT
from core.decoding.shaping.config import KNOB_SETTINGS, SETTINGS
from core.decoding.validation import Interval
from core.server.api.endpoints import Endpoint
from core.server.api.request.fields import Fields

# The samplers' own names, which vLLM, llama.cpp and text-generation-webui use too.
SHAPING = (
    "top_k",
    *(s.field for s in KNOB_SETTINGS if not s.whole and s.field not in ("temperature", "top_p")),
)
# Parameters that set a run, and parameters that add fields to its answer.
SETTINGS_NAMES = (*SHAPING, "min_tokens", "ignore_eos", "stop_token_ids")
SHOWN = ("prompt_logprobs", "include_stop_str_in_output", "skip_special_tokens", "return_token_ids")
_COUNT = Interval(-1, MAX_COUNT)  # -1 stands for all.
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
# Values without effect, which clients send as defaults.
NEUTRAL: dict[Endpoint, dict[str, tuple[Any, ...]]] = {
    "responses": _NEUTRAL,
    "chat": {
        **_NEUTRAL,
        "echo": (False,),
        "add_special_tokens": (False,),
        "continue_final_message": (False,),
        "return_tokens_as_token_ids": (False,),
    },
    "completions": {**_NEUTRAL, "add_special_tokens": (True,)},
}


def read_shaping(fields: Fields) -> dict[str, Any]:
    """Read filters and penalties by name; neutral values are left out.

    Raises:
        ApiError: a wrong value.
    """
    top_k = fields.whole("top_k", _COUNT)
    # vLLM's top_k and llama.cpp's top_n_sigma are off at -1, too.
    values: dict[str, float | None] = {"top_k": top_k if top_k != -1 else None}
    values |= {
        name: fields.number(name, SETTINGS[name].interval)
        for name in SHAPING[1:]
        if (name, fields.any(name)) != ("top_n_sigma", -1)
    }
    return {
        name: value for name, value in values.items() if value not in (None, SETTINGS[name].off)
    }


def read_shown(fields: Fields) -> dict[str, Any]:
    """Read the parameters that add fields to the answer; return fields of a plan.

    Raises:
        ApiError: a wrong value, or log-probabilities of the prompt in a stream.
    """
    top = fields.whole("prompt_logprobs", _COUNT)
    if top is not None and fields.any("stream") is True:
        raise fields.wrong("prompt_logprobs", "are not given in a stream; leave stream out")
    return {
        "prompt_logprobs": top,
        "keep_stop": fields.flag("include_stop_str_in_output"),
        "special": not fields.flag("skip_special_tokens", True),
        "token_ids": fields.flag("return_token_ids"),
    }


# Parameters for which OpenAI's client has no argument.
NAMES = {
    *(*SETTINGS_NAMES, *SHOWN, "add_generation_prompt", "structured_outputs"),
    *(name for names in NEUTRAL.values() for name in names if name != "echo"),
}
