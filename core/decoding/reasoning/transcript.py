"""Reading of a reasoning run: its two texts, their token counts, and its calls; no torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ..record.steps import ForcedAs, Phase, TokenStep
from .calculator import CALL, CALL_MARKS, END_RESULT, call_at_end
from .config import Reasoning
from .types import CalculatorCall


class Piece(NamedTuple):
    """A token of a run: the text that it adds, and the same text with visible special tokens."""

    text: str
    visible: str
    phase: Phase
    forced_as: ForcedAs | None
    instead_of: int | None


class ReasoningSummary(NamedTuple):
    """Texts of a run and their token counts.

    Args:
        thinking, answer: the texts, with the marks of calls but without the marks of the thinking.
        thinking_tokens: number of tokens between the marks; of a mark that the model wrote in
            several tokens, all but the last count.
        forced_tokens: number of tokens that the model didn't choose.
        waits: number of attempts to stop thinking that were replaced.
        closed: whether the thinking reached its closing mark.
        closed_by_budget: whether the budget forced that mark.
    """

    thinking: str
    answer: str
    thinking_tokens: int
    answer_tokens: int
    forced_tokens: int
    waits: int
    closed: bool
    closed_by_budget: bool
    calls: tuple[CalculatorCall, ...]


def pieces_of(steps: Sequence[TokenStep]) -> tuple[Piece, ...]:
    """Return the tokens of recorded steps."""
    return tuple(
        Piece(s.text, s.text or s.chosen.text, s.phase, s.forced_as, s.instead_of) for s in steps
    )


def written_by(pieces: Sequence[Piece]) -> str:
    """Join the texts of tokens; of the special tokens only the marks of calls are written.

    Without these marks a call and its result would read as one number.
    """
    return "".join(p.visible if p.visible in CALL_MARKS else p.text for p in pieces)


def read_run(pieces: Sequence[Piece], config: Reasoning) -> ReasoningSummary:
    """Summarize a run from its tokens in order."""
    thinking = [piece for piece in pieces if piece.phase == "thinking"]
    inside = [p for p in thinking if p.forced_as not in ("think_start", "think_end")]
    by_budget = any(piece.forced_as == "think_end" for piece in thinking)
    written = "".join(piece.visible for piece in inside)
    by_model = not by_budget and bool(config.think_end) and config.think_end in written
    text = written_by(inside)
    if by_model:
        text = text.partition(config.think_end)[0]
    answer = [piece for piece in pieces if piece.phase == "answer"]
    return ReasoningSummary(
        thinking=text,
        answer=written_by(answer),
        thinking_tokens=len(inside) - by_model,
        answer_tokens=len(answer),
        forced_tokens=sum(piece.forced_as is not None for piece in pieces),
        waits=sum(p.forced_as == "wait" and p.instead_of is not None for p in pieces),
        closed=by_model or by_budget,
        closed_by_budget=by_budget,
        calls=tuple(_calls(pieces)) if config.calculator else (),
    )


def mark_sizes(pieces: Sequence[Piece], config: Reasoning) -> tuple[int, int]:
    """Return the lengths in tokens of a run's opening and closing marks; 0 for a missing mark.

    Every token that holds a part of a closing mark written by the model counts.
    """
    opening = sum(piece.forced_as == "think_start" for piece in pieces)
    forced = sum(piece.forced_as == "think_end" for piece in pieces)
    if forced or not config.think_end:
        return opening, forced
    inside = [piece.visible for piece in pieces if piece.phase == "thinking"][opening:]
    mark = "".join(inside).find(config.think_end)
    before = sum(end <= mark for end in accumulate(map(len, inside)))
    return opening, len(inside) - before if mark >= 0 else 0


def _calls(pieces: Sequence[Piece]) -> Iterator[CalculatorCall]:
    written, phase = "", "thinking"
    for at, piece in enumerate(pieces):
        written, phase = (written if piece.phase == phase else "") + piece.visible, piece.phase
        expression = call_at_end(written) if piece.forced_as is None else None
        if expression is None:
            continue
        first, length = at, len(piece.visible)
        while CALL not in written[-length:]:
            first -= 1
            length += len(pieces[first].visible)
        last = at
        while last + 1 < len(pieces) and pieces[last + 1].forced_as == "result":
            last += 1
        result = "".join(piece.visible for piece in pieces[at + 1 : last + 1])
        yield CalculatorCall(expression, result.removesuffix(END_RESULT), first, last)
        written = ""
