"""The settings of shaping: penalties, temperature and filters."""

from __future__ import annotations

from dataclasses import dataclass

from core.decoding.errors import ConfigError
from core.decoding.validation import brief, require_number, require_temperature, require_whole


@dataclass(frozen=True, slots=True)
class Shaping:
    """From logits to the distribution drawn from; the defaults change nothing.

    The acts run in transformers' order: repetition_penalty, no_repeat_ngram_size,
    min_new_tokens (a field of the method's config), temperature, top_k, top_p, min_p,
    typical_p, epsilon_cutoff, eta_cutoff. `temperature=0` means greedy, else it is 0.001 or more.
    Unlike `generate`, an unset `top_k` filters nothing (transformers' implicit default is 50).

    Raises:
        ConfigError: a value outside its interval.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    epsilon_cutoff: float = 0.0
    eta_cutoff: float = 0.0
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0

    def __post_init__(self) -> None:
        require_temperature("Shaping", "temperature", self.temperature)
        require_whole("Shaping", "top_k", self.top_k, 0, 10_000_000)
        require_number("Shaping", "top_p", self.top_p, 0.0, 1.0)
        require_number("Shaping", "min_p", self.min_p, 0.0, 1.0)
        require_number("Shaping", "typical_p", self.typical_p, 0.0, 1.0)
        if self.typical_p == 0:
            raise ConfigError("Shaping.typical_p must lie in (0, 1], got 0.")
        for name in ("epsilon_cutoff", "eta_cutoff"):
            value = getattr(self, name)
            require_number("Shaping", name, value, 0.0, 1.0)
            if value == 1:
                raise ConfigError(f"Shaping.{name} must lie in [0, 1), got {brief(value)}.")
        require_number("Shaping", "repetition_penalty", self.repetition_penalty, 0.01, 100.0)
        require_whole("Shaping", "no_repeat_ngram_size", self.no_repeat_ngram_size, 0, 1000)
