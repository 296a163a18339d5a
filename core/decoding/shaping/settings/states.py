"""Declared samplers with a state that earlier steps' probabilities change; torch-free."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...validation import Interval
from ..spec import SettingSpec, SliderRange, StageState, setting
from .filters import Filters

_ADAPTIVE = "Samplers that adapt"


def start_of_mirostat(value: tuple[int, float, float]) -> float:
    """Return mu at the first step, in bits: twice the aim."""
    return 2 * value[1]


def surprise_left(_: float, after: float) -> float | None:
    """Return a token's surprise in the distribution that the stage left, in bits; None if the
    stage removed it.
    """
    return -math.log2(after) if after > 0 else None


def next_mirostat(value: tuple[int, float, float], mu: float, surprise: float) -> float:
    """Return mu after a step, in bits: it falls by eta times the surprise's excess over tau."""
    return mu - value[2] * (surprise - value[1])


def start_of_adaptive(value: tuple[float, float]) -> float:
    """Return the average probability before the first step: the target."""
    return value[0]


def next_adaptive(value: tuple[float, float], average: float, prob: float) -> float:
    """Return the moving average of the chosen tokens' probabilities."""
    return value[1] * average + (1 - value[1]) * prob


@dataclass(frozen=True, slots=True, kw_only=True)
class States(Filters):
    """Samplers with a state, in the order in which a run applies them."""

    mirostat: int = setting(
        0,
        SettingSpec(
            role="filter",
            label="Mirostat",
            help="Drop the unlikely tokens so that the surprise of the chosen ones stays near tau: "
            "version 2 drops tokens with a surprise above mu, version 1 estimates their number "
            "from mu; mu follows from the surprises so far. 0 is off.",
            source="Basu et al. 2021, arXiv:2007.14966; llama.cpp's `llama_sampler_mirostat_apply` "
            "and `llama_sampler_mirostat_v2_apply`",
            absent="Of the four, llama.cpp took it over from the paper.",
            usual=2,
            interval=Interval(0, 2),
            reads_each=True,
            per_step=True,
            slider=SliderRange(0, 2, 1, decode=True),
            group=_ADAPTIVE,
            generate=None,
            state=StageState(
                name="mu",
                seen_name="surprise",
                unit="bits",
                aim=lambda value: value[1],
                start=start_of_mirostat,
                seen=surprise_left,
                after=next_mirostat,
            ),
        ),
    )
    mirostat_tau: float = setting(
        5.0,
        SettingSpec(
            role="filter",
            label="Mirostat tau",
            name="mirostat tau",
            help="The surprise that mirostat aims at, in bits.",
            interval=Interval(0.0, 100.0),
            part_of="mirostat",
            slider=SliderRange(0.0, 10.0, 0.1, typed=100.0, decode=True),
            generate=None,
        ),
    )
    mirostat_eta: float = setting(
        0.1,
        SettingSpec(
            role="filter",
            label="Mirostat eta",
            name="mirostat eta",
            help="How far mu moves for each bit by which a surprise misses tau.",
            interval=Interval(0.0, 10.0),
            part_of="mirostat",
            slider=SliderRange(0.0, 1.0, 0.01, typed=10.0, decode=True),
            generate=None,
        ),
    )
    adaptive_target: float = setting(
        0.0,
        SettingSpec(
            role="temperature",
            label="Adaptive-p",
            name="adaptive-p",
            help="Favour tokens with a probability near this number; it is corrected so that the "
            "chosen tokens' probabilities have it as their average. Best after a min-p. 0 is off.",
            source="MrJackSpade 2025; llama.cpp's `llama_sampler_adaptive_p_apply`",
            absent="Of late 2025; of the four, llama.cpp has it.",
            interval=Interval(0.0, 1.0),
            reads_each=True,
            per_step=True,
            slider=SliderRange(0.0, 1.0, 0.01, decode=True),
            group=_ADAPTIVE,
            generate=None,
            # 10 / 0.3 for each unit of probability, which moves by half of an error of a logit.
            stretch=lambda _: 17.0,
            state=StageState(
                name="average",
                seen_name="probability",
                unit="",
                aim=lambda value: value[0],
                start=start_of_adaptive,
                seen=lambda before, _: before,
                after=next_adaptive,
            ),
        ),
    )
    adaptive_decay: float = setting(
        0.9,
        SettingSpec(
            role="temperature",
            label="Adaptive decay",
            name="adaptive decay",
            help="Weight of the earlier tokens in adaptive-p's average: it reaches back about 1 / "
            "(1 - this number) tokens.",
            interval=Interval(0.0, 0.99),
            part_of="adaptive_target",
            slider=SliderRange(0.0, 0.99, 0.01, decode=True),
            generate=None,
        ),
    )
