"""Argument parser whose help and errors are in the reader's language.

Declarations hold English texts: the formatter translates a help text or a heading when it prints
it, so that no command waits for a catalogue that it doesn't need.
"""

from __future__ import annotations

import argparse
import gettext
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ..language import N_, current, tr
from ..language.catalogue import DOMAIN, ENGLISH, LOCALES
from ..language.columns import text_columns, wrapped

_USAGE = N_("usage: ")
# Texts of argparse in any of its versions: it asks gettext for them, but has no catalogue itself.
OF_ARGPARSE = (
    _USAGE,
    N_("positional arguments"),
    N_("options"),
    N_("show this help message and exit"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("expected one argument"),
    N_("expected at most one argument"),
    N_("expected at least one argument"),
    N_("not allowed with argument %s"),
    N_("ignored explicit argument %r"),
    N_("invalid %(type)s value: %(value)r"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("invalid choice: %(value)r, maybe you meant %(closest)r? (choose from %(choices)s)"),
    N_("the following arguments are required: %s"),
    N_("one of the arguments %s is required"),
    N_("unrecognized arguments: %s"),
    N_("ambiguous option: %(option)s could match %(matches)s"),
)


class Formatter(argparse.HelpFormatter):
    """Help formatter that translates what it prints, and counts wide characters as terminals do."""

    def start_section(self, heading: str | None) -> None:
        """Begin a section with its heading in the reader's language."""
        super().start_section(heading and tr(heading))

    def add_text(self, text: str | None) -> None:
        """Add a paragraph in the reader's language."""
        super().add_text(text and tr(text))

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help and tr(action.help)

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None) -> str:
        words = tr(_USAGE) if prefix is None else prefix
        # Argparse indents the next lines by the number of the prefix's characters.
        stand_in = "_" * text_columns(words)
        return super()._format_usage(usage, actions, groups, stand_in).replace(stand_in, words, 1)

    def _split_lines(self, text: str, width: int) -> list[str]:
        if current() == ENGLISH:
            return super()._split_lines(text, width)
        return list(wrapped(text, width))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if current() == ENGLISH:
            return super()._fill_text(text, width, indent)
        return "\n".join(f"{indent}{line}" for line in wrapped(text, width - len(indent)))


class Parser(argparse.ArgumentParser):
    """Parser that prints an error as one line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"formatter_class": Formatter} | kwargs)

    def error(self, message: str) -> NoReturn:
        """End the command with the error on stderr and exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


@contextmanager
def argparse_translated() -> Iterator[None]:
    """Make argparse's own errors those of the catalogue in the block.

    It takes the language from the environment, as `environment_language` does.
    """
    if current() == ENGLISH:
        yield
        return
    domain = gettext.textdomain()
    folder = gettext.bindtextdomain(DOMAIN)
    gettext.textdomain(DOMAIN)
    gettext.bindtextdomain(DOMAIN, str(LOCALES))
    try:
        yield
    finally:
        gettext.bindtextdomain(DOMAIN, folder)
        gettext.textdomain(domain)
