"""Settings of a run, from the parameters of a request."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ....decoding.by_engine.config import ByEngine
from ....decoding.config import MAX_NEW_TOKENS, MethodConfig
from ....decoding.constraints.value import Constraint
from ....decoding.diffusion.engine import is_diffusion_model
from ....decoding.diffusion.noise import Denoises
from ....decoding.errors import ConfigError, DecodingError
from ....decoding.methods import BY_NAME, config_from_dict
from ....decoding.protocol import offers
from ....decoding.reasoning.config import LEVELS
from ....decoding.reasoning.types import ThinkMarks
from ....decoding.shaping.config import SETTINGS, number_without_effect
from ....decoding.shaping.settings.bias import MAX_BIAS
from ....decoding.validation import MAX_SEED, Interval, brief
from ..endpoints import ENDPOINTS, Endpoint
from ..errors import ApiError, as_api_error, unsupported
from . import formats, vllm_fields
from .fields import Fields

# Path of the setting for each parameter of OpenAI's and vLLM's APIs; `shaping` is the first word
# for settings inside it.
_MEANS = {
    "temperature": ("shaping", "temperature"),
    "top_p": ("shaping", "top_p"),
    "logit_bias": ("shaping", "logit_bias"),
    "seed": ("seed",),
    "stop": ("stop_strings",),
    **{name: ("shaping", name) for name in vllm_fields.SHAPING},
    "min_tokens": ("min_new_tokens",),
    **dict.fromkeys((*formats.NAMES, "tools"), ("shaping", "constraint")),
}
_ONLY_DRAWN = (
    *("temperature", "top_p"),
    *(name for name in vllm_fields.SHAPING if not SETTINGS[name].penalises),
)
_LIMIT = "max_new_tokens"
_SEED = Interval(0, MAX_SEED)
# A random seed must fit into the pages' control.
_SEEDS = 2**31
# Limit for models without a context window.
NO_WINDOW = 1_024


class Thinks(Protocol):
    """A model with thinking marks."""

    @property
    def think_marks(self) -> ThinkMarks: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSettings:
    """Settings in a request; missing ones depend on the model.

    Args:
        values: parameters, by the names in `_MEANS`.
        decoding: a config's JSON, without `draft`.
        draft: the draft model of speculative decoding.
        limit: limit on new tokens; `limit_name` is its parameter.
        effort: the named thinking budget, or `none`.
        ignore_eos: True if the run continues to its limit.
        stop_ids: tokens that end the run; only the model's own are allowed.
    """

    values: Mapping[str, Any]
    decoding: Mapping[str, Any] | None
    draft: str
    limit: int | None
    limit_name: str
    effort: str | None
    ignore_eos: bool = False
    stop_ids: tuple[int, ...] = ()

    @property
    def thinks(self) -> bool:
        """True if the request sets a thinking budget."""
        return self.effort in LEVELS

    @property
    def separates_thinking(self) -> bool:
        """True if the method itself separates the thinking from the answer."""
        return self.thinks or (self.decoding or {}).get("method") == "reasoning"

    @property
    def constraint(self) -> str:
        """Name of the parameter that constrains the text; empty if none does."""
        return next((name for name in self.values if name in (*formats.NAMES, "tools")), "")

    @property
    def stop(self) -> str:
        """Name of the parameter that sets stop strings; empty if none does."""
        inside = "decoding.stop_strings" if (self.decoding or {}).get("stop_strings") else ""
        return "stop" if self.values.get("stop") else inside

    def limit_in(self, window: int) -> int:
        """Return the limit on new tokens, at most the context window."""
        limit = self.limit if self.limit is not None else (self.decoding or {}).get(_LIMIT)
        return min(limit, window) if type(limit) is int and limit > 0 else window

    def constrained(self, constraint: Constraint) -> RequestSettings:
        """Return the settings with the constraint that calls of tools keep to.

        Raises:
            ApiError: the request has another constraint.
        """
        shaping = (self.decoding or {}).get("shaping")
        inside = isinstance(shaping, Mapping) and "constraint" in shaping
        if other := self.constraint or ("decoding.shaping.constraint" if inside else ""):
            raise ApiError(
                f"tools and {other} both say how the answer is written; leave one of them out, or "
                "set tool_choice to none.",
                param="tools",
            )
        return replace(self, values={**self.values, "tools": constraint})

    def config(self, model: Any, room: int) -> MethodConfig:
        """Return the config for a model with `room` for new tokens, in tokens.

        Raises:
            ApiError: an invalid value, or a setting without effect.
        """
        stray = next((token for token in self.stop_ids if token not in model.eos_ids), None)
        if stray is not None:
            raise unsupported(
                "stop_token_ids",
                f"Token {stray} is no end of {model.model_id}; name the text that ends the run in "
                "stop.",
            )
        data = dict(self.decoding or {})
        plain = "greedy" if self.values.get("temperature") == 0 else "sampling"
        if is_diffusion_model(model):
            plain = "diffusion"
        data.setdefault("method", "reasoning" if self.thinks else plain)
        if isinstance(shaping := data.get("shaping", {}), dict):
            data["shaping"] = shaping = dict(shaping)
            for name, value in self.values.items():
                target = shaping if len(_MEANS[name]) > 1 else data
                target[_MEANS[name][-1]] = value
            _require_switched_on(shaping)
        try:
            if isinstance(shaping, dict) and (words := self.values.get("bad_words")):
                shaping["bad_words"] = vllm_fields.bad_word_ids(model, words)
            self._complete(data, model, room)
            config = config_from_dict(data)
        except ConfigError as error:
            raise self._refusal(error) from None
        self._require_effect(config)
        return config

    def _refusal(self, error: ConfigError) -> ApiError:
        """Return the error with the request's name of the setting."""
        names = {name: _MEANS[name][-1] for name in self.values}
        if self.limit is not None:
            names[self.limit_name] = "max_new_tokens"
        name = next((name for name, setting in names.items() if setting == error.setting), None)
        if name is None or not error.begins_with_setting:
            return as_api_error(error, self.blamed(error))
        return ApiError(error.sentence(name), param=name, code="invalid_value")

    def blamed(self, error: DecodingError) -> str | None:
        """Return the parameter that causes an error in a run's settings."""
        name = next((name for name in self.values if _MEANS[name][-1] == error.setting), None)
        if name is not None:
            return name
        return "decoding" if self.decoding is not None else None

    def _complete(self, data: dict[str, Any], model: Any, room: int) -> None:
        """Add the settings that follow from the method and the model."""
        limit = self.limit if self.limit is not None else data.get("max_new_tokens", room)
        # The config reports an invalid limit.
        data["max_new_tokens"] = min(limit, room) if type(limit) is int and limit > 0 else limit
        if self.ignore_eos:
            data["min_new_tokens"] = data["max_new_tokens"]
        method = BY_NAME.get(data["method"]) if isinstance(data["method"], str) else None
        fields = getattr(method and method.config, "__dataclass_fields__", {})
        if "seed" in fields:
            data.setdefault("seed", secrets.randbelow(_SEEDS))
        elif "seed" in self.values:
            # A method without draws is deterministic.
            data.pop("seed")
        if data["method"] == "diffusion" and offers(model, Denoises):
            data.setdefault("canvas", "noise")
        if data["method"] == "greedy" and self.decoding is None:
            for name in _ONLY_DRAWN:
                data["shaping"].pop(name, None)
        if data["method"] == "reasoning":
            if offers(model, Thinks):
                data.setdefault("think_start", model.think_marks.start)
                data.setdefault("think_end", model.think_marks.end)
            if self.effort in LEVELS:
                data.setdefault("max_thinking_tokens", LEVELS[self.effort])
                shaping = data["shaping"] if isinstance(data["shaping"], dict) else {}
                data.setdefault("do_sample", shaping.get("temperature", 1.0) != 0)
                data.setdefault("max_answer_tokens", data["max_new_tokens"])

    def _require_effect(self, config: MethodConfig) -> None:
        """Raise ApiError for sampling settings if nothing is drawn, or if another server draws."""
        if isinstance(config, ByEngine):
            raise ApiError(
                "The method engine asks another server to draw, and this one draws by itself: take "
                "sampling.",
                param="decoding",
                code="unsupported_parameter",
            )
        draws = getattr(config, "draws", config.can_draw)
        for name in _ONLY_DRAWN if self.decoding is not None and not draws else ():
            if self.values.get(name) not in (None, SETTINGS[name].off, 0):
                raise ApiError(
                    f"{name} does nothing in {config.words} that draws no token; leave it out.",
                    param=name,
                    code="unsupported_parameter",
                )


