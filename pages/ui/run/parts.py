"""A page's figures in one list, which feeds its tabs, its saved page and its archive."""

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
    """A part of a long run: its columns `first` up to `last`, and the figure's arguments."""

    first: int
    last: int
    looks: Mapping[str, int]


def windows_of(starts: range, count: int) -> list[FigureWindow]:
    """Windows of equally many columns, out of `count`, that begin at the starts."""
    return [
        FigureWindow(at, min(at + starts.step, count), {"first": at, "columns": starts.step})
        for at in starts
    ]


@dataclass(frozen=True)
class PagePart:
    """A figure of a page.

    Args:
        name: key of its chart, and stem of its files but for a `file` of another name.
        draw: the figure.
        of: its arguments by name, for a view and the shown trace; None where there is nothing yet.
        needs: what has to be measured first; empty for a figure that is left out then.
        where: end of its name in saved files, such as `step-4`.
        windows: those of a long run that are saved, on a paper; `unit` is what they count.
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
        """The figure as the view shows it; `looks` are arguments that replace those of the list."""
        arguments = self.of(view, shown)
        if arguments is None:
            return Part(self.name, needs=self.needs)
        return of_figure(self.name, self.draw, **{**arguments, **looks})

    def saved(self, view: Any, shown: Trace, paper: Paper) -> Iterable[Part]:
        """The figures that leave with the page: of a long run one for each window."""
        arguments, name = self.of(view, shown), self.file or self.name
        if arguments is None:
            return [Part(name, needs=self.needs)] if self.needs else []
        if self.windows is None:
            end = self.where(view)
            return [of_figure(f"{name}-{end}" if end else name, self.draw, **arguments)]
        found = self.windows(shown, paper)
        return [
            of_figure(
                name if len(found) == 1 else window_name(name, self.unit, first, last),
                self.draw,
                **{**arguments, **looks},
            )
            for first, last, looks in found
        ]


def saved_parts(rows: Iterable[PagePart], view: Any, trace: Trace, paper: Paper) -> list[Part]:
    """All figures of a list for a paper, in its order."""
    return [part for row in rows for part in row.saved(view, trace, paper)]


def selected_step(view: Any) -> str:
    """The end of the name of a selected step's figure."""
    return f"step-{nth(view.selected)}"
