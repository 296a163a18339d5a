"""Validate a server's numbers for the next token and convert them to tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...decoding.errors import LostModelError
from ...language import Message

# Servers write numbers below this in place of -inf.
_NONE_BELOW = -9_000.0
# Tolerance for the sum of all probabilities, computed from float32 log-probabilities.
SUM_TOLERANCE = 1e-3


class Said(NamedTuple):
    """Token ids with their numbers, in the server's order."""

    ids: list[int]
    values: list[float]


def full_row(answer: Said, vocab_size: int, label: str) -> Tensor:
    """Return the numbers of all tokens, `[vocab]` float32; -inf for tokens ruled out.

    Raises:
        LostModelError: a token is missing, repeated or unknown; a number is invalid.
    """
    require_numbers(answer, label)
    count = len(answer.ids)
    if count != vocab_size or len(set(answer.ids)) != count or not _within(answer.ids, vocab_size):
        raise LostModelError(
            Message(
                "The server of {label} answers with other tokens than the "
                "{vocab_size:,} of its vocabulary; check the server.",
                label=label,
                vocab_size=vocab_size,
            )
        )
    row = torch.empty(vocab_size)
    row[torch.tensor(answer.ids)] = torch.tensor(answer.values)
    row[row < _NONE_BELOW] = -math.inf
    return row


def known_row(answer: Said, vocab_size: int, label: str) -> Tensor:
    """Return the named tokens' log-probabilities, `[vocab]` float32; NaN for all others.

    The NaN values prevent use of the row as a complete distribution.

    Raises:
        LostModelError: as `named_row`, or the probabilities add up to more than 1.
    """
    row = named_row(answer, vocab_size, label)
    total = float(row.double().exp().nansum())
    if total > 1 + SUM_TOLERANCE:
        raise LostModelError(
            Message(
                "The server of {label} gives probabilities that add up to {total:.4g}, "
                "more than 1; check the server.",
                label=label,
                total=total,
            )
        )
    return row


def named_row(answer: Said, vocab_size: int, label: str) -> Tensor:
    """Return the numbers of the named tokens, `[vocab]` float32; NaN for all others.

    Raises:
        LostModelError: a token is repeated or unknown; a number is invalid.
    """
    require_numbers(answer, label)
    if len(set(answer.ids)) != len(answer.ids) or not _within(answer.ids, vocab_size):
        raise LostModelError(
            Message(
                "The server of {label} names a token twice, or one beyond the "
                "{vocab_size:,} of the tokenizer; check the tokenizer.",
                label=label,
                vocab_size=vocab_size,
            )
        )
    row = torch.full((vocab_size,), math.nan)
    row[torch.tensor(answer.ids)] = torch.tensor(answer.values)
    return row


def require_numbers(answer: Said, label: str) -> None:
    """Raise LostModelError if an id or a number has the wrong type, or is NaN or infinite."""
    sound = (
        len(answer.ids) == len(answer.values) > 0
        and all(type(token_id) is int for token_id in answer.ids)
        and all(type(value) in (float, int) for value in answer.values)
        and all(value < math.inf for value in answer.values)  # False for NaN too.
    )
    if not sound:
        raise LostModelError(
            Message(
                "The server of {label} answers with something else than numbers; check the server.",
                label=label,
            )
        )


def require_sum(rows: Tensor, label: str, advice: str) -> None:
    """Check that the probabilities of each row of `[n, vocab]` add up to 1.

    Raises:
        LostModelError: a sum differs from 1; the message contains the sum.
    """
    totals = rows.double().exp().sum(dim=-1)
    worst = float(totals[(totals - 1).abs().argmax()])
    if not abs(worst - 1) <= SUM_TOLERANCE:
        raise LostModelError(
            Message(
                "The server of {label} gives probabilities that add up to {worst:.4g} "
                "instead of 1, so they aren't the model's: {advice}.",
                label=label,
                worst=worst,
                advice=advice,
            )
        )


def _within(ids: Sequence[int], vocab_size: int) -> bool:
    return min(ids) >= 0 and max(ids) < vocab_size


def part_of(answer: Any, *path: str | int) -> Any:
    """Return the value at a path in a JSON answer; None if the path doesn't exist."""
    for step in path:
        fits = isinstance(answer, dict if isinstance(step, str) else list)
        if not fits or (isinstance(step, int) and not -len(answer) <= step < len(answer)):
            return None
        answer = answer.get(step) if isinstance(step, str) else answer[step]
    return answer


def list_in(answer: Any, *path: str | int) -> list[Any]:
    """Return the list at a path in a JSON answer; empty if there is none."""
    part = part_of(answer, *path)
    return part if isinstance(part, list) else []


def in_order(answers: Any, count: int, label: str) -> list[Any]:
    """Return the answers to `count` prompts by `index`; raise LostModelError if one is missing."""
    places = [part_of(answer, "index") for answer in answers] if isinstance(answers, list) else []
    if len(places) != count or not all(at in places for at in range(count)):
        raise LostModelError(
            Message(
                "The server of {label} answers {count} prompts with something else; "
                "check the server.",
                label=label,
                count=count,
            )
        )
    return [answers[places.index(at)] for at in range(count)]