def _require_switched_on(shaping: Mapping[str, Any]) -> None:
    """Raise ApiError for a further number of a setting that is off, unless it is the default."""
    changed = {name: value for name, value in shaping.items() if not _is_default(name, value)}
    if name := number_without_effect(changed):
        raise ApiError(
            f"decoding.shaping.{name} does nothing without {SETTINGS[name].part_of}; give both.",
            param="decoding",
            code="unsupported_parameter",
        )


def _is_default(name: str, value: object) -> bool:
    return name in SETTINGS and value == SETTINGS[name].off


def read_settings(fields: Fields, endpoint: Endpoint, effort: str | None = None) -> RequestSettings:
    """Read the parameters that set a run.

    At most one of the limits on new tokens may be given.

    Raises:
        ApiError: a wrong value, a setting given twice, or a setting without meaning here.
    """
    values = {
        "temperature": fields.number("temperature", SETTINGS["temperature"].interval),
        "top_p": fields.number("top_p", SETTINGS["top_p"].interval),
        "logit_bias": _bias(fields),
        "seed": fields.whole("seed", _SEED),
        "stop": _stop(fields),
        **vllm_fields.read_shaping(fields),
        "min_tokens": fields.whole("min_tokens", Interval(0, MAX_NEW_TOKENS)) or None,
        **formats.read_formats(fields, endpoint),
    }
    given = [name for name in formats.NAMES if name in values]
    if len(given) > 1:
        raise _said_twice(*given)
    names = ENDPOINTS[endpoint].limits
    limits = {name: fields.whole(name, Interval(0, MAX_NEW_TOKENS)) for name in names}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    if len(set(limits.values())) > 1:
        raise fields.wrong(next(iter(limits)), f"is given twice ({' and '.join(limits)})")
    settings = RequestSettings(
        values={name: value for name, value in values.items() if value is not None},
        decoding=None,
        draft="",
        limit=next(iter(limits.values()), None),
        limit_name=next(iter(limits), names[0]),
        effort=effort,
        ignore_eos=fields.flag("ignore_eos"),
        stop_ids=fields.token_ids("stop_token_ids"),
    )
    for name, accepted in vllm_fields.NEUTRAL[endpoint].items():
        fields.inert(name, *accepted)
    decoding = fields.object("decoding")
    effort_name = "reasoning.effort" if endpoint == "responses" else "reasoning_effort"
    return settings if decoding is None else _with_decoding(settings, decoding, effort_name)


