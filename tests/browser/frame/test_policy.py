"""The content security policy on every page: what it forbids fails the test (see `page`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from pages.ui.registry import HOME, PAGES
from tests.browser.app_page import AppPage

pytestmark = pytest.mark.browser


def test_figures_components_export_and_print_work_under_the_policy(
    page: Page, server: str, tmp_path: Path
) -> None:
    page.goto(server)
    for row in PAGES:
        with urlopen(f"{server}/{row.path}") as answer:
            assert "content-security-policy" in answer.headers
        if row.section:
            page.get_by_role("button", name=row.section).click()
        kind: Literal["menuitem", "link"] = "menuitem" if row.section else "link"
        page.get_by_role(kind, name=row.title, exact=True).first.click()
        expect(page).to_have_url(re.compile(f"{server}/{row.path}([?].*)?$"))
        heading = "language model" if row is HOME else row.title
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        if row.path != "course":
            expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.get_by_role("button", name="Export").first.click()
    assert len(AppPage(page, server).download("SVG")[1]) > 1000
    page.pdf(path=tmp_path / "printed.pdf")
    assert (tmp_path / "printed.pdf").stat().st_size > 10_000


def test_a_script_of_a_stranger_is_not_run(page: Page, server: str) -> None:
    """The content security policy blocks scripts even if injected markup reaches the page."""
    page.goto(f"{server}/_stcore/health")
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "document.title = 'hit'";
        document.head.append(script);
        const image = new Image();
        image.src = "http://127.0.0.1:9/leak.png";
        document.body.append(image);
    }""")
    assert page.title() != "hit"
    page.forbidden.clear()  # type: ignore[attr-defined]
