"""Settings of masked diffusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ...language import N_, Message
from ..autoregressive.config import Greedy, Sampling, as_single_tokens
from ..config import MAX_CANDIDATES, SEED, MethodConfig, setting
from ..errors import ConfigError
from ..shaping.config import WATERMARKS, Shaping
from ..validation import Interval

FillOrder: TypeAlias = Literal["confidence", "margin", "entropy", "random", "left_to_right"]
CanvasKind: TypeAlias = Literal["whole", "grows", "noise"]

MAX_BLOCK = 128
TEMPERATURE = Interval(0.01, 100)
# Positions of a canvas of noise.
MAX_CANVAS = 1024
_MASKS_ONLY = ("min_new_tokens", "remask_per_step", "cfg_scale")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diffusion(MethodConfig):
    """Masked diffusion: a canvas of [MASK] tokens is filled in an order of its own (LLaDA, Nie et
    al. 2025).

    A step runs the whole canvas, proposes a token for every masked position of the block and keeps
    those that the order puts first; the others stay masked. No key-value cache is used: with
    attention in both directions it would be an approximation. Temperature 0 in `shaping` proposes
    the most probable tokens.

    Args:
        order: `confidence` fills the positions with the highest probability of the proposed token
            (LLaDA's low-confidence remasking); `margin` those with the largest gap between the two
            most probable tokens (Kim et al. 2025); `entropy` the positions of lowest entropy, as
            many as the entropy bound allows (Ben-Hamu et al. 2025); `random` a random order, as in
            training; `left_to_right` the order of the text. All read the model's unshaped
            distribution.
        block_length: number of positions in a block; blocks are filled from left to right
            (semi-autoregressive).
        tokens_per_step: number of positions that a step fills; the order `entropy` ignores it.
        entropy_bound: largest sum of the entropies of a step's positions, without the highest of
            them, nats; of the order `entropy`.
        remask_per_step: number of tokens of the block that a step masks again: those that came
            with the lowest probabilities at earlier steps (ReMDM, Wang et al. 2025, by confidence,
            without its draw). A step masks fewer than it fills, and none once the block is full.
            The text grows by whole blocks.
        confidence_threshold: a step fills the whole block if the mean entropy of its masked
            positions is lower, nats, and its most probable tokens are stable
            (`StableAndConfidentStoppingCriteria` of transformers); 0 never does.
        stability_threshold: number of steps before, in the block, with the same most probable
            tokens.
        cfg_scale: classifier-free guidance (LLaDA): logits = u + (cfg_scale + 1) * (c - u), where
            u are the logits with a masked prompt and c those with the prompt; 0 is off. A step
            takes two forwards.
        canvas: `whole` has a mask for every new token from the start; `grows` ends with the block
            that is being filled; `noise` has random tokens, for models such as DiffusionGemma:
            each step draws every position again, accepts those that the entropy bound allows, and
            puts new random tokens at the others. The model sets the length of a canvas; order,
            blocks and tokens a step do not act.
        max_denoising_steps: of the canvas `noise`: steps after which a canvas is finished.
        t_min, t_max: of the canvas `noise`: the temperature falls from `t_max` towards `t_min`.
        seed: seed of draws and of the random order.

    Example:
        >>> shaping = Shaping(temperature=0)
        >>> config = Diffusion(max_new_tokens=16, tokens_per_step=2, shaping=shaping)
        >>> trace = collect(load_model("embedded:diffusion"), "Once upon a time", config)
        >>> trace.text
        ', there was a little girl named name was Marta. One was late, and'
    """

    method: ClassVar[str] = "diffusion"
    words: ClassVar[str] = N_("masked diffusion")
    can_contrast: ClassVar[bool] = False
    without_states: ClassVar[str] = N_(
        "its state follows a text from left to right, and the positions are filled in any order"
    )

    top_candidates: int = setting(20, within=Interval(2, MAX_CANDIDATES))
    order: FillOrder = setting("confidence", "which masked positions are filled first")
    block_length: int = setting(
        8, "positions of a block; blocks are filled from left to right", Interval(1, MAX_BLOCK)
    )
    tokens_per_step: int = setting(1, "positions that a step fills", Interval(1, MAX_BLOCK))
    entropy_bound: float = setting(
        0.1, "of the order entropy: bound on what a step's tokens may share, nats", Interval(0, 100)
    )
    remask_per_step: int = setting(
        0, "tokens that a step masks again, the least sure first", Interval(0, MAX_BLOCK)
    )
    confidence_threshold: float = setting(
        0.0, "mean entropy under which a stable block is filled at once, nats", Interval(0, 100)
    )
    stability_threshold: int = setting(
        1, "steps for which a stable block's likeliest tokens are the same", Interval(0, 100)
    )
    cfg_scale: float = setting(
        0.0, "guidance away from the canvas with a masked prompt", Interval(0, 100)
    )
    canvas: CanvasKind = setting(
        "whole", "all masks from the start, block by block, or random tokens (noise)"
    )
    max_denoising_steps: int = setting(
        48, "of the canvas noise: steps after which a canvas is finished", Interval(1, 1000)
    )
    t_min: float = setting(0.4, "of the canvas noise: final temperature", TEMPERATURE)
    t_max: float = setting(0.8, "of the canvas noise: initial temperature", TEMPERATURE)
    seed: int = setting(0, within=SEED)

    def __post_init__(self) -> None:
        MethodConfig.__post_init__(self)
        if self.shaping.constraint is not None:
            raise ConfigError(
                N_(
                    "A constraint reads a text from its beginning, and masked "
                    "diffusion fills positions in any order: switch it off."
                ),
                "constraint",
            )
        for name in self.shaping.active(WATERMARKS):
            raise ConfigError(
                N_(
                    "marks a text from left to right, by the tokens before each, and "
                    "masked diffusion fills positions in any order: switch it off."
                ),
                name,
                "Diffusion.shaping",
            )
        if self.t_max <= self.t_min:
            raise ConfigError(
                Message("must be above t_min, got {t_max}.", t_max=self.t_max), "t_max", "Diffusion"
            )
        one_a_step = self.order != "entropy" and self.tokens_per_step == 1
        if self.remask_per_step and one_a_step and self.canvas != "noise":
            raise ConfigError(
                N_(
                    "needs tokens_per_step above 1, or the order entropy: a step masks "
                    "fewer tokens again than it fills."
                ),
                "remask_per_step",
                "Diffusion",
            )
        if self.canvas != "noise":
            return
        if self.shaping != Shaping():
            raise ConfigError(
                N_(
                    "must be left out: on the canvas noise, t_max and t_min set the "
                    "temperature, and nothing else shapes."
                ),
                "shaping",
                "Diffusion",
            )
        for name in _MASKS_ONLY:
            if value := getattr(self, name):
                raise ConfigError(
                    Message("must be 0 on the canvas noise, got {value}.", value=value),
                    name,
                    "Diffusion",
                )

    @property
    def chooser(self) -> Greedy | Sampling:
        """Settings that choose the token of a position, given its logits."""
        draws = self.canvas != "noise" and self.shaping.temperature > 0
        return as_single_tokens(self, draws)
