"""Test of a text against a constraint, without a model; torch-free."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from .value import Constraint, limits

if TYPE_CHECKING:
    from llguidance import LLTokenizer

# Literals and comments of Lark, and the parts of a grammar that a text alone doesn't show: special
# tokens, other grammars by name, bounds on tokens.
_LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"|(?://|#)[^\n]*|/(?:\\.|[^/\\])+/')
_OF_TOKENS = re.compile(r"[<@]|%llguidance|%if|max_tokens|stop")


def shows_in_text(constraint: Constraint) -> bool:
    """Return whether a text alone tells if it keeps to the constraint; False for a Lark grammar
    with special tokens or bounds on tokens.
    """
    return constraint.kind != "lark" or not _OF_TOKENS.search(_LITERALS.sub(" ", constraint.text))


def keeps_to(constraint: Constraint, text: str, *, whole: bool = True) -> bool:
    """Return whether a text is whole under a constraint; True where llguidance reaches a bound.

    Of a Lark grammar, `shows_in_text` says whether the text alone tells.

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
