"""Validation of settings: each error names the field, the value and the allowed interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

from ..language import N_, Message
from .errors import ConfigError

MAX_SEED = 2**63 - 1
MIN_TEMPERATURE = 0.001
MAX_TEMPERATURE = 100.0
MAX_STOP_STRINGS = 64
MAX_STOP_LENGTH = 1_000

_SHOWN = 60
_FEW_ITEMS, _LONGEST_FIELD = 4, 200


class Interval(NamedTuple):
    """Numbers that a setting may have.

    Args:
        open_low, open_high: whether that end is excluded.
        zero: meaning of a 0 below `low`, if 0 is allowed too; otherwise empty.
    """

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False
    zero: str = ""

    def holds(self, value: float) -> bool:
        if value == 0 and self.zero:
            return True
        above = value > self.low if self.open_low else value >= self.low
        return above and (value < self.high if self.open_high else value <= self.high)

    @property
    def words(self) -> str:
        """The interval with the meaning of a 0, in error messages."""
        left, right = "(" if self.open_low else "[", ")" if self.open_high else "]"
        ends = (f"{end:d}" if isinstance(end, int) else f"{end:g}" for end in self[:2])
        text = f"{left}{', '.join(ends)}{right}"
        if self.zero:
            return Message("{ends} or be 0 ({meaning})", ends=text, meaning=Message(self.zero))
        return text


# Logits divided by less would overflow float32.
TEMPERATURE = Interval(MIN_TEMPERATURE, MAX_TEMPERATURE, zero="greedy")


class ShortRepr:
    """Mixin for dataclasses with many items (`repr=False`): a `repr` in one line.

    Fields at their defaults are left out; long collections are shown by their length.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            item = getattr(self, field.name)
            if item is field.default or item == field.default:
                continue
            if isinstance(item, tuple | list | dict) and len(item) > _FEW_ITEMS:
                text = f"<{len(item)} items>"
            else:
                text = brief(item) if isinstance(item, str) else repr(item)
            shown.append(f"{field.name}={text if len(text) <= _LONGEST_FIELD else '<…>'}")
        return f"{type(self).__name__}({', '.join(shown)})"


def brief(value: object) -> str:
    """Return a value as error messages show it: at most about 60 characters."""
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")
    if isinstance(value, int) and value.bit_length() > 3 * _SHOWN:
        digits = int(value.bit_length() * 0.30103) + 1
        return Message("a whole number of about {digits} digits", digits=digits)
    if value is None or isinstance(value, int | float):
        return repr(value)
    return Message("a value of type {type}", type=type(value).__name__)


def shortened(text: str, limit: int) -> str:
    """Return untrusted text for a single line.

    A longer text is cut after a whole word and ends in an ellipsis.
    """
    line = "".join(char if char.isprintable() else "?" for char in text)
    if len(line) <= limit:
        return line
    words = line[: limit + 1].rpartition(" ")[0].rstrip()
    return f"{words or line[:limit]}…"


def require_whole(owner: str, name: str, value: object, low: int, high: int) -> None:
    require_inside(owner, name, value, Interval(low, high), whole=True)


def require_inside(
    owner: str, name: str, value: object, interval: Interval, *, whole: bool = False
) -> None:
    # NaN differs from itself; infinities lie outside every interval.
    kinds = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or value != value:
        words = N_("must be a finite number, got {given}.")
        if whole:
            words = N_("must be a whole number, got {given}.")
        raise ConfigError(
            Message(words, given=brief(value)),
            name,
            owner,
        )
    if not interval.holds(value):
        raise ConfigError(
            Message(
                "must lie in {interval}, got {given}.", interval=interval.words, given=brief(value)
            ),
            name,
            owner,
        )


def require_bool(owner: str, name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(
            Message("must be True or False, got {given}.", given=brief(value)), name, owner
        )


def require_text(owner: str, name: str, value: object, *, may_be_empty: bool) -> None:
    """Validate a text that a run may force: limited in length and encodable in UTF-8."""
    if not isinstance(value, str) or not (value or may_be_empty):
        words = N_("must be a non-empty string, got {given}.")
        if may_be_empty:
            words = N_("must be a string, got {given}.")
        raise ConfigError(Message(words, given=brief(value)), name, owner)
    if len(value) > MAX_STOP_LENGTH:
        raise ConfigError(
            Message(
                "must hold at most {max_stop_length:,} characters, got {value:,}.",
                max_stop_length=MAX_STOP_LENGTH,
                value=len(value),
            ),
            name,
            owner,
        )
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ConfigError(
            Message("must be text that UTF-8 can write, got {given}.", given=brief(value)),
            name,
            owner,
        )


def require_choice(owner: str, name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ConfigError(
            Message(
                "must be one of {allowed}, got {given}.",
                allowed=", ".join(allowed),
                given=brief(value),
            ),
            name,
            owner,
        )


def required_stop_strings(owner: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(
            Message("must be a list or tuple of strings, got {given}.", given=brief(value)),
            "stop_strings",
            owner,
        )
    if len(value) > MAX_STOP_STRINGS:
        raise ConfigError(
            Message(
                "must hold at most {max_stop_strings} strings, got {value}.",
                max_stop_strings=MAX_STOP_STRINGS,
                value=len(value),
            ),
            "stop_strings",
            owner,
        )
    for text in value:
        if not isinstance(text, str) or not text:
            raise ConfigError(
                Message("must hold non-empty strings only, got {given}.", given=brief(text)),
                "stop_strings",
                owner,
            )
        if len(text) > MAX_STOP_LENGTH:
            raise ConfigError(
                Message(
                    "must hold strings of at most {max_stop_length:,} characters, got "
                    "one of {text:,}.",
                    max_stop_length=MAX_STOP_LENGTH,
                    text=len(text),
                ),
                "stop_strings",
                owner,
            )
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise ConfigError(
                Message("must hold text that UTF-8 can write, got {given}.", given=brief(text)),
                "stop_strings",
                owner,
            )
    return tuple(value)
