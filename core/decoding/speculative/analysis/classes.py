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
_APOSTROPHES = "'\u2019"
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
    categories = [unicodedata.category(character) for character in body]
    # Other symbols (So), such as an emoji, punctuate nothing.
    if all(category[0] in "PS" and category != "So" for category in categories):
        return "punctuation"
    goes_on = body[0] == text[0] and _is_of_word(last)
    first = next(filter(str.isalpha, body), body[0] if goes_on and _is_of_word(body[0]) else "")
    if not first or unicodedata.name(first, "").startswith(_UNSPACED):
        return "other"
    continues = goes_on and (_is_of_word(body[0]) or body[0] in _APOSTROPHES)
    return "word_part" if continues else "word_start"


def _is_of_word(character: str) -> bool:
    """Return whether a character is a letter or a mark of one, such as a vowel sign."""
    return character.isalpha() or (character != "" and unicodedata.category(character)[0] == "M")
