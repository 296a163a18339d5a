"""Result of comparing two runs; torch-free."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from ...language import N_, Message
from ..methods import choice_words
from ..shaping.config import SETTINGS
from ..validation import shortened

_LONGEST = 60

PartingCause: TypeAlias = Literal[
    "same", "length", "input", "given", "rounding", "settings", "dice", "model"
]

CAUSES: dict[PartingCause, str] = {
    "same": N_("The runs emit the same tokens"),
    "length": N_("One run ends earlier"),
    "input": N_("The models read different tokens"),
    "given": N_("A token was given"),
    "rounding": N_("A tie that rounding decided"),
    "settings": N_("Different settings"),
    "dice": N_("Different dice"),
    "model": N_("Different probabilities"),
}


class SettingDifference(NamedTuple):
    """A setting that differs, named as in a trace file."""

    name: str
    left: Any
    right: Any

    @property
    def words(self) -> str:
        """The setting's name in a sentence."""
        return SETTINGS[self.name].name if self.name in SETTINGS else self.name.replace("_", " ")

    @property
    def shown(self) -> tuple[str, str]:
        """Both values as plain text, or declared texts."""
        return self._shown(self.left), self._shown(self.right)

    def _shown(self, value: Any) -> str:
        if value is None or value in ("", ()):
            return Message("none")
        if isinstance(value, Message):
            return value
        if self.name in SETTINGS:
            value = SETTINGS[self.name].shown(value)
        elif isinstance(value, tuple):
            value = ", ".join(f"“{item}”" for item in value)
        elif isinstance(value, bool):
            return Message("on") if value else Message("off")
        elif isinstance(value, float):
            value = f"{value:g}"
        elif isinstance(value, str):
            value = choice_words(self.name, value)
        return value if isinstance(value, Message) else shortened(str(value), _LONGEST)


class PartedToken(NamedTuple):
    """One of the two tokens at the first difference.

    Args:
        left_prob, right_prob: raw probability in each run; None if the run did not record it.
    """

    token_id: int
    text: str
    left_prob: float | None
    right_prob: float | None


class Parting(NamedTuple):
    """First difference of two runs and its cause.

    Args:
        at: index of the first generated token that differs; None if no token differs.
        reason: the cause in one or two sentences.
        settings: every setting that differs.
        rivals: the left and the right run's token; empty if one run has ended.
        margin: distance of the two tokens' raw log-probabilities in nats, the smaller one of the
            two runs; None if unknown.
        rounding: largest difference of the two runs' raw log-probabilities of one token, in nats,
            over the steps with a common prefix; None if unknown.
    """

    at: int | None
    cause: PartingCause
    reason: str
    settings: tuple[SettingDifference, ...] = ()
    rivals: tuple[PartedToken, ...] = ()
    margin: float | None = None
    rounding: float | None = None
