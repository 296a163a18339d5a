"""Pages in other languages: the reader's, by the address, the menu or the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.language import catalogue
from pages.ui.platform import reader
from tests.language.pseudo import OPEN, use_pseudo
from tests.ui.conftest import open_page

# Pages whose rooms are converted, by their scripts.
CONVERTED = (
    *("home.py", "course.py", "classroom.py", "decode.py", "diffusion.py", "inside.py"),
    *("speculative.py", "beam.py", "reasoning.py", "sampling.py"),
)
# A sentence in English: three words, not a list of names.
_SENTENCE = re.compile(r"[A-Za-z]{3,}[;:]? [a-z]{2,}[,;:]? [a-z]{2,}")
# Texts of models and people, names, and quotations: no page translates these.
_ALLOWED = re.compile(
    r"Decoding Explorer|Once upon a time|embedded:\w+|smollm2|Hugging Face"
    r"|universal assisted generation"
    r"|(un)?processed prediction scores|log probabilities of the output tokens"
)


def shown(app: AppTest) -> Iterator[str]:
    """Yield the texts that the app itself writes on a page."""
    for kind in ("title", "header", "subheader", "markdown", "caption", "text"):
        yield from (element.value for element in app.get(kind))
    for kind in ("button", "selectbox", "text_area", "number_input", "toggle", "expander"):
        yield from (getattr(element, "label", "") for element in app.get(kind))
    for kind in ("button", "selectbox", "text_area", "number_input", "toggle"):
        yield from (getattr(element, "help", "") or "" for element in app.get(kind))
    for element in app.get("bidi_component"):
        data = json.loads(element.proto.json or "{}")
        if "columns" in data:
            yield from (label for column in data["columns"] for label in column)


@pytest.mark.parametrize("script", CONVERTED)
@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_converted_page_has_no_english_sentence(script: str, language: str) -> None:
    app = open_page(script, {}, lang=language)
    english = [text for text in shown(app) if _SENTENCE.search(_ALLOWED.sub("", text))]
    assert english == []


@pytest.mark.parametrize("script", CONVERTED)
def test_every_text_of_a_converted_page_is_marked(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_pseudo(monkeypatch)
    texts = list(shown(open_page(script, {}, lang="ja")))
    assert len(texts) > 10
    bare = [text for text in texts if OPEN not in text and _SENTENCE.search(_ALLOWED.sub("", text))]
    assert bare == []


def test_a_page_without_a_language_follows_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.session, "browser_locale", lambda: "ja-JP")
    assert open_page("course.py", {}).title[0].value == "コース"
    monkeypatch.setattr(reader.session, "browser_locale", lambda: "fr")
    assert open_page("course.py", {}).title[0].value == "Course"


def test_the_menu_changes_the_language_and_keeps_the_controls() -> None:
    app = open_page("home.py", {}, lang="ja")
    app.text_area(key="prompt").set_value("A new beginning").run()
    app.selectbox(key="language-menu").select("en").run()
    assert app.title[0].value == "See how a language model chooses its words"
    assert app.text_area(key="prompt").value == "A new beginning"
    assert "lang" not in app.query_params


def test_a_session_speaks_its_own_language() -> None:
    assert open_page("course.py", {}, lang="ko").title[0].value == "코스"
    assert open_page("course.py", {}).title[0].value == "Course"
    assert catalogue.current() == "en"


def test_the_language_of_an_earlier_visit_counts_until_another_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(type(st.context), "cookies", {reader.COOKIE: "ko"})
    assert open_page("course.py", {}).title[0].value == "코스"
    assert open_page("course.py", {}, lang="ja").title[0].value == "コース"
    monkeypatch.setattr(type(st.context), "cookies", {reader.COOKIE: "<script>"})
    app = open_page("course.py", {})
    assert app.title[0].value == "Course"
    app.selectbox(key="language-menu").select("ja").run()
    assert app.title[0].value == "コース"
