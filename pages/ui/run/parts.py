"""List of a page's figures, used by its tabs, its saved page and its archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.export.part import Part, of_figure, window_name
from core.figures.base.figure import Figure
from core.figures.base.paper import Paper


class FigureWindow(NamedTuple):
    """Part of a long run: its columns `first` up to `last`, and the figure's arguments."""

    first: int
    last: int
    looks: Mapping[str, int]


def windows_of(starts: range, count: int) -> list[FigureWindow]:
    """Return windows of equally many columns, out of `count`, that begin at the starts."""
    return [
        FigureWindow(at, min(at + starts.step, count), {"first": at, "columns": starts.step})
        for at in starts
    ]


@dataclass(frozen=True)
class PagePart:
    """A figure of a page.

    Args:
        name: key of its chart, and stem of its files unless `file` names another.
        draw: draws the figure.
        of: gives its arguments by name for a view and the shown trace; None without data.
        needs: the measurement that it needs; empty for a figure that is left out without data.
        where: suffix of its name in saved files, such as `step-4`.
        windows: saved windows of a long run on a paper; `unit` is the name of their columns.
    """

    name: str
    draw: Figure[...]
    of: Callable[[Any, Any], Mapping[str, Any] | None]
    needs: str = ""
    where: Callable[[Any], str] = lambda _: ""
    windows: Callable[[Trace, Paper], Sequence[FigureWindow]] | None = None
    unit: str = "step"
    file: str = ""

    def part(self, view: Any, shown: Trace | None, /, **looks: Any) -> Part:
        """Return the figure as the view shows it; `looks` are arguments that replace the list's."""
        arguments = self.of(view, shown)
        if arguments is None:
            return Part(self.name, needs=self.needs)
        return of_figure(self.name, self.draw, **{**arguments, **looks})

    def saved(self, view: Any, shown: Trace, paper: Paper) -> Iterable[Part]:
        """Return the figures that are saved with the page: for a long run one per window."""
        arguments, name = self.of(view, shown), self.file or self.name
        if arguments is None:
            return [Part(name, needs=self.needs)] if self.needs else []
        if self.windows is None:
            end = self.where(view)
            return [of_figure(f"{name}-{end}" if end else name, self.draw, **arguments)]
        shown_windows = self.windows(shown, paper)
        return [
            of_figure(
                name if len(shown_windows) == 1 else window_name(name, self.unit, first, last),
                self.draw,
                **{**arguments, **looks},
            )
            for first, last, looks in shown_windows
        ]


def saved_parts(rows: Iterable[PagePart], view: Any, trace: Trace, paper: Paper) -> list[Part]:
    """Return all figures of a list for a paper, in its order."""
    return [part for row in rows for part in row.saved(view, trace, paper)]


def selected_step(view: Any) -> str:
    """Return the suffix of the name of a selected step's figure."""
    return f"step-{nth(view.selected)}"
