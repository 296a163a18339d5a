"""Catalogues of translated texts, loaded at their first use, and the language of the context.

English is the source: its texts are the keys of the catalogues, and it has none of its own.
"""

from __future__ import annotations

import gettext
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from ..installation import ASSETS

LOCALES = ASSETS / "locales"
DOMAIN = "messages"
ENGLISH = "en"
# Each language by its own name.
LANGUAGES = {ENGLISH: "English", "ja": "日本語", "ko": "한국어"}

_current: ContextVar[str] = ContextVar("language", default=ENGLISH)


def current() -> str:
    """Return the language in which the context's reader gets texts."""
    return _current.get()


@contextmanager
def use(language: str) -> Iterator[None]:
    """Make this language the current one in the block."""
    before = _current.set(language)
    try:
        yield
    finally:
        _current.reset(before)


def begin(language: str) -> None:
    """Make this language the current one for the rest of the context."""
    _current.set(language)


def language_of(tag: str | None) -> str | None:
    """Return the language of a tag such as `ja-JP`; None for one without a catalogue."""
    name = (tag or "").replace("_", "-").partition("-")[0].lower()
    return name if name in LANGUAGES else None


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return a language's catalogue; an empty one if it has none, so that texts stay English."""
    return gettext.translation(DOMAIN, LOCALES, [language], fallback=True)


def words_of(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the translations of a browser's texts in the current language, by these texts."""
    return _words_of(texts, current())


@cache
def _words_of(texts: tuple[str, ...], language: str) -> dict[str, str]:
    if language == ENGLISH:
        return {}
    translated = {text: catalogue(language).gettext(text) for text in texts}
    return {text: words for text, words in translated.items() if words != text}
