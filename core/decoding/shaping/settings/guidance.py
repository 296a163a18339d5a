"""Declared settings that contrast the model's logits with those of a second forward; torch-free."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....language import Message
from ...errors import ConfigError
from ...validation import Interval, brief
from ..spec import SettingSpec, setting
from .watermarks import Watermarks

MAX_NEGATIVE_PROMPT = 20_000
_NONE = Message("none")
LAYERS = r"(high|low|[0-9]{1,4}(,[0-9]{1,4}){0,99})?"


def _read_layers(owner: str, name: str, value: object) -> str:
    """Return the layers as text.

    Raises:
        ConfigError: neither `high`, `low` nor numbers with commas between.
    """
    if not isinstance(value, str) or not re.fullmatch(LAYERS, value):
        raise ConfigError(
            Message(
                "must be high, low, or numbers of layers with commas between, got {given}.",
                given=brief(value),
            ),
            name,
            owner,
        )
    return value


def _read_prompt(owner: str, name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_NEGATIVE_PROMPT:
        raise ConfigError(
            Message(
                "must be a text of at most {max_negative_prompt:,} characters, got {given}.",
                max_negative_prompt=MAX_NEGATIVE_PROMPT,
                given=brief(value),
            ),
            name,
            owner,
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance(Watermarks):
    """Second forwards, whose stages come first in a run."""

    guidance_scale: float = setting(
        1.0,
        SettingSpec(
            role="contrast",
            label="Guidance scale",
            help="Weight of the prompt against the negative prompt, which a second forward reads "
            "at every step: above 1, tokens that the prompt makes likelier get likelier still. It "
            "acts first, in greedy too. 1 is off.",
            source="Sanchez et al. 2023, arXiv:2306.17806; transformers' "
            "`UnbatchedClassifierFreeGuidanceLogitsProcessor`",
            absent="The engines run one forward at each step; llama.cpp removed its guidance in "
            "2024 (issue 10774).",
            interval=Interval(0.0, 100.0),
            # Both forwards' errors count.
            passed=lambda value: float(value[0]),
            stretch=lambda value: value + abs(1 - value),
        ),
    )
    negative_prompt: str = setting(
        "",
        SettingSpec(
            role="contrast",
            label="Negative prompt",
            help="Text before the generated one in the second forward; empty for the prompt's last "
            "token alone.",
            read=_read_prompt,
            part_of="guidance_scale",
            generate=None,
            shown=lambda text: f"“{text[:40]}{'…' if len(text) > 40 else ''}”" if text else _NONE,
        ),
    )
    dola_layers: str = setting(
        "",
        SettingSpec(
            role="contrast",
            label="DoLa layers",
            name="DoLa layers",
            help="Divide the model's probabilities by those of an earlier layer, of these the one "
            "that differs most: high, low, or numbers with commas between. It acts first, in "
            "greedy too. Empty is off.",
            source="Chuang et al. 2024, arXiv:2309.03883; transformers' `dola_layers` as it was",
            absent="transformers removed it in August 2025 (pull request 40082); the engines "
            "don't give the outputs of earlier layers.",
            read=_read_layers,
            generate=None,
            shown=lambda text: text or _NONE,
            stretch=lambda _: 2.0,
        ),
    )
    dola_alpha: float = setting(
        0.1,
        SettingSpec(
            role="contrast",
            label="DoLa share",
            name="DoLa share",
            help="Tokens below this share of the likeliest token's probability are removed before "
            "the layers are compared.",
            interval=Interval(0.0, 1.0, open_low=True),
            part_of="dola_layers",
            generate=None,
        ),
    )
    contrastive_beta: float = setting(
        0.0,
        SettingSpec(
            role="contrast",
            label="Contrast weight",
            name="contrast weight",
            help="Weight b of the draft in contrastive decoding: (1 + b) ln p of the target less b "
            "ln p of the draft. It acts first. 0 is off.",
            source="Li et al. 2023, arXiv:2210.15097; O'Brien and Lewis 2023, arXiv:2309.09117",
            absent="The four use a draft model for speculative decoding only.",
            interval=Interval(0.0, 100.0),
            generate=None,
            stretch=lambda value: 1 + 2 * value,
        ),
    )
    contrastive_alpha: float = setting(
        0.1,
        SettingSpec(
            role="contrast",
            label="Contrast share",
            name="contrast share",
            help="Tokens below this share of the likeliest token's probability in the target are "
            "removed before.",
            interval=Interval(0.0, 1.0, open_low=True),
            part_of="contrastive_beta",
            generate=None,
        ),
    )
