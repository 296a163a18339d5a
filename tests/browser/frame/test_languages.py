"""Pages in the reader's language, from the first paint on and after a change of language."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from core.language.catalogue import LANGUAGES
from pages.ui.platform import reader
from pages.ui.registry import DECODE, HOME, PAGES
from pages.ui.registry import Page as Row
from tests.browser.app_page import choose_language
from tests.browser.awaiting import stand_still
from tests.browser.frame.labels import faults
from tests.browser.frame.shown_texts import english, shown_texts

pytestmark = pytest.mark.browser
KANA = re.compile("[ぁ-ヿ]")
# How a browser that has never been here comes to its language: parameter of the address, options
# of the browser, whether a cookie is set.
WAYS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "address": ("?lang={}", {}, False),
    "browser": ("", {"locale": "{}"}, False),
    "cookie": ("", {}, True),
}
Fresh = Callable[..., Page]


@pytest.fixture
def fresh(profile: BrowserContext) -> Iterator[Fresh]:
    """Opens a tab of a browser without anything stored."""
    assert profile.browser
    with ExitStack() as opened:

        def open_tab(**options: Any) -> Page:
            context = profile.browser.new_context(
                reduced_motion="reduce", viewport={"width": 1280, "height": 720}, **options
            )
            opened.callback(context.close)
            return context.new_page()

        yield open_tab


def first_visit(fresh: Fresh, server: str, row: Row, language: str, way: str) -> Page:
    """Open a page as a reader of the language does for the first time."""
    query, options, remembers = WAYS[way]
    page = fresh(**{name: value.format(language) for name, value in options.items()})
    if remembers:
        page.context.add_cookies([{"name": reader.COOKIE, "value": language, "url": server}])
    page.goto(f"{server}/{row.path}{query.format(language)}")
    stand_still(page)
    return page


def rows(pages: tuple[Row, ...] = PAGES, often: tuple[str, ...] | None = None) -> list[Any]:
    """Pages as parameters; `make test` takes those named `often`, all when left out."""
    return [
        pytest.param(
            row, id=row.name, marks=() if often is None or row.name in often else pytest.mark.slow
        )
        for row in pages
    ]


def assert_speaks(page: Page, language: str) -> None:
    # Streamlit's own words are translated after it has drawn them: on a slow machine, seconds.
    left = remaining(lambda: english(page, language))
    assert page.evaluate("document.documentElement.lang") == language
    assert left == [], page.evaluate("document.visibilityState")


def remaining(look: Callable[[], list[Any]]) -> list[Any]:
    """Return the faults that a look finds after 5 seconds, or once it finds none."""
    for _ in range(20):
        if not look():
            break
        time.sleep(0.25)
    return look()


def japanese(page: Page) -> list[str]:
    return [text for _, text in shown_texts(page) if KANA.search(text)]


@pytest.mark.parametrize("row", rows(often=("home", "decode", "speculative", "requests")))
def test_a_page_is_japanese_at_the_first_visit_and_its_labels_fit(
    fresh: Fresh, server: str, row: Row
) -> None:
    page = first_visit(fresh, server, row, "ja", "address")
    assert_speaks(page, "ja")
    assert faults(page) == []


@pytest.mark.parametrize(("language", "way"), [("ja", "browser"), ("ko", "cookie")])
def test_the_browser_s_language_and_an_earlier_choice_count_at_the_first_paint(
    fresh: Fresh, server: str, language: str, way: str
) -> None:
    assert_speaks(first_visit(fresh, server, DECODE, language, way), language)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", rows())
def test_no_english_word_is_on_a_page_however_its_language_is_known(
    fresh: Fresh, server: str, row: Row, way: str
) -> None:
    assert_speaks(first_visit(fresh, server, row, "ko", way), "ko")
    if way != "address":
        assert_speaks(first_visit(fresh, server, row, "ja", way), "ja")


def choose(page: Page, language: str) -> None:
    choose_language(page, LANGUAGES[language])
    page.wait_for_function("tag => document.documentElement.lang === tag", arg=language)
    stand_still(page)


@pytest.mark.parametrize("row", rows((HOME, DECODE), ("decode",)))
def test_what_is_mounted_follows_the_menu_of_languages(fresh: Fresh, server: str, row: Row) -> None:
    change_languages(fresh, server, row)


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(tuple(row for row in PAGES if row not in (HOME, DECODE))))
def test_what_is_mounted_on_any_page_follows_the_menu_of_languages(
    fresh: Fresh, server: str, row: Row
) -> None:
    change_languages(fresh, server, row)


def change_languages(fresh: Fresh, server: str, row: Row) -> None:
    """English, Japanese, Korean, and English again: nothing keeps a word of the one before."""
    page = first_visit(fresh, server, row, "en", "address")
    first = shown_texts(page)
    choose(page, "ja")
    assert_speaks(page, "ja")
    choose(page, "ko")
    assert_speaks(page, "ko")
    assert remaining(lambda: japanese(page)) == []
    choose(page, "en")
    # What says how long something took may differ.
    assert remaining(lambda: japanese(page)) == []
    assert {part for part, _ in first} <= {part for part, _ in shown_texts(page)}
