"""Figures of a lab step, a sweep, an evaluation and the reasoning example."""

from __future__ import annotations

from dataclasses import replace

from .. import figures
from ..decoding.comparison.measures import PairMeasures
from ..decoding.counting import counted, nth
from ..decoding.lab.types import LabExample
from ..decoding.many.types import ManyRuns
from ..decoding.record.trace import Trace
from ..evaluation.example import ReasoningExample
from ..evaluation.plan.types import Evaluation
from ..evaluation.sweep.types import BudgetSweep
from ..evaluation.votes.best_of import SampledProblems, of_way
from ..figures.base.figure import Figure
from ..figures.base.labels import config_caption, plain_name, set_name, settings_caption
from ..figures.compare.lines import MEASURES
from ..figures.many.matrix import GRID_MEASURES, is_grid
from ..language import N_, Message, tr
from .part import Part, of_figure

_WAIT = N_("wait until it is measured, which takes a moment after a knob was moved")
_OPEN = N_("open {tab} and wait until it is measured, which takes a moment after a knob was moved")


def lab_parts(example: LabExample) -> list[Part]:
    """Return the figures of a lab step; figures without a measurement say what they need."""
    step, at = example.step, f"step-{nth(example.index)}"
    swept = Message(_OPEN, tab=Message("Temperature"))
    measured: dict[str, tuple[Figure[...], object, str]] = {
        "boundaries": (figures.lab_decision_boundaries, example.flips, _WAIT),
        "cuts": (figures.lab_cuts, example.cuts, Message(_OPEN, tab=Message("All cuts"))),
        "rolls": (figures.lab_rolls, example.rolls, Message(_OPEN, tab=Message("1,000 rolls"))),
        "temperatures": (
            figures.lab_sweep,
            example.sweep,
            Message(_OPEN, tab=Message("Temperature")),
        ),
        "small-multiples": (figures.lab_temperatures, example.sweep, swept),
    }
    parts = [
        of_figure(f"draw-{at}", figures.lab_draw, step),
        of_figure(f"stages-{at}", figures.lab_stages, step),
        *(
            of_figure(f"{name}-{at}", draw, step, found) if found else Part(name, needs=needs)
            for name, (draw, found, needs) in measured.items()
        ),
    ]
    if grown := example.continuations:
        return [*parts, of_figure(f"tree-{at}", figures.lab_tree, grown)]
    return [*parts, Part("tree", needs=N_("write continuations first"))]


def many_parts(many: ManyRuns) -> list[Part]:
    """Return the tree of texts, a grid's matrices, the margins at forks, and the agreement; of runs
    of several methods their tree alone."""
    if many.has_searches:
        return [of_figure("methods", figures.methods_tree, many)]
    grids = [
        of_figure(f"grid-{measure}", figures.many_matrix, many, measure=measure)
        for measure in GRID_MEASURES
        if is_grid(many)
    ]
    return [
        of_figure("tree", figures.many_tree, many),
        *grids,
        of_figure("forks", figures.many_forks, many),
        of_figure("agreement", figures.many_agreement, many),
    ]


def pair_parts(
    left: Trace, right: Trace, measures: PairMeasures, selected: int | None = None
) -> list[Part]:
    """Return the figures of each measure along two runs."""
    return [
        of_figure(
            measure, figures.pair_lines, left, right, measures, measure=measure, selected=selected
        )
        for measure in MEASURES
    ]


def sweep_parts(sweep: BudgetSweep) -> list[Part]:
    """Return the figures of accuracy, outcomes, costs, and accuracy by difficulty."""
    if any(problem.steps is not None for problem in sweep.plan.problems.problems):
        hard = of_figure("difficulty", figures.reason_difficulty, sweep)
    else:
        hard = Part("difficulty", needs=N_("sweep over problems that say how hard they are"))
    return [
        of_figure("accuracy", figures.reason_accuracy, sweep),
        of_figure("outcomes", figures.reason_outcomes, sweep),
        of_figure("spent", figures.reason_spent, sweep),
        hard,
    ]


def evaluation_parts(evaluation: Evaluation) -> list[Part]:
    """Return the figures of accuracy and cost, agreement, variety, and the best of N samples."""
    parts = [
        of_figure("accuracy-by-way", figures.evaluate_accuracy, evaluation),
        of_figure("agreement", figures.evaluate_agreement, evaluation),
    ]
    if any(way.samples > 1 for way in evaluation.plan.ways):
        parts.append(of_figure("variety", figures.evaluate_variety, evaluation))
    for at, way in enumerate(evaluation.plan.ways, start=1):
        if way.samples > 1:
            parts.append(
                of_figure(
                    f"best-of-{at}",
                    figures.best_of,
                    of_way(evaluation, way.name),
                    caption=plain_name(way.name, 60),
                )
            )
    return parts


def samples_caption(found: SampledProblems) -> str:
    """Return a caption with the settings and problems of the samples."""
    settings = config_caption(found.model_id, found.config)
    what = f"{tr(counted(len(found.sampled), 'problem'))}: {set_name(found.problems)}"
    return f"{settings} · {what} · {found.reward}"


def reasoning_parts(example: ReasoningExample) -> list[Part]:
    """Return the figures of the run with early stops, both sweeps, the ways, the best of N."""
    caption = settings_caption(example.run)
    parts = [
        of_figure("stops", figures.reason_stops, example.strip, caption=caption),
        *sweep_parts(example.sweep),
        *(replace(part, name=f"cut-{part.name}") for part in sweep_parts(example.cut)),
        of_figure("ways-compared", figures.reason_rivals, example.rivalry),
    ]
    if (best := example.best_of) is not None:
        caption = samples_caption(best)
        parts.append(of_figure("best-of-n", figures.best_of, best.sampled, caption=caption))
    return parts
