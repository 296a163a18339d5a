"""The settings of a run that the server of a model makes by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.decoding.config import SEED, MethodConfig, setting
from core.decoding.validation import Interval

NO_BUDGET = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ByEngine(MethodConfig):
    """One request: a model's server shapes, draws and stops, and tells what it took.

    Args:
        seed: of the server's own dice, which are no other engine's.
        thinking_token_budget: vLLM ends the thinking after so many tokens; -1 leaves it alone.
    """

    method: ClassVar[str] = "engine"
    words: ClassVar[str] = "sampling by the engine"

    seed: int = setting(0, within=SEED)
    thinking_token_budget: int = setting(
        NO_BUDGET,
        "vLLM ends the thinking after so many tokens; -1 leaves it alone",
        Interval(NO_BUDGET, 100_000),
    )

    def known_by(self, most: int | None) -> int | None:
        """Return how many candidates the server is asked for if it names at most `most`."""
        return self.top_candidates if most is None else min(self.top_candidates, most)
