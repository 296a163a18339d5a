"""Selectors that a browser would ask of every element at every change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHEETS = sorted([*ROOT.glob("assets/css/*.css"), *ROOT.glob("pages/**/*.css")])


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_what_depends_on_the_whole_page_is_named_by_a_class(sheet: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
    for selector in re.findall(r"([^{}]*\.stApp:has\([^{}]*)\{", text):
        for one in selector.split(","):
            subject = one.split()[-1]
            assert re.fullmatch(r"\.[\w-]+", subject), f"{one.strip()} ends in {subject}"


def test_a_selector_of_another_kind_would_be_found(tmp_path: Path) -> None:
    sheet = tmp_path / "bad.css"
    sheet.write_text('.stApp:has(.st-key-side) [data-testid="stMain"] { margin: 0; }')
    with pytest.raises(AssertionError, match="ends in"):
        test_what_depends_on_the_whole_page_is_named_by_a_class(sheet)
