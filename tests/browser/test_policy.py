"""The content security policy on every page: what it forbids fails the test (see `page`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.ui.registry import PAGES

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("path", [row.path for row in PAGES])
def test_figures_components_export_and_print_work_under_the_policy(
    page: Page, server: str, path: str, tmp_path: Path
) -> None:
    answer = page.goto(f"{server}/{path}")
    assert answer is not None and "content-security-policy" in answer.headers
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.pdf(path=tmp_path / "printed.pdf")
    assert (tmp_path / "printed.pdf").stat().st_size > 10_000
    page.get_by_role("button", name="Export").first.click()
    with page.expect_download(timeout=120_000) as waiting:
        page.get_by_role("button", name="SVG", exact=True).click()
    assert Path(waiting.value.path()).stat().st_size > 1000


def test_a_script_of_a_stranger_is_not_run(page: Page, server: str) -> None:
    """What would follow from markup that got through: the policy holds it back."""
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
