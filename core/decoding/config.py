"""The settings that every decoding method has; field names follow GenerationConfig."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from typing_extensions import TypeVar

from core.decoding.errors import ConfigError
from core.decoding.shaping.config import Shaping
from core.decoding.validation import brief, require_bool, require_whole, required_stop_strings

# What ends a run by itself.
Ended: TypeAlias = Literal["eos", "stop", "length"]
DrawMethod: TypeAlias = Literal["inverse_cdf", "gumbel", "multinomial"]
DRAW_METHODS: tuple[DrawMethod, ...] = ("inverse_cdf", "gumbel", "multinomial")

_Value = TypeVar("_Value")

MAX_NEW_TOKENS = 100_000
MAX_CANDIDATES = 200


def setting(default: _Value, text: str) -> _Value:
    """A field of a config with its default and what the command line's help says of it."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodConfig:
    """Settings that every method shares.

    Args:
        max_new_tokens: the bound on the loop, in tokens.
        min_new_tokens: end-of-sequence tokens are held back until so many tokens are out.
        stop_strings: the run ends with the token that completes one of them in the new text.
        shaping: penalties act in every method, temperature and filters where something is drawn.
        top_candidates: how many candidates a step keeps (the chosen token is always kept too).
        use_cache: False runs the whole sequence through the model at every step.
    """

    method: ClassVar[str] = ""
    # The method's name in a sentence.
    words: ClassVar[str] = ""
    # Whether a run may end with `length` by a bound of the method's own.
    has_own_bound: ClassVar[bool] = False
    # Reasons (`ForcedAs`) for which a token may take the place of the method's pick.
    forces: ClassVar[tuple[str, ...]] = ()
    # Whether it can draw: then temperature and filters act; penalties always do.
    can_draw: ClassVar[bool] = True

    max_new_tokens: int = 40
    min_new_tokens: int = 0
    stop_strings: tuple[str, ...] = ()
    shaping: Shaping = field(default_factory=Shaping)
    top_candidates: int = 20
    use_cache: bool = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        require_whole(owner, "max_new_tokens", self.max_new_tokens, 1, MAX_NEW_TOKENS)
        require_whole(owner, "min_new_tokens", self.min_new_tokens, 0, self.max_new_tokens)
        require_whole(owner, "top_candidates", self.top_candidates, 1, MAX_CANDIDATES)
        stop_strings = required_stop_strings(owner, self.stop_strings)
        object.__setattr__(self, "stop_strings", stop_strings)
        if not isinstance(self.shaping, Shaping):
            raise ConfigError(f"{owner}.shaping must be a Shaping, got {brief(self.shaping)}.")
        require_bool(owner, "use_cache", self.use_cache)

    def known_by(self, most: int | None) -> int | None:
        """Return how many tokens of a step a trace knows if the model names `most`; None: all."""
        return most

    @property
    def chooser(self) -> MethodConfig:
        """The method that chooses every token that isn't forced: itself, unless it says another."""
        return self


# Of a trace: whose config it has.
ConfigT_co = TypeVar("ConfigT_co", bound=MethodConfig, default=MethodConfig, covariant=True)
