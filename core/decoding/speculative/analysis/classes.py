"""Classes of drafted tokens by their text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

from ...record.trace import Trace
from ..tree.shape import path_to
from ..types import DraftToken

TokenClass: TypeAlias = Literal["word_start", "word_part", "digit", "punctuation", "space", "other"]
CLASSES: tuple[TokenClass, ...] = get_args(TokenClass)
# Scripts that write words without spaces: no token shows where a word begins.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


class VerifiedToken(NamedTuple):
    """A drafted token that the target reached, with its class.

    Args:
        round: index of its round.
        accepted: whether it was accepted, not rejected.
    """

    round: int
    token: DraftToken
    token_class: TokenClass
    accepted: bool


def verified_tokens(trace: Trace) -> Iterator[VerifiedToken]:
    """Yield the accepted and rejected tokens of a run in order."""
    before = trace.rendered_prompt or trace.prompt
    for at, step in enumerate(trace.rounds):
        for place, token in enumerate(step.drafted):
            if token.outcome == "not_reached":
                continue
            path = path_to(step.tree, step.tree[place])
            text = before + "".join(step.drafted[node].text for node in path)
            accepted = token.outcome == "accepted"
            yield VerifiedToken(at, token, class_of(token.text, text[-1:]), accepted)
        before += step.text


def class_of(text: str, last: str) -> TokenClass:
    """Return the class of a token.

    Args:
        last: the last character before the token; empty at the beginning.
    """
    body = text.strip()
    if not body:
        return "space" if text else "other"
    if "\ufffd" in body or (body.startswith("<") and body.endswith(">") and len(body) > 2):
        return "other"
    if all(character.isdigit() for character in body):
        return "digit"
    if all(unicodedata.category(character)[0] in "PS" for character in body):
        return "punctuation"
    first = next((character for character in body if character.isalpha()), "")
    if not first or unicodedata.name(first, "").startswith(_UNSPACED):
        return "other"
    continues = body[0] == text[0] and body[0].isalpha() and last.isalpha()
    return "word_part" if continues else "word_start"
