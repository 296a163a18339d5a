"""Test of a text against a constraint, without a model; torch-free."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .value import Constraint, limits

if TYPE_CHECKING:
    from llguidance import LLTokenizer


def keeps_to(constraint: Constraint, text: str, *, whole: bool = True) -> bool:
    """Return whether a text is whole under a constraint; True where llguidance reaches a bound.

    Args:
        whole: False for a text that may go on: the beginning of a whole one is enough.
    """
    from llguidance import LLMatcher

    # Every spelling counts: the text is read byte by byte.
    grammar = constraint.grammar(forcing=False)
    matcher = LLMatcher(_bytes(), grammar, log_level=0, limits=limits())
    data = list(text.encode())
    read = matcher.validate_tokens(data)
    matcher.consume_tokens(data[:read])
    if read == len(data) and (not whole or matcher.is_accepting()):
        return True
    matcher.compute_bitmask()
    return bool(matcher.get_error())


@cache
def _bytes() -> LLTokenizer:
    from llguidance import LLTokenizer

    return LLTokenizer("byte")
