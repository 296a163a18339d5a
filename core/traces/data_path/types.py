"""Data path: the nested calls of a run, each with its arguments and its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

PathPhase: TypeAlias = Literal["load", "request", "chat", "ids", "loop", "finish", "answer"]

# In the order of a run, with their titles.
PHASES: dict[PathPhase, str] = {
    "load": "Model and tokenizer are loaded",
    "request": "The request becomes settings",
    "chat": "The chat template writes the conversation as one text and its ids",
    "ids": "The text becomes token ids",
    "loop": "The loop: forward, shaping, draw, append, text",
    "finish": "The run ends",
    "answer": "The answer is put together",
}


class ShownValue(NamedTuple):
    """An argument by its name, in short."""

    name: str
    text: str


class FunctionCall(NamedTuple):
    """One call of a function of this project, or of a module of the model.

    Args:
        function: as in `Picker.pick`; a module's as in `LlamaMLP model.layers.0.mlp`.
        file: relative to the project, with slashes; a library's as it is installed there.
        line: of the definition.
        arguments: what went in, without `self`.
        result: what came out, or was yielded; empty where an error ended the call.
        resumed: a generator that goes on after its last `yield`.
        start: seconds since the recording began.
        seconds: the calls inside it included.
        calls: those that it made, in their order.
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
        """This call and all inside it, in the order of their beginnings."""
        yield self
        for call in self.calls:
            yield from call.walk()

    def later(self, seconds: float) -> FunctionCall:
        """The same call, begun later."""
        calls = tuple(call.later(seconds) for call in self.calls)
        return self._replace(start=self.start + seconds, calls=calls)


class DataPath(NamedTuple):
    """The calls of a recording.

    Args:
        left_out: calls beyond the most that a recording keeps.
        began: wall-clock time, nanoseconds since 1970.
    """

    calls: tuple[FunctionCall, ...]
    seconds: float
    left_out: int
    began: int

    def walk(self) -> Iterator[FunctionCall]:
        """Every call, in the order of their beginnings."""
        for call in self.calls:
            yield from call.walk()

    def then(self, other: DataPath) -> DataPath:
        """Both recordings as one; no time passes between them."""
        return DataPath(
            (*self.calls, *(call.later(self.seconds) for call in other.calls)),
            self.seconds + other.seconds,
            self.left_out + other.left_out,
            self.began,
        )
