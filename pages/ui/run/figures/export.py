"""Export of figures: the browser draws them, the server makes their files.

Plotly draws in a browser only; fonts, PDF and archives are made here, as by the command line.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from secrets import token_hex

import plotly.graph_objects as go
from pandas import DataFrame
from pandas.api.types import is_numeric_dtype

from core.decoding.errors import DecodingError
from core.figures.base.labels import head
from core.language import tr
from pages.ui import platform
from pages.ui.widgets.component import Mount, component, source
from pages.ui.widgets.controls import figure_choices
from pages.ui.widgets.render_clock import drawn_at

TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"} | {
    "csv": "text/csv;charset=utf-8",
    "zip": "application/zip",
    "html": "text/html;charset=utf-8",
}
# Rows of a table that the browser shows; its file has all of them.
MOST_ROWS = 400
_numbers = count(1)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return "" if value is None else str(value)


def exporter(name: str, *, html: str) -> Mount:
    """Return a component that makes the browser draw figures and save files."""
    return component(
        name,
        html=html,
        css=source("run/figures/export.css"),
        js=source("run/figures/export.js"),
    )


@dataclass
class DrawTask:
    """Request to the browser to draw a figure.

    Args:
        take: receives the figure and Plotly's SVG of it.
    """

    figure: go.Figure
    take: Callable[[go.Figure, str], None]
    number: int = 0

    def __post_init__(self) -> None:
        self.number = next(_numbers)


@dataclass
class ExportState:
    """Export state of one component in a session."""

    task: DrawTask | None = None
    file: dict[str, object] | None = None
    table: dict[str, object] | None = None
    message: str = ""

    @staticmethod
    def of(name: str) -> ExportState:
        """Return this session's export state of a name."""
        return platform.keep("export_desks", dict[str, ExportState]).setdefault(
            platform.key(name), ExportState()
        )

    def data(self) -> dict[str, object]:
        """Return the component's data."""
        task = self.task and {"id": self.task.number, "figure": self.task.figure.to_json()}
        return {
            "task": task,
            "file": self.file,
            "table": self.table,
            "said": self.message,
            "choices": figure_choices.words(),
            "drawn": drawn_at(),
        }

    def hand_over(self, name: str, content: bytes) -> None:
        """Make the browser save a file."""
        kind = TYPES[name.rpartition(".")[2]]
        text = b64encode(content).decode()
        # Unlike a counter, it stays unique if the server restarts while the page is open.
        self.file = {"id": token_hex(8), "name": name, "type": kind, "content": text}
        self.message = ""

    def show(self, title: str, table: DataFrame) -> None:
        """Make the browser show a figure's table; its first rows if it is long."""
        shown = table.head(MOST_ROWS)
        self.message = ""
        self.table = {
            "id": token_hex(8),
            "title": title,
            "columns": [head(str(name)) for name in shown.columns],
            "numbers": [is_numeric_dtype(kind) for kind in shown.dtypes],
            "rows": [[_cell(one) for one in row] for row in shown.itertuples(index=False)],
            "left": len(table) - len(shown),
        }

    def attempt(self, act: Callable[[], None]) -> None:
        """Call `act`; its error is shown below the buttons."""
        self.file, self.table, self.message = None, None, ""
        try:
            act()
        except DecodingError as error:
            self.task, self.message = None, error.shown

    def take(self, drawn: object) -> None:
        """Pass on the picture that the browser has drawn."""
        task = self.task
        if task is None or not isinstance(drawn, dict) or drawn.get("id") != task.number:
            return
        self.task = None
        svg = drawn.get("svg")
        if isinstance(svg, str) and svg:
            self.attempt(lambda: task.take(task.figure, svg))
        else:
            self.message = tr("The browser could not draw this figure. Try again in a moment.")
