"""CSV that a spreadsheet may open: token text never becomes a formula."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pandas as pd
import pytest

from core.export.catalog import entries_of
from core.export.part import table_file
from core.export.table import csv_text
from core.figures import printed
from tests.figures.traces import make_trace


def cells(frame: pd.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_text(frame), newline="")))


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", "\rx"])
def test_text_that_begins_like_a_formula_gets_a_quote(text: str) -> None:
    assert cells(pd.DataFrame({"token": [text]}))[1][0] == f"'{text}"


def test_a_table_by_itself_says_what_made_it_with_the_whole_prompt() -> None:
    trace = replace(make_trace(3), prompt="=cmd, a long prompt " * 40)
    paper, entries = printed("85mm"), {entry.name: entry for entry in entries_of(trace)}
    part = entries["candidates"].part(0, paper)
    file = table_file(part, paper)
    plain, told = part.data(), pd.read_csv(io.BytesIO(file))
    assert list(told.columns) == [*plain.columns, "made_by"] and len(told) == len(plain)
    said = told["made_by"][0]
    assert said.startswith("Candidates at step 1 · ") and trace.prompt.strip() in said
    assert told["made_by"][1:].isna().all()


def test_numbers_stay_numbers() -> None:
    frame = pd.DataFrame({"logit": [-1.5], "step": [3], "token": ["a, b"], "none": [None]})
    assert cells(frame) == [["logit", "step", "token", "none"], ["-1.5", "3", "a, b", ""]]
