"""The page of samplers: written from the declarations, without an unexplained hole."""

from __future__ import annotations

from pathlib import Path

from core.decoding.shaping.config import LISTED, SETTINGS, TABLED
from core.decoding.shaping.library_table import document, library_table
from core.decoding.shaping.orders import ORDERS

ROOT = Path(__file__).parents[4]


def test_the_page_is_what_the_declarations_give() -> None:
    """`python -m core.decoding.shaping.library_table > docs/samplers.md` writes it."""
    assert (ROOT / "docs" / "samplers.md").read_text(encoding="utf-8") == document()


def test_every_sampler_has_a_source_and_every_hole_a_reason() -> None:
    head, *rows = library_table()
    assert head[1:-1] == [order.label for order in ORDERS.values()]
    assert len(rows) == len(TABLED)
    for name, (_, *places, why) in zip(TABLED, rows, strict=True):
        assert SETTINGS[name].source, name
        assert ("–" in places) == bool(why), name
    assert all(order.otherwise and order.source for order in ORDERS.values())


def test_the_documents_count_the_samplers() -> None:
    for path in ("README.md", "docs/pages.md"):
        assert f"{len(LISTED)} samplers" in (ROOT / path).read_text(encoding="utf-8")
