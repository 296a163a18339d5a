"""Settings of a run that the model's server samples itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...language import N_
from ..config import SEED, MethodConfig, setting
from ..validation import Interval

NO_BUDGET = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ByEngine(MethodConfig):
    """Sampling by the engine: the model's server shapes, draws and stops in one request.

    Args:
        seed: seed of the server's own generator; another engine gives another run.
        thinking_token_budget: number of tokens after which vLLM ends the thinking; -1 sets no
            budget.

    Example:
        >>> ByEngine(seed=3, max_new_tokens=20).method
        'engine'
    """

    method: ClassVar[str] = "engine"
    words: ClassVar[str] = N_("sampling by the engine")
    can_contrast: ClassVar[bool] = False

    seed: int = setting(0, within=SEED)
    thinking_token_budget: int = setting(
        NO_BUDGET,
        "vLLM ends the thinking after so many tokens; -1 leaves it alone",
        Interval(NO_BUDGET, 100_000),
    )

    def known_by(self, most: int | None) -> int | None:
        """Return the number of candidates to request from a server that names at most `most`."""
        return self.top_candidates if most is None else min(self.top_candidates, most)
