"""Declared filters; torch-free."""

from __future__ import annotations

from dataclasses import dataclass

from ...validation import Interval
from ..spec import SettingSpec, SliderRange, setting
from .temperatures import Temperatures

_FURTHER = "Further cuts"
_SHARE, _BELOW_1 = Interval(0.0, 1.0), Interval(0.0, 1.0, open_high=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters(Temperatures):
    """Filters, in the order in which a run applies them."""

    top_h: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Top-H",
            name="top-H",
            help="Keep the most probable tokens whose part of the entropy stays within this share "
            "of it, of the first 100 at most. 0 is off.",
            source="Baghaei Potraghloo et al. 2025, arXiv:2509.02510; transformers' "
            "`TopHLogitsWarper`",
            absent="Of 2025; of the four, transformers took it over.",
            usual=0.4,
            interval=_SHARE,
            sorts=True,
            slider=SliderRange(0.0, 1.0, 0.01, decode=True),
            group=_FURTHER,
            passed=lambda value: float(value) or None,
        ),
    )
    top_n_sigma: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Top-nσ",
            help="Drop tokens whose logit lies more than n standard deviations of the logits below "
            "the highest. 0 is off.",
            source="Tang et al. 2024, arXiv:2411.07641; llama.cpp's "
            "`llama_sampler_top_n_sigma_apply`",
            absent="Of the four, llama.cpp took it over from the paper.",
            usual=1.0,
            interval=Interval(0.0, 100.0),
            reads_each=True,
            slider=SliderRange(0.0, 3.0, 0.05, typed=100.0, decode=True),
            generate=None,
        ),
    )
    min_k: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Min-k",
            help="Cut at the steepest fall of the sorted logits, divided by its rank. The number "
            "over the range of the logits is the least that is kept. 0 is off.",
            source="Ding et al. 2026, arXiv:2604.11012, Algorithm 1",
            absent="Of April 2026; no release of the four had it by then.",
            usual=3.0,
            interval=Interval(0.0, 10_000.0),
            sorts=True,
            reads_each=True,
            slider=SliderRange(0.0, 100.0, 0.5, typed=10_000.0, decode=True),
            group=_FURTHER,
            generate=None,
        ),
    )
    top_k: int = setting(
        0,
        SettingSpec(
            role="filter",
            label="Top-k",
            help="Keep the k most probable tokens. 0 is off.",
            source="Fan et al. 2018; transformers' `TopKLogitsWarper`",
            usual=40,
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
            source="Holtzman et al. 2020; transformers' `TopPLogitsWarper`",
            usual=0.95,
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
            source="Nguyen et al. 2024, arXiv:2407.01082; transformers' `MinPLogitsWarper`",
            usual=0.05,
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
            source="Meister et al. 2023; transformers' `TypicalLogitsWarper`",
            absent="Neither vLLM nor mlx-lm took it over.",
            usual=0.9,
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
            source="Hewitt et al. 2022; transformers' `EpsilonLogitsWarper`",
            absent="The engines have min-p, whose floor follows the step.",
            usual=0.01,
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
            source="Hewitt et al. 2022; transformers' `EtaLogitsWarper`",
            absent="The engines have min-p, whose floor follows the step.",
            usual=0.01,
            interval=_BELOW_1,
            name="eta cutoff",
            key="eta",
            slider=SliderRange(0.0, 0.1, 0.001, typed=0.99, digits=3),
        ),
    )
    tail_free: float = setting(
        1.0,
        SettingSpec(
            role="filter",
            label="Tail-free",
            help="Cut where the curvature of the sorted probabilities, summed from the top, passes "
            "this share of its sum. 1 is off.",
            source="Bricken 2019; llama.cpp's `llama_sample_tail_free_impl` as it was",
            absent="llama.cpp removed it in October 2024 (pull request 10071).",
            usual=0.95,
            interval=_SHARE,
            sorts=True,
            reads_each=True,
            slider=SliderRange(0.0, 1.0, 0.01, decode=True),
            group=_FURTHER,
            generate=None,
        ),
    )
    top_a: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="Top-a",
            help="Drop tokens below this number times the square of the top token's probability. "
            "0 is off.",
            source="KoboldAI; text-generation-webui's `TopALogitsWarper`",
            absent="It stayed in KoboldAI, KoboldCpp and text-generation-webui.",
            usual=0.2,
            interval=_SHARE,
            slider=SliderRange(0.0, 1.0, 0.01, decode=True),
            group=_FURTHER,
            generate=None,
        ),
    )
    p_less: int = setting(
        0,
        SettingSpec(
            role="filter",
            label="P-less",
            help="Drop tokens below the probability that two draws agree (order 2); a higher order "
            "cuts more, order 1 stands for the entropy. 0 is off.",
            source="Tan et al. 2025, arXiv:2509.23234",
            absent="Of September 2025; no release of the four had it by then.",
            usual=2,
            interval=Interval(0, 100),
            reads_each=True,
            slider=SliderRange(0, 5, 1, typed=100, decode=True),
            group=_FURTHER,
            generate=None,
        ),
    )
    xtc_probability: float = setting(
        0.0,
        SettingSpec(
            role="filter",
            label="XTC",
            help="With this probability, drop every token that reaches the XTC threshold but the "
            "least likely of them. 0 is off.",
            source="Weidmann 2024; llama.cpp's `llama_sampler_xtc_apply`",
            absent="Made for text-generation-webui; two of the four took it over.",
            usual=1.0,
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
