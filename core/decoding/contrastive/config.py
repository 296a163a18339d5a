"""Settings of contrastive search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...language import N_
from ..config import SHARE, MethodConfig, setting
from ..record.compared import MAX_COMPARED
from ..validation import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastiveSearch(MethodConfig):
    """Contrastive search (Su et al. 2022): choose a probable token that differs from the text
    before it.

    Penalties act; temperature and filters don't.

    Args:
        penalty_alpha: weight of the degeneration penalty: 0 is greedy decoding, at 1 the
            probability has no effect.
        contrastive_top_k: number of most probable tokens that are compared; `top_k` in
            transformers, where it is no filter in this method either.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = ContrastiveSearch(penalty_alpha=0.6, max_new_tokens=8)
        >>> collect(model, "Once upon a time", config).text
        ', there was a little girl whose name'
    """

    method: ClassVar[str] = "contrastive"
    words: ClassVar[str] = N_("contrastive search")
    can_draw: ClassVar[bool] = False

    penalty_alpha: float = setting(
        0.6, "the weight of the penalty for likeness; 0 is greedy", SHARE
    )
    contrastive_top_k: int = setting(
        4, "so many of the most probable tokens are compared", Interval(1, MAX_COMPARED)
    )
