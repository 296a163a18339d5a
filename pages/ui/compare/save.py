"""Exports of the Compare page: both runs in one file, as a web page, as figures, and as a link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from core import figures
from core.decoding.comparison.measures import PairMeasures, recorded_measures
from core.decoding.comparison.parting import compare
from core.decoding.comparison.types import CAUSES, Parting
from core.decoding.comparison.words import differences_words
from core.decoding.record.trace import Trace
from core.export.comparison import comparison_json
from core.export.subject import pair_subject
from core.export.web.run_page import PAPER
from core.figures.base.theme import LIGHT, Theme
from core.figures.compare.lines import captions
from core.language import tr
from pages.ui import platform, registry
from pages.ui.compare import pairs
from pages.ui.compare.parts import parts
from pages.ui.compare.state import SLOTS, PairView, SideView, sides
from pages.ui.decode.methods.strategies import STRATEGIES
from pages.ui.platform import slot
from pages.ui.run.files import link_run, save
from pages.ui.run.files.archive import ArchiveSource, Tables
from pages.ui.run.files.link_run import RunLink
from pages.ui.widgets import style

_STEM = "decoding-comparison"


def menu(
    pair: PairView,
    left: Trace,
    right: Trace,
    parting: Parting,
    measured: Callable[[], PairMeasures],
) -> None:
    """Draw the menu that saves both runs, with their measures as the page shows them."""
    measures = measured()
    file = partial(comparison_json, left, right, parting, measures)
    source = ArchiveSource(
        _STEM,
        registry.COMPARE.path,
        lambda: pair_subject(left, right, file()),
        lambda paper: parts(sides(), measures, pair.selected, paper),
        lambda: tables(measures),
        link_to_both(),
    )
    save.save(
        source, file, lambda: web_page(sides(), parting, measures, pair.selected, style.theme())
    )


def tables(measures: PairMeasures) -> Tables:
    """Return the measures of every step."""
    return [(tr("Measures of both runs."), figures.pair_lines_data(measures))]


def stored_page() -> bytes | None:
    """Return the web page of the two stored runs; None if a file can't be read."""
    both = []
    for place in SLOTS:
        with slot.use(place):
            both.append(SideView.initial())
    left, right = (side.trace for side in both)
    if left is None or right is None:
        return None
    parting = compare(left, right)
    for side in both:
        side.selected = parting.at or 0
    return web_page(both, parting, recorded_measures(left, right), parting.at or 0)


def web_page(
    both: Sequence[SideView],
    parting: Parting,
    measures: PairMeasures,
    selected: int,
    theme: Theme = LIGHT,
) -> bytes:
    """Return both runs and their figures as one page that needs no server and no network."""
    left, right = (side.trace for side in both)
    assert left is not None and right is not None
    return save.web_page(
        left,
        parts(both, measures, selected, PAPER),
        theme,
        title=tr("Decoding Explorer: two runs"),
        settings=captions(left, right, PAPER),
        notes=[
            (tr(differences_words(left, right)), None),
            (f"{tr(CAUSES[parting.cause])}. {tr(parting.reason)}", None),
            (
                tr(
                    "The text of B: {prompt}{reply}",
                    prompt=right.rendered_prompt or right.prompt,
                    reply=right.text,
                ),
                None,
            ),
        ],
    )


def link_to_both() -> RunLink:
    """Return the link that repeats both runs; a side that shows its stored run needs none.

    Runs of other methods than a side's controls have are linked by their ready-made pair, or not.
    """
    name = pairs.linked()
    methods = {side.trace.config.method for side in sides() if side.trace}
    if not name and not methods <= STRATEGIES.keys():
        runs = dict.fromkeys(f"{place.prefix}run" for place in SLOTS)
        return RunLink(
            runs, "", tr("This pair has no link: its trace file holds both runs."), False, {}
        )
    links = []
    for place, side in zip(SLOTS, sides(), strict=True):
        with slot.use(place):
            run, trace = platform.key("run"), side.trace
            if name and place is not SLOTS[0]:
                links.append(
                    RunLink({run: None, pairs.PAIR: name}, "", "", False, {pairs.PAIR: name})
                )
                continue
            made = trace and link_run.link_to(side, trace, registry.COMPARE)
            if made and side.source != "example":
                parameters = {**made.parameters, run: "1"}
                links.append(replace(made, parameters=parameters, whole=made.whole | {run: "1"}))
            elif made:
                links.append(RunLink(dict.fromkeys([*made.parameters, run]), "", "", False, {}))
    return RunLink(
        {name: word for link in links for name, word in link.parameters.items()},
        " | ".join(filter(None, (link.which for link in links))),
        " ".join(filter(None, (link.lost for link in links))),
        any(link.changed for link in links),
        {name: word for link in links for name, word in link.whole.items()},
    )
