"""Settings of beam search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...language import N_, Message
from ..config import SEED, MethodConfig, setting
from ..errors import ConfigError
from ..validation import Interval, brief, require_whole

MAX_BEAMS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamSearch(MethodConfig):
    """Beam search: keep the `num_beams` best paths at each step, as transformers does. A step has K
    = max(2, 1 + end-of-sequence tokens) * num_beams candidates, whatever `top_candidates` is.

    Args:
        num_beams: number of rows in the beam; 1 is greedy decoding that may continue past an early
            end.
        length_penalty: a hypothesis' score is its summed log-probability divided by its length to
            this power: values above 0 favour long hypotheses, values below 0 short ones.
        early_stopping: True stops once there are num_beams hypotheses; False stops once the best
            row, at its present length, can't beat the worst hypothesis; "never" compares at the
            longest possible length.
        num_return_sequences: number of best hypotheses to return.
        do_sample: draw the K candidates instead of taking the best ("beam sample"); temperature and
            filters then act. Temperature 0 switches it off.
        num_beam_groups: number of groups in diverse beam search (Vijayakumar et al. 2016); each has
            num_beams / num_beam_groups rows and is searched separately.
        diversity_penalty: subtracted from a token's log-probability for each path of an earlier
            group that took the token at the same step (Hamming diversity); end-of-sequence tokens
            are exempt.
        seed: seed of the draws.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> [round(path.score, 3) for path in trace.hypotheses]
        [-0.605, -0.616, -0.74]
    """

    method: ClassVar[str] = "beam"
    words: ClassVar[str] = N_("beam search")
    can_contrast: ClassVar[bool] = False
    without_states: ClassVar[str] = N_("its state follows one text, and a search has several paths")

    num_beams: int = setting(4, "rows of the beam", Interval(1, MAX_BEAMS))
    # A larger power of a length overflows float32.
    length_penalty: float = setting(
        1.0, "above 0 favours long hypotheses, below 0 short ones", Interval(-5.0, 5.0)
    )
    early_stopping: bool | Literal["never"] = False
    num_return_sequences: int = setting(1, "how many hypotheses to print")
    do_sample: bool = setting(False, "draw the candidates instead of taking the best")
    num_beam_groups: int = setting(1, "diverse beam search: so many groups")
    diversity_penalty: float = setting(
        0.0,
        "what a token costs that an earlier group has just taken, in nats",
        Interval(0.0, 100.0),
    )
    seed: int = setting(0, within=SEED)

    def __post_init__(self) -> None:
        # super() without arguments fails: a dataclass with slots is a rebuilt class.
        MethodConfig.__post_init__(self)
        for name in ("num_return_sequences", "num_beam_groups"):
            require_whole("BeamSearch", name, getattr(self, name), 1, self.num_beams)
        if self.shaping.synthid_depth:
            raise ConfigError(
                N_(
                    "follows the tokens of one text, and a beam search has several: "
                    "set it to 0, or take sampling."
                ),
                "synthid_depth",
                "BeamSearch",
            )
        stopping = self.early_stopping
        if not isinstance(stopping, bool) and stopping != "never":
            raise ConfigError(
                Message("must be True, False or 'never', got {given}.", given=brief(stopping)),
                "early_stopping",
                "BeamSearch",
            )
        beams, groups = self.num_beams, self.num_beam_groups
        if beams % groups:
            raise ConfigError(
                Message(
                    "must divide num_beams ({beams}), got {groups}.", beams=beams, groups=groups
                ),
                "num_beam_groups",
                "BeamSearch",
            )
        if groups > 1 and self.do_sample:
            raise ConfigError(
                N_(
                    "and num_beam_groups exclude each other: diverse beam search takes "
                    "the best candidates; switch one of them off."
                ),
                "do_sample",
                "BeamSearch",
            )
        if groups == 1 and self.diversity_penalty:
            raise ConfigError(
                Message(
                    "acts between groups; set num_beam_groups to 2 or more, or the "
                    "penalty to 0, got {given}.",
                    given=brief(self.diversity_penalty),
                ),
                "diversity_penalty",
                "BeamSearch",
            )

    @property
    def draws(self) -> bool:
        """Return whether candidates are drawn."""
        return self.do_sample and self.shaping.temperature > 0
