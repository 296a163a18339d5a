"""The figures of the Compare page: those of a step and of each run, and the measures of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.decoding.comparison.measures import PairMeasures
from core.export.part import Part
from core.export.stored_parts import pair_parts
from core.figures.base.paper import WIDE, Paper
from pages.ui.compare.state import NAMES, SideView
from pages.ui.decode.parts import CANDIDATES, HEATMAP
from pages.ui.run.parts import saved_parts


def parts(
    both: Sequence[SideView], measures: PairMeasures, selected: int, paper: Paper = WIDE
) -> list[Part]:
    """Return the figures to export: each run, its selected step, and the measures of both."""
    rows = zip(NAMES.values(), both, strict=True)
    drawn = [part for name, side in rows for part in _of(name, side, paper)]
    if both[0].stepwise is not None and both[1].stepwise is not None:
        runs = both[0].stepwise, both[1].stepwise
        drawn += pair_parts(*runs, measures, selected)
    return drawn


def _of(name: str, side: SideView, paper: Paper) -> Iterator[Part]:
    """Yield a run's heatmap, and the candidates of its selected step."""
    trace = side.stepwise
    if trace is None or not side.steps:
        return
    rows = (HEATMAP, CANDIDATES) if side.step_at(side.selected) else (HEATMAP,)
    for part in saved_parts(rows, side, trace, paper):
        yield replace(part, name=f"{name.lower()}-{part.name}")
