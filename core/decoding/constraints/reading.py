"""Numbers of a constraint along a run, read from its trace."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

from ..record.steps import Candidate, TokenStep
from ..record.trace import Trace

NAME = "constraint"
_TAIL = 24


class ConstrainedStep(NamedTuple):
    """A step under a constraint.

    Args:
        at_step: 0 for the first generated token.
        allowed: number of tokens that the constraint allowed.
        log_mass: ln S, the logarithm of the model's probability mass on them; it biases an
            importance ratio between the model and the constrained distribution.
        wanted: the model's likeliest token, if it was not allowed.
        place: JSON pointer of the value that the token belongs to; of another kind of constraint
            the end of the text before the token.
    """

    at_step: int
    token: Candidate
    allowed: int
    log_mass: float
    wanted: Candidate | None
    place: str

    @property
    def forced(self) -> bool:
        """True if one token alone was allowed."""
        return self.allowed == 1


def constrained_steps(trace: Trace) -> list[ConstrainedStep]:
    """Return the steps on which a constraint acted; none for a run without one."""
    constraint, found = trace.config.shaping.constraint, list[ConstrainedStep]()
    place, end = JsonPlace(), ""
    for step in trace.token_steps:
        at = next((at for at, stage in enumerate(step.stages) if stage.name == NAME), None)
        if constraint is not None and at is not None:
            top = step.candidates[0]
            found.append(
                ConstrainedStep(
                    step.index,
                    step.chosen,
                    step.stages[at].kept,
                    _log_mass(step, at),
                    top if top.removed_by == NAME else None,
                    place.pointer if constraint.kind == "json" else end,
                )
            )
        if step.phase == "answer":
            place.read(step.text)
            end = (end + step.text)[-_TAIL:]
    return found


def answer_from(steps: Sequence[object]) -> int | None:
    """Return the number of tokens before the answer; None if the run only thought."""
    phases = [step.phase for step in steps if hasattr(step, "phase")]
    return next((at for at, phase in enumerate(phases) if phase == "answer"), None if phases else 0)


def _log_mass(step: TokenStep, at: int) -> float:
    """Return ln S: the constraint divides the probability of each allowed token by S."""
    stage, before = step.stages[at], step.stages[at - 1]
    pairs = [(a, b) for a, b in zip(before.probs, stage.probs, strict=True) if a > 0 < b]
    if not pairs:
        return math.log1p(-min(stage.removed_mass, 1 - 1e-16))
    prob, renormalised = max(pairs)
    return min(0.0, math.log(prob) - math.log(renormalised))


def text_logprob(trace: Trace) -> float:
    """Return the log-probability of a run's tokens under the unshaped model, in nats."""
    return -math.fsum(step.surprisal for step in trace.token_steps)


class JsonPlace:
    """Place at the end of an unfinished JSON text, which is read piece by piece."""

    def __init__(self) -> None:
        # Of each open object its key, of an open list its index; None before a key.
        self._path: list[str | int | None] = []
        self._string: list[str] | None = None  # Characters of a string that is open.
        self._escaped = False

    def read(self, text: str) -> None:
        """Read the next piece."""
        for char in text:
            if self._string is not None:
                self._read_in_string(char, self._string)
            elif char == '"':
                self._string = [char]
            elif char in "{[":
                self._path.append(None if char == "{" else 0)
            elif char in "}]" and self._path:
                self._path.pop()
            elif char == "," and self._path:
                last = self._path[-1]
                self._path[-1] = last + 1 if isinstance(last, int) else None

    def _read_in_string(self, char: str, string: list[str]) -> None:
        string.append(char)
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            if self._path and self._path[-1] is None:
                self._path[-1] = _string("".join(string))
            self._string = None

    @property
    def pointer(self) -> str:
        """The JSON pointer (RFC 6901) of the value at the end."""
        known = (str(part) for part in self._path if part is not None)
        return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in known)


def pointer_of(text: str) -> str:
    """Return the JSON pointer (RFC 6901) of the value at the end of an unfinished JSON text."""
    place = JsonPlace()
    place.read(text)
    return place.pointer


def _string(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        return quoted[1:-1]