def _with_decoding(
    settings: RequestSettings, decoding: Mapping[str, Any], effort_name: str
) -> RequestSettings:
    """Add `decoding`; raise ApiError for settings that parameters set too."""
    shaping = decoding.get("shaping", {})
    for name in settings.values:
        *inside, setting = _MEANS[name]
        where = shaping if inside else decoding
        if isinstance(where, Mapping) and setting in where:
            raise _said_twice(name, ".".join(("decoding", *inside, setting)))
    if settings.limit is not None and "max_new_tokens" in decoding:
        raise _said_twice(settings.limit_name, "decoding.max_new_tokens")
    if settings.ignore_eos and "min_new_tokens" in decoding:
        raise _said_twice("ignore_eos", "decoding.min_new_tokens")
    if settings.thinks and decoding.get("method", "reasoning") != "reasoning":
        raise _said_twice(effort_name, "decoding.method")
    draft = decoding.get("draft", "")
    if not isinstance(draft, str):
        raise ApiError(f"decoding.draft names a model, got {brief(draft)}.", param="decoding")
    config = {name: value for name, value in decoding.items() if name != "draft"}
    return replace(settings, decoding=config, draft=draft)


def _said_twice(name: str, other: str) -> ApiError:
    return ApiError(f"{name} and {other} say the same thing; give one of them.", param=name)


def _stop(fields: Fields) -> tuple[str, ...] | None:
    value = fields.any("stop")
    if value is None:
        return None
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise fields.wrong("stop", "must be a string or a list of strings that aren't empty")
    return tuple(texts)


def _bias(fields: Fields) -> tuple[tuple[int, float], ...] | None:
    value = fields.object("logit_bias")
    if value is None:
        return None
    for token, bias in value.items():
        named = token.isascii() and token.isdigit() and len(token) <= 9
        if not named or isinstance(bias, bool) or not isinstance(bias, int | float):
            got = brief(bias if named else token)
            raise fields.wrong("logit_bias", f"maps token ids to numbers, got {got}")
        if not -MAX_BIAS <= bias <= MAX_BIAS:
            raise fields.wrong("logit_bias", f"holds numbers from -100 to 100, got {brief(bias)}")
    return tuple((int(token), float(bias)) for token, bias in value.items())
