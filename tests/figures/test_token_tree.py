"""The merged tree: shared beginnings once, a lane a row, at most 500 nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.figures import lab_tree, printed
from core.figures.lanes.token_tree import MOST_NODES, lay_out_tree
from core.traces.lab import load_lab
from tests.figures.labs import make_rows, row_of
from tests.figures.looking import trace_named

ROWS = make_rows().rows
LAB = Path(__file__).parents[2] / "assets" / "traces" / "lab.json"


def test_shared_beginnings_are_one_node() -> None:
    first = [cell for cell in lay_out_tree(ROWS, fold=False).cells if cell.depth == 0]
    assert [cell.lanes for cell in first] == [3, 1]


def test_a_run_may_be_longer_than_the_stack_of_python() -> None:
    long = [row_of(1, *range(3000)), row_of(2, *range(3000), 7)]
    layout = lay_out_tree(long)
    assert [(cell.lanes, len(cell.tokens)) for cell in layout.cells] == [(2, MOST_NODES)]
    assert [len(lane.tokens) for lane in layout.lanes] == [3000, 3001]


def test_unfolded_every_node_is_a_cell_that_spans_its_rows() -> None:
    layout = lay_out_tree(ROWS, fold=False)
    assert len(layout.cells) == 10
    assert all(len(cell.tokens) == 1 for cell in layout.cells)
    for cell in layout.cells:
        rows = layout.lanes[cell.lane : cell.lane + cell.lanes]
        assert all(row.tokens[cell.depth] == cell.tokens[0] for row in rows)
    assert sum(cell.lanes for cell in layout.cells) == sum(len(row.tokens) for row in ROWS)


def test_folded_a_run_without_a_branch_is_one_cell() -> None:
    layout = lay_out_tree(ROWS)
    runs = sorted((cell.depth, len(cell.tokens), cell.lanes) for cell in layout.cells)
    assert runs == [(0, 2, 3), (0, 4, 1), (2, 2, 1), (2, 2, 2)]


def test_no_two_cells_overlap() -> None:
    for fold in (True, False):
        covered = set()
        for cell in lay_out_tree(ROWS, fold=fold).cells:
            for lane in range(cell.lane, cell.lane + cell.lanes):
                for depth in range(cell.depth, cell.depth + len(cell.tokens)):
                    assert (lane, depth) not in covered
                    covered.add((lane, depth))
        assert len(covered) == 16


def test_the_colour_of_a_run_is_the_geometric_mean() -> None:
    cell = next(c for c in lay_out_tree(ROWS).cells if c.depth == 0 and c.lanes == 1)
    assert cell.prob == pytest.approx((1 / 7 / 8 / 9 / 10) ** 0.25)


def test_a_row_that_ends_inside_another_keeps_a_lane() -> None:
    layout = lay_out_tree([row_of(1, 0, 1, 2), row_of(2, 0, 1), row_of(3, 0, 1, 2)])
    assert len(layout.lanes) == 3
    assert [(cell.depth, cell.lanes) for cell in layout.cells] == [(0, 3), (2, 2)]


def test_more_than_500_nodes_are_cut_at_a_step() -> None:
    rows = [row_of(seed, *(100 * seed + at for at in range(60))) for seed in range(12)]
    layout = lay_out_tree(rows, fold=False)
    assert len(layout.cells) <= MOST_NODES
    assert layout.steps == MOST_NODES // 12 and layout.all_steps == 60
    folded = lay_out_tree(rows)
    assert all(len(cell.tokens) == layout.steps for cell in folded.cells)


def test_nothing_gives_nothing() -> None:
    assert lay_out_tree([]).cells == ()
    assert lay_out_tree([row_of(1)]).cells == ()


def test_in_print_the_steps_stand_in_rows_with_every_token() -> None:
    grown = load_lab(LAB).continuations
    for fold in (False, True):
        whole = lab_tree(grown, fold=fold)
        column = lab_tree(grown, fold=fold, paper=printed("85mm"))
        steps = [int(note.text) for note in column.layout.annotations if note.name == "step"]
        first = [int(name) for name in column.layout.xaxis.ticktext]
        assert [*first, *steps] == list(range(1, 21)) and len(first) < 8
        cells, all_cells = (trace_named(figure, "tokens") for figure in (column, whole))
        upright = [note.text for note in column.layout.annotations if note.name == "upright"]
        assert list(cells.text).count("") == len(upright) and all(upright)
        assert max(map(sum, zip(cells.base, cells.x, strict=True))) <= column.layout.xaxis.range[1]
        area = [w * h for w, h in zip(cells.width, cells.x, strict=True)]
        assert sum(area) == sum(w * h for w, h in zip(all_cells.width, all_cells.x, strict=True))
