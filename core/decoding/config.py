"""Settings that every decoding method has; field names follow GenerationConfig."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from inspect import Signature, signature
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin, get_type_hints

from typing_extensions import TypeVar

from ..language import Message
from .errors import ConfigError
from .shaping.config import CONTRASTS, SETTINGS, STATEFUL, Shaping
from .validation import (
    MAX_SEED,
    Interval,
    brief,
    require_bool,
    require_choice,
    require_inside,
    require_whole,
    required_stop_strings,
)

# Reasons for which a run ends by itself.
Ended: TypeAlias = Literal["eos", "stop", "length"]
DrawMethod: TypeAlias = Literal["inverse_cdf", "gumbel", "multinomial"]
DRAW_METHODS: tuple[DrawMethod, ...] = ("inverse_cdf", "gumbel", "multinomial")

_Value = TypeVar("_Value")

MAX_NEW_TOKENS = 100_000
MAX_CANDIDATES = 200
SEED = Interval(0, MAX_SEED)
SHARE = Interval(0.0, 1.0)


def setting(default: _Value, text: str = "", within: Interval | None = None) -> _Value:
    """Return a config field with its default, its help on the command line, and its interval."""
    return field(default=default, metadata={"help": text, "within": within})


class _OfInit:
    """Signature of a config: that of its generated `__init__`, which `__new__` would hide."""

    def __get__(self, config: object, kind: type) -> Signature:
        whole = signature(kind.__init__)  # type: ignore[misc]
        return whole.replace(parameters=[*whole.parameters.values()][1:])


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodConfig:
    """Settings that every method shares.

    Args:
        max_new_tokens: maximum number of generated tokens.
        min_new_tokens: end-of-sequence tokens are suppressed until this number of tokens is
            generated.
        stop_strings: the run ends with the token that completes one of them in the new text.
        shaping: penalties act in every method; temperature and filters act where tokens are drawn.
        top_candidates: number of candidates that a step records (the chosen token is always
            recorded too).
        use_cache: False runs the model over the whole sequence at every step.
    """

    method: ClassVar[str] = ""
    # The method's name in a sentence.
    words: ClassVar[str] = ""
    # Whether a bound of the method itself may end a run with `length`.
    has_own_bound: ClassVar[bool] = False
    # Reasons (`ForcedAs`) for which a token may replace the method's pick.
    forces: ClassVar[tuple[str, ...]] = ()
    # Why a sampler with a state can't act; empty if it can.
    without_states: ClassVar[str] = ""
    # Whether the method can draw tokens: then temperature and filters act. Penalties always act.
    can_draw: ClassVar[bool] = True
    # Whether a second forward may run beside each step (`CONTRASTS` of the shaping).
    can_contrast: ClassVar[bool] = True

    max_new_tokens: int = setting(40, within=Interval(1, MAX_NEW_TOKENS))
    min_new_tokens: int = 0
    stop_strings: tuple[str, ...] = ()
    shaping: Shaping = field(default_factory=Shaping)
    top_candidates: int = setting(20, within=Interval(1, MAX_CANDIDATES))
    use_cache: bool = True

    __signature__ = _OfInit()

    def __new__(cls, *args: Any, **settings: Any) -> Self:  # noqa: ARG004
        # Before the generated __init__, whose TypeError doesn't say where a setting belongs.
        for name in settings.keys() & SETTINGS.keys() - cls.__dataclass_fields__.keys():
            raise ConfigError(
                Message(
                    "belongs to the shaping: write {owner}(shaping=Shaping({name}={value})).",
                    owner=cls.__name__,
                    name=name,
                    value=value if isinstance(value := settings[name], int | float) else "…",
                ),
                name,
                cls.__name__,
            )
        return object.__new__(cls)

    def __post_init__(self) -> None:
        owner, types = type(self).__name__, _types_of(type(self))  # type: ignore[arg-type]
        for declared in fields(self):
            name, within = declared.name, declared.metadata.get("within")
            kind, value = types[name], getattr(self, name)
            if get_origin(kind) is Literal:
                require_choice(owner, name, value, get_args(kind))
            elif kind is bool:
                require_bool(owner, name, value)
            elif within and (kind in (int, float) or value is not None):
                require_inside(owner, name, value, within, whole=kind is int)
        require_whole(owner, "min_new_tokens", self.min_new_tokens, 0, self.max_new_tokens)
        stop_strings = required_stop_strings(owner, self.stop_strings)
        object.__setattr__(self, "stop_strings", stop_strings)
        if not isinstance(self.shaping, Shaping):
            raise ConfigError(
                Message("must be a Shaping, got {given}.", given=brief(self.shaping)),
                "shaping",
                owner,
            )
        for name in () if self.can_contrast else self.shaping.active(CONTRASTS):
            raise ConfigError(
                Message(
                    "runs a second forward beside each step, which {words} doesn't: "
                    "switch it off, or take greedy decoding or sampling.",
                    words=Message(self.words),
                ),
                name,
                owner,
            )
        draws = getattr(self, "draws", self.can_draw)
        if self.without_states and draws and (on := self.shaping.active(STATEFUL)):
            raise ConfigError(
                Message(
                    "{label} can't act in {words}: {without_states}; switch it off, or "
                    "take sampling.",
                    label=Message(SETTINGS[on[0]].label),
                    words=Message(self.words),
                    without_states=Message(self.without_states),
                ),
                on[0],
            )

    @property
    def chooser(self) -> MethodConfig:
        """Config of the method that chooses every unforced token; by default this config."""
        return self


# Type of a trace's config.
ConfigT_co = TypeVar("ConfigT_co", bound=MethodConfig, default=MethodConfig, covariant=True)
