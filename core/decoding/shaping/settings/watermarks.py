"""Declared watermarks, the last stages of a step; torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....language import Message
from ...errors import ConfigError
from ...record.bounds import MAX_COUNT
from ...validation import Interval, brief, require_choice, require_whole
from ..spec import SettingSpec, SliderRange, setting
from .bias import first_of
from .penalties import Penalties

SCHEMES = ("lefthash", "selfhash")
# Keys of the authors' code, synthid-text.
SYNTHID_KEYS = (
    654, 400, 836, 123, 340, 443, 597, 160, 57, 29, 590, 639, 13, 715, 468,
    990, 966, 226, 324, 585, 118, 504, 421, 521, 129, 669, 732, 225, 90, 960,
)  # fmt: skip
MAX_KEYS = 100
_GROUP = "Watermarks"


def read_keys(owner: str, name: str, value: object) -> tuple[int, ...]:
    """Return the keys of SynthID's layers.

    Raises:
        ConfigError: no list of 1 to 100 whole numbers.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise ConfigError(
            Message("must be a list of whole numbers, got {given}.", given=brief(value)),
            name,
            owner,
        )
    if len(value) > MAX_KEYS:
        raise ConfigError(
            Message(
                "must hold at most {max_keys} keys, got {value}.",
                max_keys=MAX_KEYS,
                value=len(value),
            ),
            name,
            owner,
        )
    for key in value:
        require_whole(owner, f"{name}: a key", key, 0, MAX_COUNT)
    return tuple(value)


def keys_in(text: str) -> list[Any]:
    """Return the keys in a text such as `654,400`; what is no number stays text, which `read_keys`
    refuses.
    """
    parts = text.replace(",", " ").split()
    return [int(part) if part.isdecimal() and len(part) < 12 else part for part in parts]


def key_words(keys: Sequence[int]) -> str:
    """Return keys as captions show them."""
    return first_of([*map(str, keys)], 3)


def _read_scheme(owner: str, name: str, value: object) -> str:
    require_choice(owner, name, value, SCHEMES)
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermarks(Penalties):
    """Watermarks, in the order in which a run applies them, after all filters."""

    watermark_bias: float = setting(
        0.0,
        SettingSpec(
            role="watermark",
            label="Green list",
            name="green list",
            help="Add this number to the logits of the green tokens, a random part of the "
            "vocabulary that follows from the key and the tokens before. It acts last, in greedy "
            "too. 0 is off.",
            source="Kirchenbauer et al. 2023, arXiv:2301.10226; transformers' "
            "`WatermarkLogitsProcessor`",
            absent="The engines leave watermarks to a logits processor of one's own.",
            interval=Interval(0.0, 100.0),
            # From the number of tokens on that the hash reads.
            acts_from=lambda value: value[4],
            slider=SliderRange(0.0, 5.0, 0.1, typed=100.0, decode=True),
            group=_GROUP,
            generate="watermarking_config",
        ),
    )
    watermark_ratio: float = setting(
        0.25,
        SettingSpec(
            role="watermark",
            label="Green share",
            name="green share",
            help="Share of the vocabulary that is green at each step.",
            interval=Interval(0.0, 1.0, open_low=True, open_high=True),
            part_of="watermark_bias",
            slider=SliderRange(0.05, 0.95, 0.05, typed=0.99, decode=True),
            generate=None,
        ),
    )
    watermark_key: int = setting(
        15_485_863,
        SettingSpec(
            role="watermark",
            label="Green-list key",
            name="key",
            help="Whoever knows this number can find the watermark; without it the green tokens "
            "look like any others.",
            interval=Interval(1, 2**53 - 1),
            part_of="watermark_bias",
            generate=None,
            shown=str,
        ),
    )
    watermark_scheme: str = setting(
        "lefthash",
        SettingSpec(
            role="watermark",
            label="Green-list scheme",
            name="scheme",
            help="lefthash: the token before decides which tokens are green. selfhash: the token "
            "itself counts too, and the 40 likeliest tokens are tried.",
            read=_read_scheme,
            part_of="watermark_bias",
            generate=None,
            shown=str,
        ),
    )
    watermark_context: int = setting(
        1,
        SettingSpec(
            role="watermark",
            label="Green-list context",
            name="context width",
            help="Number of tokens that selfhash reads, the new one included. A step with fewer "
            "tokens before it isn't marked.",
            interval=Interval(1, 100),
            part_of="watermark_bias",
            generate=None,
        ),
    )
    synthid_depth: int = setting(
        0,
        SettingSpec(
            role="watermark",
            label="SynthID layers",
            name="SynthID layers",
            help="Number of tournaments between the tokens at each step, each with a key of its "
            "own (at most as many as there are keys). It acts last, in greedy too. 0 is off.",
            source="Dathathri et al. 2024, Nature 634; transformers' "
            "`SynthIDTextWatermarkLogitsProcessor`",
            absent="The engines leave watermarks to a logits processor of one's own.",
            interval=Interval(0, MAX_KEYS),
            slider=SliderRange(0, 30, 1, typed=MAX_KEYS, decode=True),
            group=_GROUP,
            generate="watermarking_config",
            # A layer may double the relative error of a rare token; likely ones hardly change.
            stretch=lambda _: 4.0,
        ),
    )
    synthid_keys: tuple[int, ...] = setting(
        SYNTHID_KEYS,
        SettingSpec(
            role="watermark",
            label="SynthID keys",
            name="keys",
            help="Keys of the layers, whole numbers separated by commas.",
            read=read_keys,
            parse=keys_in,
            part_of="synthid_depth",
            generate=None,
            shown=key_words,
        ),
    )
    synthid_ngram: int = setting(
        5,
        SettingSpec(
            role="watermark",
            label="SynthID n-gram",
            name="n-gram",
            help="Number of tokens that are hashed: the new one and those before it.",
            interval=Interval(2, 100),
            part_of="synthid_depth",
            slider=SliderRange(2, 10, 1, typed=100, decode=True),
            generate=None,
        ),
    )
    synthid_history: int = setting(
        1024,
        SettingSpec(
            role="watermark",
            label="SynthID history",
            name="history",
            help="A step whose tokens before it already stood before one of so many steps isn't "
            "marked.",
            interval=Interval(1, 100_000),
            part_of="synthid_depth",
            generate=None,
            shown=str,
        ),
    )
