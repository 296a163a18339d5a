"""Settings of the shaping: penalties, temperature and filters, each declared once.

A setting is a field of `Shaping` with its `SettingSpec`, a function of the same name in `filters`,
and a place in the `SEQUENCES` of the libraries that have it; everything else is derived.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from core.decoding.shaping.bias import bias_lines, bias_text, bias_words, biases_in, read_biases
from core.decoding.shaping.spec import (
    Lines,
    SettingSpec,
    SliderRange,
    setting,
    specs_of,
)
from core.decoding.validation import TEMPERATURE, Interval

_SHARE, _BELOW_1 = Interval(0.0, 1.0), Interval(0.0, 1.0, open_high=True)
# Of the penalties that OpenAI's API has.
_OPENAI = Interval(-2.0, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """Settings of the shaping, from logits to the final distribution; the defaults change nothing.

    Penalties and bans act first, then `min_new_tokens` (a field of the method's config), then
    temperature and filters. Within both groups the fields' order applies, which is transformers'.
    `temperature=0` means greedy decoding. Unlike in `generate`, an unset `top_k` filters nothing
    (transformers' implicit default is 50).

    Raises:
        ConfigError: a value outside its interval.
    """

    temperature: float = setting(
        1.0,
        SettingSpec(
            role="temperature",
            label="Temperature",
            help="Below 1 the likely tokens get likelier; above 1 all tokens get more alike. "
            "0 means greedy.",
            interval=TEMPERATURE,
            slider=SliderRange(0.0, 2.0, 0.05, typed=10.0, start=0.8, decode=True),
            stretch=lambda value: 1 / value,
        ),
    )
    top_n_sigma: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Top-nσ",
            help="Drop tokens whose logit lies more than n standard deviations of the logits below "
            "the highest. 0 is off.",
            interval=Interval(0.0, 100.0),
            reads_each=True,
            slider=SliderRange(0.0, 3.0, 0.05, typed=100.0, decode=True),
            generate=None,
        ),
    )
    top_k: int = setting(
        0,
        SettingSpec(
            role="filter",
            label="Top-k",
            help="Keep the k most probable tokens. 0 is off.",
            interval=Interval(0, 10_000_000),
            slider=SliderRange(0, 100, 1, typed=10_000, decode=True),
        ),
    )
    top_p: float = setting(
        1.0,
        SettingSpec(
            role="filter",
            label="Top-p",
            help="Keep the most probable tokens that together reach this probability. 1 is off.",
            interval=_SHARE,
            sorts=True,
            slider=SliderRange(0.0, 1.0, 0.01, start=0.95, decode=True),
        ),
    )
    min_p: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Min-p",
            help="Drop tokens below this share of the top token's probability. 0 is off.",
            interval=_SHARE,
            slider=SliderRange(0.0, 1.0, 0.01, decode=True),
            passed=lambda value: float(value) or None,
        ),
    )
    typical_p: float = setting(
        1.0,
        SettingSpec(
            role="filter",
            label="Typical-p",
            help="Keep the tokens whose surprisal is nearest to the entropy, up to this "
            "probability. 1 is off.",
            interval=Interval(0.0, 1.0, open_low=True),
            sorts=True,
            reads_each=True,
            slider=SliderRange(0.01, 1.0, 0.01),
        ),
    )
    epsilon_cutoff: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Epsilon",
            help="Drop tokens below this probability. 0 is off.",
            interval=_BELOW_1,
            name="epsilon cutoff",
            key="epsilon",
            slider=SliderRange(0.0, 0.1, 0.001, typed=0.99, digits=3),
        ),
    )
    eta_cutoff: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Eta",
            help="Drop tokens below a probability that falls as the entropy rises. 0 is off.",
            interval=_BELOW_1,
            name="eta cutoff",
            key="eta",
            slider=SliderRange(0.0, 0.1, 0.001, typed=0.99, digits=3),
        ),
    )
    xtc_probability: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="XTC",
            help="With this probability, drop every token that reaches the XTC threshold but the "
            "least likely of them. 0 is off.",
            interval=_SHARE,
            name="XTC",
            per_step=True,
            slider=SliderRange(0.0, 1.0, 0.05, decode=True),
            generate=None,
        ),
    )
    xtc_threshold: float = setting(
        0.1,
        SettingSpec(
            role="filter",
            label="XTC threshold",
            help="Tokens of this probability or more are XTC's top choices. Above 0.5 it removes "
            "nothing.",
            interval=Interval(0.0, 1.0, open_low=True),
            name="XTC threshold",
            part_of="xtc_probability",
            slider=SliderRange(0.01, 0.5, 0.01, typed=1.0, decode=True),
            generate=None,
        ),
    )
    logit_bias: tuple[tuple[int, float], ...] | Mapping[int, float] = setting(
        (),
        SettingSpec(
            role="penalty",
            label="Logit bias",
            help="Add a number from -100 to 100 to the logits of single tokens, before everything "
            "else: ID=VALUE, several separated by commas or each in an option of its own. It acts "
            "in greedy too. None is off.",
            key="bias",
            generate="sequence_bias",
            passed=lambda biases: [[[token], value] for token, value in biases] or None,
            read=read_biases,
            parse=biases_in,
            lines=Lines(
                help="What is added to the logits of single tokens, from -100 to 100. One a line: "
                "a token's text, or # and its id, then = and the number. A space before a word is "
                "part of the token; \\n is a line break.",
                placeholder=" the = -5\n#383 = -5",
                read=bias_lines,
                write=bias_text,
            ),
            shown=bias_words,
            token_ids=lambda biases: [token for token, _ in biases],
        ),
    )
    repetition_penalty: float = setting(
        1.0,
        SettingSpec(
            role="penalty",
            label="Penalty",
            help="Above 1, tokens that are already in the text get less likely. It acts in greedy "
            "too. 1 is off.",
            interval=Interval(0.01, 100.0),
            name="repetition penalty",
            key="penalty",
            slider=SliderRange(1.0, 2.0, 0.05, typed=10.0, decode=True),
            stretch=lambda value: max(value, 1 / value),
        ),
    )
    frequency_penalty: float = setting(
        0.0,
        SettingSpec(
            role="penalty",
            label="Frequency",
            name="frequency penalty",
            help="Subtract this number from a token's logit for each time that the token was "
            "generated; the prompt doesn't count. It acts in greedy too. 0 is off.",
            interval=_OPENAI,
            slider=SliderRange(-2.0, 2.0, 0.05, decode=True),
            generate=None,
        ),
    )
    presence_penalty: float = setting(
        0.0,
        SettingSpec(
            role="penalty",
            label="Presence",
            name="presence penalty",
            help="Subtract this number once from the logit of each token that was generated; the "
            "prompt doesn't count. It acts in greedy too. 0 is off.",
            interval=_OPENAI,
            slider=SliderRange(-2.0, 2.0, 0.05, decode=True),
            generate=None,
        ),
    )
    no_repeat_ngram_size: int = setting(
        0,
        SettingSpec(
            role="ban",
            label="No repeated n-gram",
            help="Ban n-grams that were seen. 0 is off.",
            interval=Interval(0, 1000),
            acts_from=int,
        ),
    )

    def __post_init__(self) -> None:
        for name, spec in SETTINGS.items():
            object.__setattr__(self, name, spec.checked("Shaping", getattr(self, name)))

    def active(self, names: Iterable[str]) -> list[str]:
        """Return the given settings that are switched on, without their further numbers."""
        return [
            name for name in names if name in ACTING and getattr(self, name) != SETTINGS[name].off
        ]

    @property
    def penalised(self) -> bool:
        """True if a penalty or a ban is switched on."""
        return bool(self.active(PENALTIES))

    def token_ids(self) -> dict[str, Collection[int]]:
        """Token ids in the settings' values, by setting; a model must have these tokens."""
        return {name: spec.token_ids(getattr(self, name)) for name, spec in SETTINGS.items()}

    def penalties_only(self) -> Shaping:
        """Return the penalties and bans only, for steps where nothing is drawn."""
        values = {name: getattr(self, name) for name, spec in SETTINGS.items() if spec.penalises}
        return replace(Shaping(), **values)


SETTINGS: dict[str, SettingSpec] = specs_of(Shaping)
# Settings with a function: all but further numbers of other settings.
ACTING = {name: spec for name, spec in SETTINGS.items() if not spec.part_of}
PENALTIES = tuple(name for name, spec in ACTING.items() if spec.penalises)
WARPERS = tuple(name for name in ACTING if name not in PENALTIES)
# Settings that move probability mass between tokens and remove none.
RESCALING = {name for name, spec in SETTINGS.items() if spec.role in ("penalty", "temperature")}
LOGIT_PENALTIES = tuple(name for name in PENALTIES if name in RESCALING)
# Settings that remove a few tokens of many.
BANS = {*(name for name, spec in SETTINGS.items() if spec.role == "ban"), "min_new_tokens"}
# In the order of the stages of a run's step.
RUN_ORDER = (*PENALTIES, "min_new_tokens", *WARPERS)
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

_PENALTIES = ("repetition_penalty", "frequency_penalty", "presence_penalty")
# Order in which each library applies the lab's settings; a library lacks the settings that are
# missing here. `orders` names the sources. Runs use transformers' order.
SEQUENCES: dict[str, tuple[str, ...]] = {
    "transformers": tuple(name for name in (*PENALTIES, *WARPERS) if name in KNOB_RANGES),
    "vllm": (
        *_PENALTIES,
        "temperature",
        "min_p",
        "top_k",
        "top_p",
    ),
    "mlx-lm": (
        *_PENALTIES,
        "top_p",
        "min_p",
        "xtc_probability",
        "top_k",
        "temperature",
    ),
    "llama.cpp": (
        *_PENALTIES,
        "top_n_sigma",
        "top_k",
        "typical_p",
        "top_p",
        "min_p",
        "xtc_probability",
        "temperature",
    ),
}
