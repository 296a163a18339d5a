"""Numbers of a constraint along a run, read from its trace."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..record.characters import is_byte_part, joined_parts
from ..record.masks import Mask, WantedToken
from ..record.steps import Candidate, TokenStep
from ..record.trace import Trace

if TYPE_CHECKING:
    from ..beam.types import BeamCandidate, BeamStep
    from ..speculative.types import DraftRound, DraftToken, ExtraToken

    Token: TypeAlias = Candidate | BeamCandidate | DraftToken | ExtraToken

NAME = "constraint"
_TAIL = 24


class PlacedToken(NamedTuple):
    """A token of a text.

    Args:
        at: 0 for the first generated token.
        text: what it adds to the constrained text; empty in a thought.
        logprob: its log-probability in the unshaped model, nats.
        mask: what the constraint allowed; None where none acted, or its mask wasn't recorded.
    """

    at: int
    token: Token
    text: str
    logprob: float
    mask: Mask | None


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
    token: Token
    allowed: int
    log_mass: float
    wanted: WantedToken | None
    place: str

    @property
    def forced(self) -> bool:
        """True if one token alone was allowed."""
        return self.allowed == 1


def tokens_of(trace: Trace, path: Sequence[BeamCandidate] = ()) -> list[PlacedToken]:
    """Return the tokens of a run's text, or of a beam search's path."""
    return [
        *_of_steps(trace.token_steps),
        *_of_rounds(trace.rounds),
        *_of_path(trace.beam_steps, path),
    ]


def constrained_steps(trace: Trace, path: Sequence[BeamCandidate] = ()) -> list[ConstrainedStep]:
    """Return the steps of a run's text, or of a beam search's path, on which a constraint acted."""
    constraint, found = trace.config.shaping.constraint, list[ConstrainedStep]()
    place, end = JsonPlace(), ""
    for token in tokens_of(trace, path):
        if constraint is not None and token.mask is not None:
            where = place.pointer if constraint.kind == "json" else end
            found.append(ConstrainedStep(token.at, token.token, *token.mask, where))
        place.read(token.text)
        end = (end + token.text)[-_TAIL:]
    return found


def constrained_position(trace: Trace, at: int, place: int) -> ConstrainedStep | None:
    """Return what the constraint allowed the target at a drafted position of round `at`; None
    without its mask, and after a drafted token that was not allowed.

    Args:
        place: the position; -1 is that of the target's own token.
    """
    step, constraint = trace.rounds[at], trace.config.shaping.constraint
    accepted = len(step.accepted)
    position = place if place >= 0 else accepted
    drafted = step.drafted[:position]
    if constraint is None or not step.masks or any(token.refused for token in drafted):
        return None
    before = [text for earlier in trace.rounds[:at] for text in earlier.texts]
    before += [
        *step.texts[: min(position, accepted)],
        *(token.text for token in drafted[accepted:]),
    ]
    text = "".join(before)
    where = pointer_of(text) if constraint.kind == "json" else text[-_TAIL:]
    token = step.drafted[place] if place >= 0 else step.extra
    return token and ConstrainedStep(step.start + position, token, *step.masks[position], where)


def _of_steps(steps: Sequence[TokenStep]) -> Iterator[PlacedToken]:
    for step in steps:
        at = next((at for at, stage in enumerate(step.stages) if stage.name == NAME), None)
        text = step.text if step.phase == "answer" else ""
        mask = None if at is None else _mask(step, at)
        yield PlacedToken(step.index, step.chosen, text, -step.surprisal, mask)


def _mask(step: TokenStep, at: int) -> Mask:
    """Return the mask that the stage at a place recorded."""
    top = step.candidates[0]
    refused = top.removed_by == NAME
    wanted = WantedToken(top.token_id, top.text, top.raw_prob) if refused else None
    return Mask(step.stages[at].kept, _log_mass(step, at), wanted)


def _of_rounds(rounds: Sequence[DraftRound]) -> Iterator[PlacedToken]:
    for step in rounds:
        tokens: list[DraftToken | ExtraToken] = [*step.accepted]
        tokens += [step.extra] if step.extra else []
        positions: list[DraftToken | ExtraToken] = [*step.drafted]
        positions += [step.bonus] if step.bonus else []
        for at, (token, text, position) in enumerate(
            zip(tokens, step.texts, positions, strict=False)
        ):
            pairs = position.candidates
            prob = next(pair.target_raw_prob for pair in pairs if pair.token_id == token.token_id)
            logprob = math.log(prob) if prob > 0 else -math.inf
            mask = step.masks[at] if step.masks else None
            yield PlacedToken(step.start + at, token, text, logprob, mask)


def _of_path(steps: Sequence[BeamStep], path: Sequence[BeamCandidate]) -> Iterator[PlacedToken]:
    texts = list[str]()
    for _, group in groupby((token.text for token in path), is_byte_part):
        parts = list(group)
        joined = joined_parts(parts)
        # A character's text comes with the last of its parts.
        texts += [*[""] * (len(parts) - len(joined)), *joined]
    for step, token, text in zip(steps, path, texts, strict=False):
        mask = step.masks[token.parent] if step.masks else None
        yield PlacedToken(step.index, token, text, token.raw_logprob, mask)


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


def text_logprob(trace: Trace, path: Sequence[BeamCandidate] = ()) -> float:
    """Return the log-probability of a text's tokens under the unshaped model, in nats."""
    return math.fsum(token.logprob for token in tokens_of(trace, path))


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
