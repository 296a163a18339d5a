"""CSV that a spreadsheet may open: token text never becomes a formula."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pandas as pd

from core.export.catalog import entries_of
from core.export.part import table_file
from core.export.table import csv_text
from core.figures import printed
from tests.figures.traces import make_trace


def test_text_that_begins_like_a_formula_gets_a_quote_and_numbers_stay_numbers() -> None:
    tokens = ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", "\rx", "a, b"]
    frame = pd.DataFrame({"token": tokens, "logit": -1.5, "step": 3, "none": None})
    head, *rows = csv.reader(io.StringIO(csv_text(frame), newline=""))
    assert head == ["token", "logit", "step", "none"]
    quoted = [f"'{text}" for text in tokens[:-1]]
    assert rows == [[text, "-1.5", "3", ""] for text in (*quoted, "a, b")]


def test_a_table_by_itself_says_what_made_it_with_the_whole_prompt() -> None:
    trace, paper = replace(make_trace(3), prompt="=cmd, a long prompt " * 40), printed("85mm")
    part = {entry.name: entry for entry in entries_of(trace)}["candidates"].part(0, paper)
    plain, saved = part.data(), pd.read_csv(io.BytesIO(table_file(part, paper)))
    assert list(saved.columns) == [*plain.columns, "made_by"] and len(saved) == len(plain)
    made_by = saved["made_by"][0]
    assert made_by.startswith("Candidates at step 1 · ") and trace.prompt.strip() in made_by
    assert saved["made_by"][1:].isna().all()
