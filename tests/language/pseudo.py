"""Pseudo-localisation: each text of the app, longer and in brackets, so that any other is seen."""

from __future__ import annotations

import gettext
import re

import pytest

from core.language import message

OPEN, CLOSE = "⟦", "⟧"
_ACCENTS = str.maketrans("aeiouAEIOU", "áéíóúÁÉÍÓÚ")
# Placeholders, tags, entities and code stay as they are.
_KEPT = re.compile(r"(\{[^{}]*\}|<[^<>]*>|&\w+;|`[^`]*`|%\S)")

# Length of a word of what makes a text longer, with its space: a line may break there.
_WORD = 8


class Pseudo(gettext.NullTranslations):
    """A catalogue that has every text, a third longer than in English."""

    def gettext(self, message: str) -> str:
        parts = _KEPT.split(message)
        parts[::2] = [part.translate(_ACCENTS) for part in parts[::2]]
        words, rest = divmod(len(message) // 3, _WORD)
        longer = " ".join(["·" * rest, *["·" * (_WORD - 1)] * words]).strip()
        return f"{OPEN}{''.join(parts)}{longer}{CLOSE}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


def use_pseudo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the pseudo catalogue in place of every language's."""
    monkeypatch.setattr(message, "catalogue", lambda _: Pseudo())
