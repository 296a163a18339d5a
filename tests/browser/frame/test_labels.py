"""No label is cut, wrapped in its button, or over another: in each language, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize

from pages.ui.registry import PAGES
from pages.ui.registry import Page as Row
from tests.app_server import running_app
from tests.browser.awaiting import stand_still
from tests.browser.frame.labels import faults

# `test_languages.py` looks at the labels of each page in Japanese in the ordinary run.
pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDE: ViewportSize = {"width": 1280, "height": 720}
NARROW: ViewportSize = {"width": 400, "height": 800}
SCREENS = [pytest.param(WIDE, id="1280"), pytest.param(NARROW, id="400")]
AS_PSEUDO = ("-m", "tests.language.pseudo_app")


def rows() -> list[Any]:
    return [pytest.param(row, id=row.name) for row in PAGES]


@pytest.fixture(scope="module")
def pseudo_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app with each text a third longer than in English."""
    with running_app(tmp_path_factory.mktemp("pseudo") / "log.txt", start=AS_PSEUDO) as url:
        yield url


def faults_at(page: Page, url: str, size: ViewportSize) -> list[str]:
    page.set_viewport_size(size)
    page.goto(url)
    stand_still(page)
    return faults(page)


@pytest.mark.parametrize("size", SCREENS)
@pytest.mark.parametrize("language", ["en", "ja", "ko"])
@pytest.mark.parametrize("row", rows())
def test_labels_fit_in_every_language_at_both_widths(
    page: Page, server: str, row: Row, language: str, size: ViewportSize
) -> None:
    assert faults_at(page, f"{server}/{row.path}?lang={language}", size) == []


@pytest.mark.parametrize("size", SCREENS)
@pytest.mark.parametrize("row", rows())
def test_longer_texts_break_no_layout(
    page: Page, pseudo_server: str, row: Row, size: ViewportSize
) -> None:
    assert faults_at(page, f"{pseudo_server}/{row.path}?lang=ja", size) == []
