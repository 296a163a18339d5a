"""The figures of the page of speculative decoding."""

from __future__ import annotations

from core import figures
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.figures.base.paper import Paper
from core.figures.base.window import even_span
from core.figures.speculative.timeline import COLUMNS, rounds_for
from core.figures.speculative.words import EXTRA, rule_words
from core.language import N_
from pages.ui.run.figures import constraint
from pages.ui.run.parts import FigureWindow, PagePart, windows_of
from pages.ui.speculative import controls
from pages.ui.speculative.state import SpecView


def selected_round(view: SpecView) -> int:
    """The round of the selected token, else the first."""
    return view.token[0] if view.token else 0


def _token(view: SpecView) -> str:
    at, place = view.token or (0, 0)
    which = "own-token" if place == EXTRA else f"position-{nth(place)}"
    return f"round-{nth(at)}-{which}"


def _windows(trace: Trace, paper: Paper) -> list[FigureWindow]:
    count = len(trace.rounds)
    columns = even_span(count, min(COLUMNS, rounds_for(paper.width, trace)))
    return windows_of(range(0, max(count, 1), columns), count)


def _of_tree(view: SpecView, trace: Trace) -> dict[str, object] | None:
    """Return the selected round of a run that drafted trees."""
    drafted = any(step.parents for step in trace.rounds)
    return {"trace": trace, "at": selected_round(view)} if drafted else None


TIMELINE = PagePart(
    "timeline",
    figures.spec_timeline,
    lambda _, trace: {"trace": trace},
    windows=_windows,
    unit="round",
)
VERIFICATION = PagePart(
    "verification",
    figures.spec_verification,
    lambda view, trace: (
        view.token and {"trace": trace, "at": view.token[0], "place": view.token[1]}
    ),
    where=_token,
)
TIME = PagePart(
    "time", figures.spec_time, lambda view, trace: {"trace": trace, "comparison": view.comparison}
)
POSITIONS = PagePart("positions", figures.spec_positions, lambda _, trace: {"trace": trace})
CALIBRATION = PagePart("calibration", figures.spec_calibration, lambda _, trace: {"trace": trace})
CLASSES = PagePart("classes", figures.spec_classes, lambda _, trace: {"trace": trace})
LENGTHS = PagePart(
    "draft-lengths",
    figures.spec_sweep,
    lambda view, trace: view.sweep and {"sweep": view.sweep, "trace": trace},
    N_("measure the draft lengths first"),
)
ACCEPTANCE = PagePart(
    "acceptance",
    figures.spec_acceptance,
    lambda view, trace: view.sweep and {"sweep": view.sweep, "trace": trace},
    N_("measure the draft lengths first"),
)
FEED = PagePart(
    "feed",
    figures.spec_feed,
    lambda view, trace: {"trace": trace, "at": selected_round(view)},
    where=lambda view: f"round-{nth(selected_round(view))}",
)
TREE = PagePart(
    "tree",
    figures.spec_tree,
    _of_tree,
    where=lambda view: f"round-{nth(selected_round(view))}",
)
MASK = PagePart(
    "mask",
    figures.spec_mask,
    _of_tree,
    where=lambda view: f"round-{nth(selected_round(view))}",
)
WINDOW = PagePart(
    "window",
    figures.spec_window,
    lambda view, trace: (
        {"trace": trace, "at": selected_round(view)}
        if any(step.window for step in trace.rounds)
        else None
    ),
    where=lambda view: f"round-{nth(selected_round(view))}",
)
OUTCOMES = PagePart(
    "outcomes",
    figures.spec_outcomes,
    lambda view, trace: view.counted and {"found": view.counted, "trace": trace},
    N_("count the outcomes first"),
)
TRANSLATION = PagePart(
    "translation",
    figures.spec_translation,
    lambda view, trace: (
        {"trace": trace, "at": selected_round(view)}
        if any(step.translation for step in trace.rounds)
        else None
    ),
    where=lambda view: f"round-{nth(selected_round(view))}",
)
EXITS = PagePart(
    "exits",
    figures.spec_exits,
    lambda view, trace: view.exits and {"exits": view.exits, "trace": trace},
    N_("measure the exit layers first"),
)
SERVER = PagePart(
    "server-speculation",
    figures.server_speculation,
    lambda view, _: view.server and view.server._asdict(),
)
THREE = PagePart(
    "three-tokens",
    figures.spec_enumeration,
    lambda view, _: (
        view.three
        and {
            "table": view.three.table,
            "names": controls.NAMES,
            "rule": rule_words(view.three.rule),
        }
    ),
)
CONSTRAINT = constraint.part_of(lambda view: {"selected": view.place_of_token})
PARTS = (
    *(
        TIMELINE,
        VERIFICATION,
        CONSTRAINT,
        TIME,
        POSITIONS,
        CALIBRATION,
        CLASSES,
        LENGTHS,
        ACCEPTANCE,
        TREE,
        MASK,
        WINDOW,
        FEED,
        OUTCOMES,
        SERVER,
    ),
    *(THREE, EXITS, TRANSLATION),
)
