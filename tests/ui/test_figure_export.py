"""CSV that a spreadsheet may open: token text never becomes a formula."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from core.export.table import csv_text


def cells(frame: pd.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_text(frame), newline="")))


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", "\rx"])
def test_text_that_begins_like_a_formula_gets_a_quote(text: str) -> None:
    assert cells(pd.DataFrame({"token": [text]}))[1][0] == f"'{text}"


def test_numbers_stay_numbers() -> None:
    frame = pd.DataFrame({"logit": [-1.5], "step": [3], "token": ["a, b"], "none": [None]})
    assert cells(frame) == [["logit", "step", "token", "none"], ["-1.5", "3", "a, b", ""]]
