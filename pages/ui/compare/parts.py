"""The figures of the Compare page: those of a step and of each run, and the measures of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core import figures
from core.decoding.comparison.measures import PairMeasures
from core.decoding.record.trace import Trace
from core.export.part import Part, of_figure
from core.figures.base.paper import WIDE, Paper
from core.figures.compare.lines import Measure
from pages.ui.compare.state import NAMES, PairView, SideView, sides
from pages.ui.decode.parts import CANDIDATES, HEATMAP
from pages.ui.run.parts import saved_parts

MEASURES: dict[Measure, str] = {
    "entropy": "Entropy",
    "surprisal": "Surprisal",
    "kl": "KL divergence",
    "variation": "Total variation",
}


def measure_part(
    left: Trace, right: Trace, measures: PairMeasures, measure: Measure, selected: int | None
) -> Part:
    """Return the figure of one measure along both runs."""
    return of_figure(
        measure, figures.pair_lines, left, right, measures, measure=measure, selected=selected
    )


def parts(pair: PairView, measures: PairMeasures, paper: Paper = WIDE) -> list[Part]:
    """Return the figures to export: each run, its selected step, and the measures of both."""
    runs = [side.told for side in sides()]
    found = [
        part for named in zip(NAMES.values(), sides(), strict=True) for part in _of(*named, paper)
    ]
    if runs[0] is not None and runs[1] is not None:
        for measure in MEASURES:
            found.append(measure_part(runs[0], runs[1], measures, measure, pair.selected))
    return found


def _of(name: str, side: SideView, paper: Paper) -> Iterator[Part]:
    rows: Sequence[Part] = []
    if side.told is not None and side.steps:
        shown = (HEATMAP, CANDIDATES) if side.step_at(side.selected) else (HEATMAP,)
        rows = saved_parts(shown, side, side.told, paper)
    for part in rows:
        yield replace(part, name=f"{name.lower()}-{part.name}")
