"""Data path: the nested calls of a run, each with its arguments and its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from ...language import N_

PathPhase: TypeAlias = Literal["load", "request", "chat", "ids", "loop", "finish", "answer"]

# Titles, in the order of a run.
PHASES: dict[PathPhase, str] = {
    "load": N_("Model and tokenizer are loaded"),
    "request": N_("The request becomes settings"),
    "chat": N_("The chat template writes the conversation as one text and its ids"),
    "ids": N_("The text becomes token ids"),
    "loop": N_("The loop: forward, shaping, draw, append, text"),
    "finish": N_("The run ends"),
    "answer": N_("The answer is put together"),
}


class ShownValue(NamedTuple):
    """Name of an argument and short text of its value."""

    name: str
    text: str


class FunctionCall(NamedTuple):
    """One call of a function of this project, or of a module of the model.

    Args:
        function: qualified name such as `Picker.pick`; for a module `LlamaMLP model.layers.0.mlp`.
        file: path relative to the project, or to site-packages, with slashes.
        line: line of the definition.
        arguments: arguments without `self`.
        result: returned or yielded value; empty if an error ended the call.
        resumed: True for a generator that resumes after a `yield`.
        start: seconds since the recording began.
        seconds: duration, inner calls included.
        calls: inner calls, in order.
    """

    function: str
    file: str
    line: int
    phase: PathPhase
    arguments: tuple[ShownValue, ...]
    result: str
    resumed: bool
    start: float
    seconds: float
    calls: tuple[FunctionCall, ...] = ()

    def walk(self) -> Iterator[FunctionCall]:
        """Yield this call and all inner calls, in order of their start."""
        yield self
        for call in self.calls:
            yield from call.walk()

    def later(self, seconds: float) -> FunctionCall:
        """Return the call with all start times moved by some seconds."""
        calls = tuple(call.later(seconds) for call in self.calls)
        return self._replace(start=self.start + seconds, calls=calls)


class DataPath(NamedTuple):
    """The calls of a recording.

    Args:
        left_out: number of calls beyond the limit, which were not kept.
        began: wall-clock time, nanoseconds since 1970.
    """

    calls: tuple[FunctionCall, ...]
    seconds: float
    left_out: int
    began: int

    def walk(self) -> Iterator[FunctionCall]:
        """Yield every call, in order of their start."""
        for call in self.calls:
            yield from call.walk()

    def then(self, other: DataPath) -> DataPath:
        """Return both recordings joined, without a gap in time."""
        return DataPath(
            (*self.calls, *(call.later(self.seconds) for call in other.calls)),
            self.seconds + other.seconds,
            self.left_out + other.left_out,
            self.began,
        )
