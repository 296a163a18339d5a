"""Long runs: every part is drawn by some window, and a table holds what its figure shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain

import pytest
from pandas.api.types import is_numeric_dtype
from plotly.graph_objects import Figure

from core import figures
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.export.catalog import Entry, entries_of
from core.export.part import of_figure
from core.figures import LIGHT, printed
from core.figures.base.grid import columns_for
from core.figures.base.paper import WIDE, Paper
from core.figures.base.window import even_span
from core.figures.opening import contested_step, telling_node, telling_token
from tests.figures import gallery
from tests.figures.beams import make_search
from tests.figures.gallery import long_rounds
from tests.figures.traces import make_trace

NARROW = printed("85mm")


@cache
def long_runs() -> dict[str, Trace]:
    return {
        "tokens": make_trace(120, prompt_tokens=60),
        "search": make_search(16, 60),
        "48 rounds": long_rounds(48),
        "120 rounds": long_rounds(120),
    }


def stepped() -> Iterator[tuple[str, Entry]]:
    for run, trace in long_runs().items():
        yield from ((run, entry) for entry in entries_of(trace) if entry.unit)


OF_RUNS = ("many_forks", "many_tree", "many_matrix", "methods_tree")


def drawn_keys(figure: Figure) -> set[int]:
    """The steps, rounds or positions that a figure's marks hand over when they are clicked."""
    keys = chain.from_iterable(trace.customdata or () for trace in figure.data)
    return {int(key[0]) for key in keys if key[0] >= 0}


def drawn(entry: Entry, step: int | None, paper: Paper) -> Figure:
    return entry.part(step, paper).figure(LIGHT, paper)


@pytest.mark.parametrize("paper", [NARROW, WIDE], ids=["85mm", "page"])
def test_every_step_of_a_long_run_is_drawn_and_named(paper: Paper) -> None:
    for run, entry in stepped():
        for at in {0, entry.count // 2, entry.count - 1}:
            figure = drawn(entry, at, paper)
            words = f"{figure.layout.title.text} {figure.layout.meta['subtitle']}"
            if entry.name in ("heatmap", "prompt", "favourites", "tree", "timeline"):
                assert at in drawn_keys(figure), (run, entry.name, at)
                first, last = figure.layout.meta["window"]
                assert first <= at < last and last - first < entry.count, (run, entry.name)
                assert f"-{nth(first)}-to-{last}" in figure.layout.meta["shown"][0]
                window = f"{nth(first)} to {last} of {entry.count}"
                assert window in words or not paper.printed, (run, entry.name)
            elif entry.name != "compared":
                assert str(nth(at)) in words, (run, entry.name, at)


def test_windows_one_after_the_other_leave_out_no_round() -> None:
    for name in ("48 rounds", "120 rounds"):
        entry = entries_of(long_runs()[name])[0]
        seen, at = set(), 0
        while at < entry.count:
            figure = drawn(entry, at, NARROW)
            seen |= drawn_keys(figure)
            assert figure.layout.meta["window"][0] == at
            at = figure.layout.meta["window"][1]
        assert seen == set(range(entry.count))


def test_a_narrow_paper_keeps_the_part_with_the_selected_round() -> None:
    trace = long_runs()["48 rounds"]
    figure = figures.spec_timeline(trace, columns=40, selected=(33, 0), paper=NARROW)
    first, last = figure.layout.meta["window"]
    assert first <= 33 < last and last - first < 20
    tokens = [trace for trace in figure.data if trace.type == "bar"]
    assert all(any(bars.text) for bars in tokens)


@pytest.mark.parametrize("paper", [NARROW, WIDE], ids=["85mm", "page"])
def test_a_table_holds_the_steps_that_its_figure_draws(paper: Paper) -> None:
    compared = set()
    parts = [
        (name, of_figure(name, getattr(figures, figure), *arguments, **options))
        for name, figure, arguments, options in gallery.entries()
    ]
    parts += [(f"{run} {e.name}", e.part(e.count - 1, paper)) for run, e in stepped()]
    for name, part in parts:
        figure, draws = part.figure(LIGHT, paper), part.draw.func.__name__
        table, keys = part.table(figure), drawn_keys(figure)
        units = (u for u in ("step", "round", "position") if u in table)
        unit = next((u for u in units if is_numeric_dtype(table[u])), None)
        if "window" in figure.layout.meta:
            first, last = figure.layout.meta["window"]
            rows = table["looks_at" if "looks_at" in table else unit]
            assert rows.nunique() == last - first, name
        if draws == "beam_tree":
            keys.discard(first - 1)  # The beam that the window's first step extends.
        # A click on a tree in lanes names a lane, one on a figure of many runs a run.
        if unit and keys and draws not in ("flame_chart", "lab_tree", "run_tree", *OF_RUNS):
            shown = {int(at) - 1 for at in table[unit].dropna()}
            # A part of a tree has steps without a node: in the box at its left, behind its ends.
            whole = not {"paths", "beams"} & set(part.draw.keywords)
            assert shown == keys if whole else shown > keys, name
            compared.add(draws)
    assert {"probability_heatmap", "spec_timeline", "beam_tree", "lens_heatmap"} <= compared
    assert {"prompt_reading", "uncertainty", "candidate_bars", "beam_step"} <= compared


def test_without_a_step_the_part_is_the_one_that_the_page_opens_with() -> None:
    runs = long_runs()
    opens = {entry.name: entry.opens for entry in entries_of(runs["tokens"])}
    assert opens["candidates"] == opens["heatmap"] == contested_step(runs["tokens"]) > 0
    opens = {entry.name: entry.opens for entry in entries_of(runs["48 rounds"])}
    assert opens["verification"] == telling_token(runs["48 rounds"])[0] and not opens["timeline"]
    opens = {entry.name: entry.opens for entry in entries_of(runs["search"])}
    assert opens["step"] == telling_node(runs["search"])[0]


@pytest.mark.parametrize(
    ("count", "held", "span"), [(16, 15, 8), (45, 15, 15), (3, 15, 3), (0, 15, 15)]
)
def test_windows_of_a_run_are_equally_long(count: int, held: int, span: int) -> None:
    assert even_span(count, held) == span


def test_the_last_window_of_a_heatmap_is_as_long_as_the_others() -> None:
    trace = make_trace(columns_for(NARROW.width) + 1)
    heatmap = next(entry for entry in entries_of(trace) if entry.name == "heatmap")
    first, last = drawn(heatmap, heatmap.count - 1, NARROW).layout.meta["window"]
    assert (last, last - first) == (heatmap.count, heatmap.count // 2)
