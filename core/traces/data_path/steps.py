"""Find a run's steps in its data path, and classify their calls by act."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from .types import DataPath, FunctionCall, PathPhase

# Parts of a step, the boxes in its diagram.
Act: TypeAlias = Literal["forward", "shaping", "draw", "record", "text"]

# The function that makes the steps, and its location in older recordings.
_STEPS = (
    ("core/decoding/loop/run.py", "_timed"),
    ("core/decoding/loop/record_run.py", "_timed"),
    ("core/decoding/decode.py", "_timed"),
)
# Modules with the functions of stages.
_FUNCTIONS = ("filters", "penalties", "temperatures")
# Files and folders of each act; the first match counts.
_ACTS: tuple[tuple[str, Act], ...] = (
    ("core/decoding/shaping/draws.py", "draw"),
    ("core/decoding/shaping/stages.py", "shaping"),
    *((f"core/decoding/shaping/{name}.py", "shaping") for name in _FUNCTIONS),
    ("core/decoding/loop/recording.py", "record"),
    ("core/decoding/loop/text.py", "text"),
    ("core/decoding/loop/ending.py", "text"),  # Used in older recordings.
)

# The argmax of a method that draws nothing, and its location in older recordings.
_GREEDY = (
    ("core/decoding/shaping/step.py", "_argmax"),
    ("core/decoding/autoregressive/engine.py", "_argmax"),
)
_FORWARDS = ("core/models/running/contexts.py", "core/models/scripted.py")
_FORWARD_NAMES = (".extend", ".extend_hidden", ".logits")


def part_of(call: FunctionCall) -> str | None:
    """Return `attention` or `mlp` for a recorded module; None for any other call."""
    kind, _, name = call.function.partition(" ")
    if not name or "norm" in kind.lower():
        return None
    return next((part for part in ("attention", "mlp") if part in kind.lower()), None)


def prompt_call(path: DataPath) -> FunctionCall | None:
    """Return the call that processed the prompt."""
    return next(_parts(path), None)


def step_call(path: DataPath, index: int) -> FunctionCall | None:
    """Return the call that made the step at this index; None if it isn't recorded."""
    for at, call in enumerate(_parts(path), start=-1):
        if at == index:
            return call
    return None


def steps_in(path: DataPath) -> int:
    """Count the steps of a recording, without the prompt's."""
    return max(sum(1 for _ in _parts(path)) - 1, 0)


def starts_step(call: FunctionCall) -> bool:
    """Return True if a call starts a step of a run; the first such call is the prompt's."""
    return (call.file, call.function) in _STEPS and call.resumed


def _parts(path: DataPath) -> Iterator[FunctionCall]:
    """Yield the calls that each made a step; the first processed the prompt."""
    return (call for call in path.walk() if (call.file, call.function) in _STEPS)


def act_of(call: FunctionCall) -> Act | None:
    """Return the part of a step that a call belongs to; None if its file is not listed."""
    if call.file in _FORWARDS and call.function.endswith(_FORWARD_NAMES):
        return "forward"
    if (call.file, call.function) in _GREEDY:
        return "draw"
    return next((act for place, act in _ACTS if call.file.startswith(place)), None)


def calls_of(call: FunctionCall, act: Act) -> list[FunctionCall]:
    """Return the outermost calls of an act inside this call."""
    this_act = act_of(call)
    if this_act is not None:
        return [call] if this_act == act else []
    return [match for inner in call.calls for match in calls_of(inner, act)]


def calls_in(calls: Iterable[FunctionCall], phase: PathPhase) -> list[FunctionCall]:
    """Return the outermost calls of a phase of the run."""
    matches: list[FunctionCall] = []
    for call in calls:
        matches += [call] if call.phase == phase else calls_in(call.calls, phase)
    return matches
