"""Specification of a figure: drawing function, texts, key and table, declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from inspect import signature
from typing import Any, Generic, ParamSpec, TypeAlias

import pandas as pd
import plotly.graph_objects as go

from ...language import tr
from .labels import escaped
from .measure import wrapped
from .paper import Paper
from .sheet import EDGE, KeyLine, Sentences, Sheet
from .theme import Theme

P = ParamSpec("P")
Q = ParamSpec("Q")
# Maximum width of a sentence that replaces a figure, px.
_SENTENCE = 290
TableRows: TypeAlias = Iterable[Sequence[object] | Mapping[str, object]]


def given(caption: str) -> str:
    """Return the caption argument of a figure."""
    return caption


class Figure(Generic[P]):
    """A declared figure; calling it draws it.

    Args:
        draw: returns the figure's sheet, or a sentence why there is nothing to draw.
        title: Plotly text of at most 34 characters: one line in a figure 400 px wide, with room at
            the right for the page's buttons. A sheet may replace it.
        caption: returns the caption as plain text; it receives the arguments that match its
            parameters' names.
        data: returns the table; it receives the arguments that match its parameters' names.
        blank: height of the plotting area for a sentence, px.
        words: alt text, subtitle and key, as in `Sheet`; a function receives the arguments and the
            sheet's `facts` that match its parameters' names.
    """

    def __init__(
        self,
        draw: Callable[P, Sheet | str],
        title: str,
        caption: Callable[..., str],
        data: Callable[..., pd.DataFrame],
        blank: int,
        words: Mapping[str, object],
    ) -> None:
        update_wrapper(self, draw)
        self.data = data
        self._draw, self._title, self._blank = draw, title, blank
        self._caption, self._words = caption, words
        self._signature = signature(draw)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> go.Figure:
        """Draw the figure."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        drawn = self._draw(*args, **kwargs)
        if isinstance(drawn, str):
            drawn = _sentence(values["theme"], values["paper"], tr(drawn), self._blank)
        else:
            known = {**values, **drawn.facts}
            for name, words in self._words.items():
                setattr(drawn, name, _call(words, known) if callable(words) else _declared(words))
        return drawn.figure(tr(self._title), _call(self._caption, values))

    def table_of(self, *args: Any, **kwargs: Any) -> Callable[..., pd.DataFrame]:
        """Return the function that makes the figure's table from these arguments."""
        return partial(_call, self.data, self._signature.bind(*args, **kwargs).arguments)


def figure(
    title: str,
    caption: Callable[..., str],
    data: Callable[..., pd.DataFrame],
    *,
    alt: Sentences | Callable[..., Sentences] = "",
    subtitle: Sentences | Callable[..., Sentences] = "",
    key: Sequence[KeyLine] | Callable[..., Sequence[KeyLine]] = (),
    blank: int = 120,
) -> Callable[[Callable[P, Sheet | str]], Figure[P]]:
    """Declare a figure; the arguments are those of `Figure`."""
    declared = {"alt": alt, "subtitle": subtitle, "key": key}
    words = {name: value for name, value in declared.items() if value}
    return lambda draw: Figure(draw, title, caption, data, blank, words)


def table(
    columns: str | Sequence[str], *, whole: str = ""
) -> Callable[[Callable[Q, TableRows]], Callable[Q, pd.DataFrame]]:
    """Declare a table by its columns; the function returns the rows.

    Args:
        columns: names of the columns; a single text if no name has a space.
        whole: columns of whole numbers that may be empty.
    """

    names = columns.split() if isinstance(columns, str) else list(columns)

    def declare(rows: Callable[Q, TableRows]) -> Callable[Q, pd.DataFrame]:
        def made(*args: Q.args, **kwargs: Q.kwargs) -> pd.DataFrame:
            frame = pd.DataFrame(list(rows(*args, **kwargs)), columns=names)
            return frame.astype(dict.fromkeys(whole.split(), "Int64"))

        return update_wrapper(made, rows)

    return declare


def _declared(words: object) -> object:
    """Return declared words in the reader's language."""
    return tr(words) if isinstance(words, str) else words


def _call(function: Callable[..., Any], values: Mapping[str, object], **more: object) -> Any:
    """Call a function with the values that match its parameters' names.

    Args:
        more: values that override others, such as the window of a table.
    """
    known = {**values, **more}
    return function(
        **{name: known[name] for name in signature(function).parameters if name in known}
    )


def _sentence(theme: Theme, paper: Paper, words: str, height: int = 120) -> Sheet:
    """Return the sheet of a figure that has only a sentence why there is nothing to draw.

    Args:
        height: height of the plotting area, px.
    """
    hidden = {"visible": False, "fixedrange": True}
    lines = wrapped(words, min(paper.width - 4 * EDGE, _SENTENCE), 13)
    note = {
        "name": "sentence",
        "text": "<br>".join(map(escaped, lines)),
        "x": 0.5,
        "y": 0.5,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "font": {"size": 13, "color": theme.muted},
    }
    axes = {"xaxis": hidden, "yaxis": dict(hidden)}
    return Sheet(
        theme, paper, words, plot_height=height, left=EDGE, layout=axes, annotations=[note]
    )
