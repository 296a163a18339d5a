"""Texts that a browser translates: those of scripts, and the words of components' HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

_SCRIPT_TEXT = re.compile(r'\btr\(\s*"((?:[^"\\]|\\.)+)"')


def script_texts(script: str) -> Iterator[str]:
    """Yield the texts that a script translates by `tr("...")`."""
    return (json.loads(f'"{found[1]}"') for found in _SCRIPT_TEXT.finditer(script))


def html_texts(markup: str) -> Iterator[str]:
    """Yield the words of a component's HTML: its text, labels and titles."""
    parser = _Words()
    parser.feed(markup)
    return (word.strip() for word in parser.found if re.search(r"[A-Za-z]{2}", word))


class _Words(HTMLParser):
    """Collects texts and the values of attributes that are read out or shown."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.found += [value or "" for name, value in attrs if name in ("aria-label", "title")]
