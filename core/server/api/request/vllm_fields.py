"""Parameters that vLLM and other servers add to OpenAI's API, at the top level of a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....decoding.loop.text import tokens_of_text
from ....decoding.record.bounds import MAX_COUNT
from ....decoding.shaping.config import KNOB_SETTINGS, SETTINGS
from ....decoding.validation import Interval
from ..endpoints import Endpoint
from .fields import Fields

# The samplers' own names, which vLLM, llama.cpp and text-generation-webui use too.
_NUMBERS = tuple(s.field for s in KNOB_SETTINGS if s.field not in ("temperature", "top_p"))
SHAPING = (*_NUMBERS, "dry_sequence_breakers", "bad_words")
# Parameters that set a run, and parameters that add fields to its answer.
SETTINGS_NAMES = (*SHAPING, "min_tokens", "ignore_eos", "stop_token_ids")
SHOWN = ("prompt_logprobs", "include_stop_str_in_output", "skip_special_tokens", "return_token_ids")
_COUNT = Interval(-1, MAX_COUNT)  # -1 stands for all.
# Off at -1: vLLM's top_k, llama.cpp's others.
_OFF_AT_MINUS_1 = ("top_k", "top_n_sigma", "adaptive_target")
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "use_beam_search": (False,),
    "length_penalty": (1.0,),
    "early_stopping": (False,),
    "truncate_prompt_tokens": (),
    "spaces_between_special_tokens": (True,),
    "priority": (0,),
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
    values: dict[str, Any] = {name: _number(fields, name) for name in _NUMBERS}
    values["dry_sequence_breakers"] = _texts(fields, "dry_sequence_breakers")
    values["bad_words"] = _texts(fields, "bad_words") or None
    return {
        name: value for name, value in values.items() if value not in (None, SETTINGS[name].off)
    }


def _number(fields: Fields, name: str) -> float | None:
    spec = SETTINGS[name]
    if name in _OFF_AT_MINUS_1 and fields.any(name) == -1:
        return None
    assert spec.interval is not None
    return (fields.whole if spec.whole else fields.number)(name, spec.interval)


def _texts(fields: Fields, name: str) -> tuple[str, ...] | None:
    if not fields.has(name):
        return None
    texts = fields.items(name)
    if not all(isinstance(text, str) and text.strip(" ") for text in texts):
        raise fields.wrong(name, "must be a list of strings that aren't empty")
    return tuple(texts)


def bad_word_ids(model: Any, words: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each word, without a space before it and with one, as vLLM bans them.

    Raises:
        ConfigError: the model's tokens can't spell a word.
    """
    sequences = []
    for word in words:
        bare, spaced = (
            tokens_of_text(model, f"{space}{word.lstrip(' ')}", "bad_words") for space in ("", " ")
        )
        sequences += [bare] if spaced[-len(bare) :] == bare else [bare, spaced]
    return sequences


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
