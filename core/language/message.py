"""Texts that can be translated: translated now (`tr`), declared (`N_`), or made to be shown later
(`Message`).

A template names its values in braces. A translation has the same names and puts them where its
grammar needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .catalogue import ENGLISH, LANGUAGES, catalogue, current, use
from .particles import with_particles
from .spacing import without_gaps

# How a language puts values into a template, where it isn't done by their places alone.
_RULES = {"ja": without_gaps, "ko": with_particles}


class Message(str):
    """English text that remembers its template and values, so that `tr` can translate it.

    It equals its English text: logs, files and the endpoint get that. An error's text is one, as
    the code that raises it doesn't know who reads it.

    Args:
        template: the text with the names of its values in braces; a text without values is taken
            as it is, and a message too.
        values: a value that is a `Message`, or an error with one, is translated with it, any other
            one is not.
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Message:
        if isinstance(template, Message) and not values:
            return template
        message = super().__new__(cls, template.format(**values) if values else template)
        message.template, message.values = template, values
        return message

    def translated(self, language: str) -> str:
        """Return the text in a language."""
        return _filled(_found(self.template, language), self.values, language)


class Plural(Message):
    """Text with a count, which chooses the form of a word.

    Args:
        template: the English form for 1; it may name the count as `{count}`.
        many: the English form for any other count.
    """

    many: str
    number: int

    def __new__(cls, template: str, many: str, count: int, **values: Any) -> Plural:
        values = {"count": f"{count:,}", **values}
        message = str.__new__(cls, (template if count == 1 else many).format(**values))
        message.template, message.many, message.number = template, many, count
        message.values = values
        return message

    def translated(self, language: str) -> str:
        form = catalogue(language).ngettext(self.template, self.many, self.number)
        return _filled(form, self.values, language)

    def __reduce__(self) -> tuple[Any, ...]:
        return str.__new__, (type(self), str(self)), self.__dict__


def tr(text: str, **values: Any) -> str:
    """Return a text in the context's language, with its values.

    Args:
        text: a declared English text, a template, or a `Message`; never a stranger's text.
    """
    language = current()
    if language == ENGLISH:
        return text.format(**values) if values else text
    if isinstance(text, Message):
        return text.translated(language)
    return _filled(_found(text, language), values, language)


def trn(text: str, many: str, count: int, **values: Any) -> str:
    """Return the form of a text that a count needs, in the context's language."""
    return tr(Plural(text, many, count, **values))


def in_every_language(text: str) -> Iterator[str]:
    """Yield a declared text in each language of the app."""
    for language in LANGUAGES:
        with use(language):
            yield tr(text)


def N_(text: str) -> str:
    """Return a declared text as it is; `tr` translates it where it is shown."""
    return text


def _found(text: str, language: str) -> str:
    return catalogue(language).gettext(text) if text else text


def _filled(template: str, values: dict[str, Any], language: str) -> str:
    if not values:
        return template
    shown = {name: _shown(value, language) for name, value in values.items()}

    def filled(piece: str) -> str:
        return piece.format(**shown)

    rule = _RULES.get(language)
    return rule(template, filled) if rule else filled(template)


def _shown(value: Any, language: str) -> Any:
    text = value.args[0] if isinstance(value, BaseException) and value.args else value
    return text.translated(language) if isinstance(text, Message) else value
