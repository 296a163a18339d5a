"""Declared settings that rescale logits where tokens are drawn; torch-free."""

from __future__ import annotations

from dataclasses import dataclass

from core.decoding.shaping.spec import SettingSpec, SliderRange, setting
from core.decoding.validation import TEMPERATURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Temperatures:
    """Temperature settings, in the order in which a run applies them."""

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
