"""The reader's language at the command line, by the variables that gettext reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .catalogue import ENGLISH, language_of

# The locale is the first of them that is set.
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_UNTRANSLATED = {"C", "POSIX"}
# Encoding and variant of a locale's name: `ja_JP.EUC-JP`, `ko_KR@dict`.
_SUFFIX = re.compile(r"[.@].*", re.DOTALL)


def environment_language(environ: Mapping[str, str]) -> str:
    """Return the language of a process's environment, by the precedence of GNU gettext.

    In the locale `C`, and without one, texts are English. Otherwise the first language of the list
    `LANGUAGE` that has a catalogue counts, or that of the locale if there is no list. English if
    there is no catalogue.
    """
    locale = next((environ[name] for name in _LOCALE if environ.get(name)), "C")
    if _named(locale) in _UNTRANSLATED:
        return ENGLISH
    for name in (environ.get("LANGUAGE") or locale).split(":"):
        language = ENGLISH if _named(name) in _UNTRANSLATED else language_of(_named(name))
        if language:
            return language
    return ENGLISH


def _named(locale: str) -> str:
    return _SUFFIX.sub("", locale)
