"""Between the pages: by the tabs, by the browser's Back, and by files."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from core.evaluation.example import load_example
from tests.browser.decode_page import DecodePage
from tests.browser.spec_page import SpecPage

pytestmark = pytest.mark.browser

TRACES = Path(__file__).parents[2] / "assets" / "traces"
ASKED = {"seed": "9", "spec_tokens": "12", "draft_length": "3", "run": "1"}


def told(page: Page) -> dict[str, str]:
    return {name: said[-1] for name, said in parse_qs(urlsplit(page.url).query).items()}


def go(page: Page, tab: str, path: str) -> None:
    page.get_by_role("link", name=tab).click()
    expect(page).to_have_url(re.compile(rf"/{path}(\?|$)"))


def test_back_and_the_tabs_bring_a_page_s_address_back(page: Page, server: str) -> None:
    missing: list[str] = []

    def on_response(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    page.on("response", on_response)
    spec = SpecPage(page, server).open(**ASKED, temperature="0.5")
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect(spec.tokens).to_have_count(12)
    page.remove_listener("response", on_response)
    # A page's own address is not where its server is looked for.
    assert missing == []
    text = spec.text()
    go(page, "Beam search", "beam")
    spec.set_number("beams", 3)
    expect(page).to_have_url(re.compile("beams=3"))
    expect(spec.drawn("beam-tree")).to_be_visible()
    assert told(page) == {"seed": "9", "beams": "3"}
    # Of a change and a turn to another page in one moment Streamlit takes the turn alone.
    expect(page.locator(".st-key-note-changed")).to_contain_text("Beams")
    page.go_back()
    expect(page).to_have_url(re.compile(r"/speculative\?.*temperature=0.5"))
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    assert told(page) == {**ASKED, "temperature": "0.5"}
    expect(page.locator(".st-key-draft_length input")).to_have_value("3")
    go(page, "Beam search", "beam")
    expect(page).to_have_url(re.compile("beams=3"))
    assert told(page) == {"seed": "9", "beams": "3"}
    go(page, "Speculative", "speculative")
    expect(page).to_have_url(re.compile("temperature=0.5"))
    assert told(page) == {**ASKED, "temperature": "0.5"}
    spec.open_as_another(page.url)
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect(spec.tokens).to_have_count(12)
    assert spec.text() == text
    # Back after a reload finds the run again.
    go(page, "Beam search", "beam")
    page.reload()
    expect(page.locator(".st-key-beam-text")).to_be_visible()
    page.go_back()
    expect(spec.status).to_contain_text("Your run · 12 tokens in")
    expect(spec.tokens).to_have_count(12)
    assert spec.text() == text
    assert told(page) == {**ASKED, "temperature": "0.5"}


def test_saved_runs_open_each_on_its_page_from_any_other(
    page: Page, server: str, tmp_path: Path
) -> None:
    thinking = tmp_path / "thinking.json"
    load_example(TRACES / "reasoning.json").run.save(thinking)
    app = DecodePage(page, server).open()
    for file, heading, words in (
        (TRACES / "beam.json", "Beam search", "From a file · 5 beams"),
        (
            TRACES / "speculative.json",
            "Speculative decoding",
            r"From a file · 48 tokens in \d+ rounds",
        ),
        (thinking, "Reasoning budget", "From a file"),
    ):
        app.open_trace(file)
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        expect(app.status).to_contain_text(re.compile(words))
        expect(page.get_by_role("button", name=re.compile("Consistent"))).to_be_visible()
    assert page.troubles == []  # type: ignore[attr-defined]


def test_a_link_and_its_address_tell_of_the_run_that_is_shown(page: Page, server: str) -> None:
    app = DecodePage(page, server).open(prompt="The king had a", seed="3", tokens="5", run="1")
    expect(app.status).to_contain_text("Your run")
    assert told(page) == {"prompt": "The king had a", "seed": "3", "tokens": "5", "run": "1"}
    # A prompt that was not run is no part of a link to a run.
    field = page.locator(".st-key-prompt textarea")
    field.fill("A list of colors: red,")
    field.press("Tab")
    expect(page.locator(".st-key-run-note-changed")).to_contain_text(
        "Changed since this run: Prompt"
    )
    expect(page).not_to_have_url(re.compile("run=1"))
    field.press("Control+Enter")
    expect(app.tokens.first).to_contain_text("blue")
    expect(page).to_have_url(re.compile("run=1"))
    # A browser that goes back drops what it doesn't show; the seed acts on every page.
    go(page, "Reasoning budget", "reasoning")
    page.go_back()
    expect(page).to_have_url(re.compile(r"/\?.*run=1"))
    go(page, "Speculative", "speculative")
    expect(page).to_have_url(re.compile("seed=3"))
    expect(page.locator(".st-key-seed input")).to_have_value("3")


def test_the_shortcut_runs_another_prompt_while_a_run_goes_on(page: Page, server: str) -> None:
    never_ends = "#0 = -100\n#4 = -100"
    app = DecodePage(page, server).open(cache="false", tokens="2000", bias=never_ends)
    app.run_button.click()
    expect(app.stop_button).to_be_visible()
    # A reload would run it again, though its tokens' ids aren't known yet.
    expect(page).to_have_url(re.compile("run=1"))
    app.set_number("tokens", 4)
    app.write_prompt("A list of colors: red,")
    expect(app.status).to_contain_text("Your run · 4 tokens")
    expect(page.locator(".st-key-strip .prompt")).to_contain_text("A list of")
