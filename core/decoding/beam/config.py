"""The settings of beam search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from core.decoding.config import SEED, MethodConfig, setting
from core.decoding.errors import ConfigError
from core.decoding.validation import Interval, brief, require_whole

MAX_BEAMS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamSearch(MethodConfig):
    """The `num_beams` best paths at once, as transformers searches; candidates K a step are
    max(2, 1 + end-of-sequence tokens) * num_beams, whatever `top_candidates` says.

    Args:
        num_beams: rows of the beam; 1 is greedy decoding that may look past an early end.
        length_penalty: a hypothesis' score is its summed log-probability over its length to this
            power: above 0 favours long ones, below 0 short ones.
        early_stopping: True ends with num_beams hypotheses; False once the best row, at its present
            length, can't beat the worst of them; "never" asks that at the longest length possible.
        num_return_sequences: how many of the best hypotheses are asked for.
        do_sample: draw the K candidates instead of taking the best ("beam sample"); temperature and
            filters act then. Temperature 0 switches it off.
        num_beam_groups: diverse beam search (Vijayakumar et al. 2016): so many groups of
            num_beams / num_beam_groups rows, each searched for itself.
        diversity_penalty: what a token's log-probability loses in a group for each path of an
            earlier group that has just taken it (Hamming diversity; the end never costs).
        seed: of the draws.
    """

    method: ClassVar[str] = "beam"
    words: ClassVar[str] = "beam search"

    num_beams: int = setting(4, "rows of the beam", Interval(1, MAX_BEAMS))
    # Beyond it a length to this power leaves float32.
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
        # Not super(): a dataclass with slots is rebuilt, which breaks the zero-argument form.
        MethodConfig.__post_init__(self)
        for name in ("num_return_sequences", "num_beam_groups"):
            require_whole("BeamSearch", name, getattr(self, name), 1, self.num_beams)
        stopping = self.early_stopping
        if not isinstance(stopping, bool) and stopping != "never":
            raise ConfigError(
                f"must be True, False or 'never', got {brief(stopping)}.",
                "early_stopping",
                "BeamSearch",
            )
        beams, groups = self.num_beams, self.num_beam_groups
        if beams % groups:
            raise ConfigError(
                f"must divide num_beams ({beams}), got {groups}.", "num_beam_groups", "BeamSearch"
            )
        if groups > 1 and self.do_sample:
            raise ConfigError(
                "and num_beam_groups exclude each other: diverse beam search takes the best "
                "candidates; switch one of them off.",
                "do_sample",
                "BeamSearch",
            )
        if groups == 1 and self.diversity_penalty:
            raise ConfigError(
                "acts between groups; set num_beam_groups to 2 or more, or the penalty to 0, got "
                f"{brief(self.diversity_penalty)}.",
                "diversity_penalty",
                "BeamSearch",
            )

    @property
    def draws(self) -> bool:
        """Return whether candidates are drawn."""
        return self.do_sample and self.shaping.temperature > 0
