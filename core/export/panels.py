"""Combine several figures as lettered panels of one, side by side if the width allows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from string import ascii_lowercase
from typing import Any

import plotly.graph_objects as go

from ..decoding.counting import sentences
from ..decoding.errors import FigureError
from ..figures.base.labels import exact_plain
from ..figures.base.paper import BODY, Paper
from ..figures.journal.key_words import ended
from ..language import N_, Message, tr
from .drawing.font_files import SANS
from .drawing.svg import SvgDrawing, finish

# px: gap between panels, room for the letter above a panel, and its inset from the panel's edge.
_GAP, _HEAD, _INSET = 12, 20, 4
# px: smallest width of a panel that stands beside another.
_LEAST = 380
_BODY = re.compile(r"<svg[^>]*>(.*)</svg>\s*$", re.DOTALL)
_ID = re.compile(r"""(\bid=["']|url\(['"]?#|url\(&quot;#)""")
LETTERS = ascii_lowercase


@dataclass(frozen=True, slots=True)
class Panels:
    """Layout of a figure's panels.

    Args:
        paper: size of the whole figure.
        panel: size of one panel.
        columns: number of panels side by side.
    """

    paper: Paper
    panel: Paper
    columns: int

    @classmethod
    def of(cls, paper: Paper, count: int) -> Panels:
        """Return the layout for `count` panels, two side by side if the width allows.

        Raises:
            FigureError: they are too few or too many.
        """
        if not 2 <= count <= len(LETTERS):
            raise FigureError(
                Message(
                    "A figure has 2 to {letters} panels, not {count}.",
                    letters=len(LETTERS),
                    count=count,
                )
            )
        columns = 2 if paper.width >= 2 * _LEAST + _GAP else 1
        width = (paper.width - _GAP * (columns - 1)) / columns
        return cls(
            paper,
            replace(paper, width=round(width, 2), mm=paper.mm and paper.mm * width / paper.width),
            columns,
        )

    def letter(self, at: int) -> str:
        """Return the letter of a panel, such as `(a)`."""
        journal = self.paper.journal
        return (journal.letter if journal else "({})").format(LETTERS[at])

    def _join(self, raws: Sequence[str], figures: Sequence[go.Figure]) -> str:
        """Return one SVG of all panels, row by row, with the background colour of the first."""
        ground, ink = figures[0].layout.paper_bgcolor, figures[0].layout.font.color
        pieces, top = [], 0.0
        for first in range(0, len(raws), self.columns):
            row = range(first, min(first + self.columns, len(raws)))
            for at in row:
                pieces.append(
                    self._placed(raws[at], at, (at - first) * (self.panel.width + _GAP), top, ink)
                )
            top += _HEAD + max(figures[at].layout.height for at in row)
        size = f'width="{self.paper.width:g}" height="{top:g}"'
        box = f'viewBox="0 0 {self.paper.width:g} {top:g}"'
        behind = "" if self.paper.transparent else f'<rect {size} fill="{ground}"/>'
        names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        return f"<svg {names} {size} {box}>{behind}{''.join(pieces)}</svg>"

    def _placed(self, raw: str, at: int, left: float, top: float, ink: str) -> str:
        match = _BODY.search(raw)
        if match is None:
            raise FigureError(N_("This is no picture of a figure."))
        # Two panels may use the same ids.
        body = _ID.sub(lambda one: f"{one[1]}{LETTERS[at]}-", match[1])
        # The journal's largest text.
        journal = self.paper.journal
        size = 14.0 if journal is None else journal.sizes[1] / journal.type_pt * BODY
        style = f"font-family: '{SANS}'; font-weight: 700; fill: {ink}; font-size: {size:g}px"
        letter = f'<text x="{_INSET}" y="14" style="{style}">'
        inner = f'<g transform="translate(0,{_HEAD})">{body}</g>'
        head = f"{letter}{escape(self.letter(at))}</text>"
        return f'<g transform="translate({left:g},{top:g})">{head}{inner}</g>'

    def words(self, said: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Return title, caption and alt text of the whole figure, from those of its panels.

        Settings that all panels share appear only once.
        """
        settings = {str(meta.get("settings", meta["caption"])) for meta in said}
        shared = len(settings) == 1
        shows = [str(meta.get("shows", "") if shared else meta["caption"]) for meta in said]
        captions = [
            f"{self.letter(at)} {tr(sentences(ended(str(meta['title'])), shows[at]))}"
            for at, meta in enumerate(said)
        ]
        words = {
            "title": "; ".join(
                f"{self.letter(at)} {meta['title']}" for at, meta in enumerate(said)
            ),
            "caption": " ".join([*captions, *(map(ended, settings) if shared else ())]),
            "alt": " ".join(f"{self.letter(at)} {meta['alt']}" for at, meta in enumerate(said)),
        }
        return {name: exact_plain(text) for name, text in words.items()}

    def drawing(self, raws: Sequence[str], figures: Sequence[go.Figure], name: str) -> SvgDrawing:
        """Return the finished drawing.

        Args:
            raws: Plotly's SVG of each figure.
            name: prefix of the ids in the file.
        """
        words = self.words([figure.layout.meta for figure in figures])
        return finish(self._join(raws, figures), name=name, mm=self.paper.mm, **words)
