"""Declared settings that rescale logits where tokens are drawn; torch-free."""

from __future__ import annotations

from dataclasses import dataclass

from ...validation import MIN_TEMPERATURE, TEMPERATURE, Interval
from ..spec import SettingSpec, SliderRange, setting

_FURTHER = "Further temperatures"


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
            source="Ackley et al. 1985; transformers' `TemperatureLogitsWarper`",
            interval=TEMPERATURE,
            slider=SliderRange(0.0, 2.0, 0.05, typed=10.0, start=0.8, decode=True),
            stretch=lambda value: 1 / value,
        ),
    )
    dynatemp_high: float = setting(
        0.0,
        SettingSpec(
            role="temperature",
            label="Dynamic temp.",
            name="dynamic temperature",
            help="Divide the logits by a temperature that rises with the entropy: from the dynamic "
            "lowest, where one token has all the probability, to this number, where all tokens are "
            "alike. The temperature above acts too, before it. 0 is off.",
            source="kalomaze; llama.cpp's `llama_sampler_temp_ext_apply`",
            absent="Of llama.cpp's forks; of the four, llama.cpp took it over.",
            interval=Interval(0.0, 10.0),
            reads_each=True,
            slider=SliderRange(0.0, 3.0, 0.05, typed=10.0, decode=True),
            group=_FURTHER,
            generate=None,
            stretch=lambda _: 2.0,
        ),
    )
    dynatemp_low: float = setting(
        0.5,
        SettingSpec(
            role="temperature",
            label="Dynamic lowest",
            name="dynamic lowest",
            help="The dynamic temperature of a step without doubt. Above the highest, doubt lowers "
            "the temperature.",
            interval=Interval(MIN_TEMPERATURE, 10.0),
            part_of="dynatemp_high",
            slider=SliderRange(0.05, 3.0, 0.05, typed=10.0, decode=True),
            generate=None,
            stretch=lambda value: max(1.0, 1 / value),
        ),
    )
    dynatemp_exponent: float = setting(
        1.0,
        SettingSpec(
            role="temperature",
            label="Dynamic exponent",
            name="dynamic exponent",
            help="Power of the entropy's share of its maximum: above 1, the temperature rises only "
            "near full doubt.",
            interval=Interval(0.01, 10.0),
            part_of="dynatemp_high",
            slider=SliderRange(0.1, 5.0, 0.05, typed=10.0, decode=True),
            generate=None,
        ),
    )
    smoothing_factor: float = setting(
        0.0,
        SettingSpec(
            role="temperature",
            label="Quadratic",
            name="quadratic smoothing",
            help="Put each logit this number times its squared distance below the highest: near "
            "ones get more alike, far ones fall further. 0 is off.",
            source="kalomaze; text-generation-webui's `QuadraticSamplingLogitsWarper`",
            absent="It stayed in text-generation-webui, KoboldCpp and Aphrodite.",
            interval=Interval(0.0, 100.0),
            reads_each=True,
            slider=SliderRange(0.0, 3.0, 0.01, typed=100.0, decode=True),
            group=_FURTHER,
            generate=None,
            # Steepest where the probability is still above exp(-30).
            stretch=lambda value: 1 + 11 * value**0.5,
        ),
    )
    smoothing_curve: float = setting(
        1.0,
        SettingSpec(
            role="temperature",
            label="Quadratic curve",
            name="quadratic curve",
            help="At 1 the distance is squared, at 3 it is cubed; above 3, near tokens rise above "
            "the highest.",
            interval=Interval(1.0, 10.0),
            part_of="smoothing_factor",
            slider=SliderRange(1.0, 5.0, 0.05, typed=10.0, decode=True),
            generate=None,
            stretch=lambda value: value,
        ),
    )
