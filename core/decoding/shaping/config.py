"""Settings of the shaping: penalties, temperature and filters, each declared once.

A setting is a field in `settings` with its `SettingSpec`, a function of the same name in one of the
modules of `stages.FUNCTIONS`, and a place in the `SEQUENCES` of the libraries that have it;
everything else is derived.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...language import N_, Message
from ..errors import ConfigError
from .settings.guidance import Guidance
from .spec import SettingSpec, specs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping(Guidance):
    """Settings of the shaping, from logits to the final distribution; the defaults change nothing.

    Contrasts with a second forward act first, then penalties and bans, then `min_new_tokens` (a
    field of the method's config), then temperature and filters, last watermarks. Within each group
    the fields' order applies, which is transformers' where transformers has them.
    `temperature=0` means greedy decoding. Unlike in `generate`, an unset `top_k` filters nothing
    (transformers' implicit default is 50).

    Raises:
        ConfigError: a value outside its interval.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = Sampling(max_new_tokens=8, shaping=Shaping(temperature=0.7, min_p=0.05))
        >>> collect(model, "Once upon a time", config).text
        ', there was a little boy whose name'
    """

    def __post_init__(self) -> None:
        for name, spec in SETTINGS.items():
            object.__setattr__(self, name, spec.checked("Shaping", getattr(self, name)))
        for first, second, reason in _ALONE:
            if self.active([first]) and self.active([second]):
                raise ConfigError(
                    Message(
                        "can't act together with {label}: {reason}; switch one of them off.",
                        label=Message(SETTINGS[first].label),
                        reason=Message(reason),
                    ),
                    second,
                    "Shaping",
                )

    def active(self, names: Iterable[str]) -> list[str]:
        """Return the given settings that are switched on, without their further numbers."""
        return [
            name for name in names if name in ACTING and getattr(self, name) != SETTINGS[name].off
        ]

    def value_of(self, name: str) -> Any:
        """Return a setting's value; a tuple if it has further numbers."""
        value, parts = getattr(self, name), parts_of(name)
        return (value, *(getattr(self, part) for part in parts)) if parts else value

    @property
    def penalised(self) -> bool:
        """True if a penalty or a ban is switched on."""
        return bool(self.active(PENALTIES))

    @property
    def contrasts(self) -> bool:
        """True if a setting needs a second forward at each step."""
        return bool(self.active(CONTRASTS))

    def token_ids(self) -> dict[str, Collection[int]]:
        """Token ids in the settings' values, by setting; a model must have these tokens."""
        return {name: spec.token_ids(getattr(self, name)) for name, spec in SETTINGS.items()}

    def penalties_only(self) -> Shaping:
        """Return the penalties and bans only, for steps where nothing is drawn."""
        values = {name: getattr(self, name) for name, spec in SETTINGS.items() if spec.penalises}
        return replace(Shaping(), **values)


# Settings that no library has together, and why.
_ALONE = (
    (
        "mirostat",
        "adaptive_target",
        N_("both choose the token by a state, and llama.cpp takes one"),
    ),
    ("watermark_bias", "synthid_depth", N_("transformers takes one watermark")),
)
SETTINGS: dict[str, SettingSpec] = specs_of(Shaping)
# Settings with a function: all but further numbers of other settings.
ACTING = {name: spec for name, spec in SETTINGS.items() if not spec.part_of}
PENALTIES = tuple(name for name, spec in ACTING.items() if spec.penalises)
WARPERS = tuple(name for name in ACTING if name not in PENALTIES)
# Settings that move probability mass between tokens and remove none.
RESCALING = {
    name
    for name, spec in SETTINGS.items()
    if spec.role in ("penalty", "temperature", "contrast", "watermark")
}
LOGIT_PENALTIES = tuple(name for name in PENALTIES if ACTING[name].role == "penalty")
# Settings that remove a few tokens of many.
BANS = {*(name for name, spec in SETTINGS.items() if spec.role == "ban"), "min_new_tokens"}
WATERMARKS = tuple(name for name, spec in ACTING.items() if spec.role == "watermark")
CONTRASTS = tuple(name for name, spec in ACTING.items() if spec.role == "contrast")
_ELSEWHERE = {"constraint", *WATERMARKS, *CONTRASTS}
_PENALISING = tuple(name for name in PENALTIES if name not in _ELSEWHERE)
# In the order of the stages of a run's step.
RUN_ORDER = (
    *("constraint", *CONTRASTS),
    *(*_PENALISING, "min_new_tokens"),
    *(*WARPERS, *WATERMARKS),
)
STAGES = ("raw", *RUN_ORDER, "argmax", "forced", "server", "final")


@cache
def parts_of(name: str) -> tuple[str, ...]:
    """Return the further numbers of a setting."""
    return tuple(part for part, spec in SETTINGS.items() if spec.part_of == name)


def number_without_effect(values: Mapping[str, object]) -> str:
    """Return the first further number among settings whose own setting is off; else empty."""
    return next(
        (
            name
            for name in values
            if name in SETTINGS
            and (first := SETTINGS[name].part_of)
            and values.get(first, SETTINGS[first].off) == SETTINGS[first].off
        ),
        "",
    )


# Settings with a knob, on the Decode page and in the lab.
KNOB_SETTINGS = tuple(
    SETTINGS[number]
    for name in (*WARPERS, *PENALTIES)
    for number in (name, *parts_of(name))
    if SETTINGS[number].slider
)
# Ranges of the lab's sliders, by field.
KNOB_RANGES = {s.field: (s.slider.low, s.slider.high) for s in KNOB_SETTINGS if s.slider}
SAMPLERS = tuple(name for name in (*WARPERS, *PENALTIES) if name in KNOB_RANGES)
# Samplers of the lab: those with a knob, and those that list tokens.
LISTED = tuple(
    name for name in (*WARPERS, *PENALTIES) if SETTINGS[name].slider or SETTINGS[name].lines
)
# With those that have controls of their own.
TABLED = (*LISTED, "constraint", *CONTRASTS)


def ranges_in_view(shaping: Shaping) -> dict[str, tuple[float, float]]:
    """Return the ranges of the sliders that are always in view, and of settings that are on."""
    on = {*shaping.active(SAMPLERS)}
    return {
        spec.field: KNOB_RANGES[spec.field]
        for spec in KNOB_SETTINGS
        if (first := spec.part_of or spec.field) in on or not SETTINGS[first].group
    }


_PENALTIES = ("repetition_penalty", "frequency_penalty", "presence_penalty")
# Order in which each library applies the lab's settings; a library lacks the settings that are
# missing here. `orders` names the sources. Runs use transformers' order.
SEQUENCES: dict[str, tuple[str, ...]] = {
    "transformers": tuple(name for name in RUN_ORDER if name in {"constraint", *LISTED}),
    "vllm": (
        "constraint",
        "bad_words",
        "logit_bias",
        *_PENALTIES,
        "temperature",
        "min_p",
        "top_k",
        "top_p",
    ),
    "mlx-lm": (
        "logit_bias",
        *_PENALTIES,
        "top_p",
        "min_p",
        "xtc_probability",
        "top_k",
        "temperature",
    ),
    "llama.cpp": (
        "constraint",
        "logit_bias",
        *_PENALTIES,
        "dry_multiplier",
        "top_n_sigma",
        "top_k",
        "typical_p",
        "top_p",
        "min_p",
        "xtc_probability",
        "temperature",
        "dynatemp_high",
        "adaptive_target",
        "mirostat",
    ),
}
# With mirostat llama.cpp leaves out everything but these.
MIROSTAT_ALONE = ("constraint", "logit_bias", "temperature", "dynatemp_high", "mirostat")
# Samplers with a state, which follows one sequence.
STATEFUL = tuple(name for name, spec in SETTINGS.items() if spec.state)
