"""The static site of the stored examples, opened from its files without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.ui.gallery.site import INDEX, write_site
from pages.ui.registry import PAGES

pytestmark = pytest.mark.browser


def test_each_stored_example_opens_from_the_index_without_a_network(
    page: Page, tmp_path: Path
) -> None:
    written = write_site(tmp_path / "site")
    assert sum(path.stat().st_size for path in written) < 15e6
    page.context.set_offline(True)
    try:
        page.goto((tmp_path / "site" / INDEX).as_uri())
        cards = page.locator(".cards a")
        titles = cards.locator("h2").all_inner_texts()
        without = ("Course", "Class", "Inside", "Requests")
        assert titles == [row.title for row in PAGES if row.title not in without]
        assert page.evaluate("[...document.images].every((image) => image.naturalWidth > 0)")
        for at in range(len(titles)):
            cards.nth(at).click()
            expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
            page.get_by_role("link", name="Gallery").click()
    finally:
        page.context.set_offline(False)
