"""Reasons for a difference of two runs, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ...language import N_, Message
from ..counting import listed, nth
from ..record.servers import SERVERS
from ..record.trace import Trace
from ..validation import brief
from .types import Parting

_AND = N_("{one} and {other}")


def first_difference(left: Sequence[int], right: Sequence[int]) -> int | None:
    """Return the index of the first token that differs, or where one sequence ends; None if
    equal.
    """
    shared = min(len(left), len(right))
    at = next((at for at in range(shared) if left[at] != right[at]), shared)
    return None if at == len(left) == len(right) else at


def number_type(trace: Trace) -> str:
    """Return a run's number type in words; a server's is a guess from its answers."""
    if not trace.dtype:
        return Message("unknown number type")
    if SERVERS & trace.versions.keys():
        return Message("{type}, guessed from the server’s answers", type=trace.dtype)
    return trace.dtype


def number_types(left: Trace, right: Trace) -> Message:
    """Return the number types of two runs in words, each once."""
    return listed(dict.fromkeys(number_type(trace) for trace in (left, right)), _AND)


def input_words(left: Trace, right: Trace) -> Message:
    """Return where the tokens of two prompts differ, and why."""
    at = first_difference(left.prompt_ids, right.prompt_ids) or 0
    words = N_("The prompts' tokens differ from token {token} on: the prompts are different texts.")
    if left.rendered_prompt == right.rendered_prompt:
        words = N_(
            "The prompts' tokens differ from token {token} on, and their texts are equal: another "
            "tokenizer, or a token such as beginning-of-sequence that one side adds."
        )
    elif left.prompt == right.prompt:
        words = N_(
            "The prompts' tokens differ from token {token} on: the same words, written by another "
            "chat template."
        )
    return Message(words, token=nth(at))


def difference_words(left: Trace, right: Trace, rounding: float, bound: float) -> Message:
    """Return the difference of the log-probabilities of two runs with the same tokens."""
    if not rounding:
        return Message("Their recorded log-probabilities are equal too.")
    words = N_(
        "Their log-probabilities differ by up to {rounding:.2g} nats, no more than rounding does "
        "({bound:.2g} nats; {kinds})."
    )
    if rounding > bound:
        words = N_(
            "Their log-probabilities differ by up to {rounding:.2g} nats, more than rounding does "
            "({bound:.2g} nats; {kinds})."
        )
    return Message(words, rounding=rounding, bound=bound, kinds=number_types(left, right))


def model_words(left: Trace, right: Trace, parting: Parting, bound: float) -> Message:
    """Return by how much the probabilities of two models differ."""
    names = dict.fromkeys(
        Message("{model} ({type})", model=brief(trace.model_id), type=number_type(trace))
        for trace in (left, right)
    )
    return Message(
        "Up to token {token} the runs' log-probabilities of the same tokens differ by "
        "{rounding:.2g} nats, more than rounding does ({bound:.2g}): {models} give other "
        "probabilities.",
        token=nth(parting.at or 0),
        rounding=parting.rounding,
        bound=bound,
        models=listed(names, _AND),
    )
