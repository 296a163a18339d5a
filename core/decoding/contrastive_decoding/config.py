"""Settings of contrastive decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...language import N_
from ..autoregressive.config import Greedy, Sampling, as_single_tokens
from ..config import SEED, DrawMethod, MethodConfig, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastiveDecoding(MethodConfig):
    """Contrastive decoding (Li et al. 2023): prefer tokens that the target makes likelier than a
    weaker draft does.

    `shaping.contrastive_beta` is the weight of the draft; with 0 the draft has no part.
    Temperature 0 takes the most probable token. Contrastive search, another method, compares a
    model's hidden states.

    Args:
        seed: seed of draws.
        draw: as in sampling.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = ContrastiveDecoding(max_new_tokens=8, shaping=Shaping(contrastive_beta=0.5))
        >>> collect(model, "Once upon a time", config, draft=load_model("embedded:draft")).text
        ', a boy named Walter lived with his'
    """

    method: ClassVar[str] = "contrastive_decoding"
    words: ClassVar[str] = N_("contrastive decoding")

    seed: int = setting(0, within=SEED)
    draw: DrawMethod = setting("inverse_cdf", "how to draw")

    @property
    def chooser(self) -> Greedy | Sampling:
        """Settings that choose a token, given the contrasted distribution."""
        return as_single_tokens(self, self.shaping.temperature > 0)
