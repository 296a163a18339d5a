"""Reasoning in a browser: budgets, where it knew, sweeps, tools, export, links, files."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from core.evaluation.example import load_example
from tests.browser.reason_page import ReasonPage

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).parents[2] / "assets" / "traces" / "reasoning.json"
PROBLEMS = "question,answer\nWhat is 7 + 5?,12\nStart with 9. Add 4. What do you get?,13\n"


@pytest.fixture
def reason(page: Page, server: str) -> ReasonPage:
    return ReasonPage(page, server).open()


def test_the_example_is_a_real_run_leaves_and_curve_and_level_set_another_budget(
    reason: ReasonPage,
) -> None:
    example = load_example(EXAMPLE)
    thinking = "".join(reason.piece("thinking").all_text_contents())
    assert thinking == example.strip.points[-1].thinking
    expect(reason.verdict).to_contain_text(example.strip.problem.answer)
    bars = reason.figure_data("stops")["data"][0]
    assert bars["customdata"] == [[point.tokens] for point in example.strip.points]
    curve = next(t for t in reason.figure_data("accuracy")["data"] if t["name"] == "accuracy")
    rows = [row for row in example.sweep.rows if row.budget == curve["x"][-1]]
    assert curve["y"][-1] == sum(row.outcome == "correct" for row in rows) / len(rows)
    assert_the_strip_leaves_as_svg(reason)
    # A click on the curve sets the budget.
    reason.figure("accuracy").locator(".trace.scatter .points path").nth(1).click(force=True)
    expect(reason.page).to_have_url(re.compile(f"thinking={curve['x'][1]}"))
    expect(reason.page.locator(".st-key-thinking input")).to_have_value(str(curve["x"][1]))
    # A lower level closes the thinking by force.
    expect(reason.piece("forced")).to_have_count(1)
    reason.page.locator(".st-key-level").get_by_text("Low", exact=True).click()
    expect(reason.page).to_have_url(re.compile("thinking=32"))
    expect(reason.page.locator(".st-key-note-changed")).to_contain_text("Changed since this run")
    reason.run()
    expect(reason.piece("forced")).to_have_count(2)
    expect(reason.piece("forced").nth(1)).to_have_attribute("title", re.compile("budget is spent"))
    expect(reason.page.locator(".st-key-note-plain")).to_contain_text("32 of 32 thinking tokens")
    expect(reason.drawn("stops")).to_be_visible()
    assert reason.figure_data("stops")["data"][0]["customdata"][-1] == [32]
    assert reason.page.troubles == []  # type: ignore[attr-defined]


def test_an_own_question_s_link_runs_again_and_own_problems_are_swept(
    page: Page, server: str
) -> None:
    reason = ReasonPage(page, server).open(
        problem="My own", question="What is 7 + 5?", right="12", thinking=0
    )
    reason.run()
    expect(reason.piece("thinking")).to_have_count(0)
    found, address = reason.text.inner_text(), reason.page.url
    assert "run=1" in address
    reason.open_as_another(address)
    expect(reason.status).to_contain_text("Your run")
    expect(reason.text).to_have_text(found)
    # A file of own problems is swept to the end and saved.
    reason.page.get_by_role("button", name="My problems").click()
    upload = reason.page.locator(".st-key-problem_file input[type=file]")
    faulty = PROBLEMS.replace(",13", ",thirteen")
    upload.set_input_files({"name": "p.csv", "mimeType": "text/csv", "buffer": faulty.encode()})
    expect(reason.page.locator(".st-key-refused")).to_contain_text("Line 3")
    upload.set_input_files({"name": "q.csv", "mimeType": "text/csv", "buffer": PROBLEMS.encode()})
    expect(reason.page.get_by_text("2 problems: q.csv")).to_be_visible()
    reason.page.keyboard.press("Escape")
    reason.set_text("budgets", "0, 24")
    expect(reason.page).to_have_url(re.compile("budgets=0%2C"))
    reason.page.locator(".st-key-start_sweep button").click()
    expect(reason.sweep_words).to_contain_text("Your sweep · 2 problems: q.csv · 4 of 4 runs")
    with reason.page.expect_download() as waiting:
        reason.page.get_by_role("button", name=re.compile("All runs")).click()
    lines = Path(waiting.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 5 and "outcome" in lines[0]
    curve = next(t for t in reason.figure_data("accuracy")["data"] if t["name"] == "accuracy")
    assert curve["x"] == [0, 24]


def test_a_stopped_sweep_keeps_its_rows_and_goes_on(page: Page, server: str) -> None:
    budgets = ", ".join(map(str, range(0, 96, 8)))
    reason = ReasonPage(page, server).open(many_problems=500, budgets=budgets)
    reason.page.locator(".st-key-start_sweep button").click()
    # 6,000 runs: no machine ends them before it shows the first.
    expect(reason.page.locator(".st-key-sweep-state")).to_contain_text(
        re.compile(r"Running · [1-9]\d* of 6,000 runs")
    )
    reason.page.locator(".st-key-stop_sweep button").click()
    expect(reason.page.locator(".st-key-start_sweep button")).to_contain_text("Resume")
    expect(reason.sweep_words).to_contain_text("Your sweep, stopped")
    reason.set_text("budgets", "8")
    expect(reason.page.locator(".st-key-start_sweep button")).to_contain_text("Run sweep")
    assert reason.page.troubles == []  # type: ignore[attr-defined]


def test_the_calculator_s_result_is_marked_in_the_text(page: Page, server: str) -> None:
    reason = ReasonPage(page, server).open(reason_look="A calculator")
    without, with_tool = (page.locator(f".st-key-tool-{place}") for place in (0, 1))
    expect(with_tool.locator(".tokens .result").first).to_be_visible()
    expect(without.locator(".tokens .result")).to_have_count(0)
    page.locator(".st-key-problem").get_by_text("Hard sum", exact=True).click()
    expect(page).to_have_url(re.compile("problem=Hard"))
    page.locator(".st-key-run_tools button").click()
    expect(page).to_have_url(re.compile("tools=1"))
    expect(page.locator(".st-key-run_tools button")).to_contain_text("both ways")
    expect(with_tool.locator(".tokens .call").first).to_contain_text("<call>")
    assert reason.page.troubles == []  # type: ignore[attr-defined]


def test_the_problem_above_is_voted_on_and_the_other_looks_fit_a_phone(
    page: Page, server: str
) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    reason = ReasonPage(page, server).open(reason_look="Same bound, other ways", voters=2)
    rows = page.locator(".st-key-vote-rows")
    expect(rows).to_contain_text("of 8 samples")
    expect(page.locator(".st-key-run_vote button")).to_contain_text("Vote on this problem")
    page.locator(".st-key-run_vote button").click()
    expect(rows).to_contain_text("of 2 samples")
    for tab, shown in (
        ("What a level is", page.locator(".st-key-loop-bound")),
        ("Many problems", reason.drawn("difficulty")),
    ):
        page.get_by_role("tab", name=tab).click()
        expect(shown).to_be_visible()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    assert reason.page.troubles == []  # type: ignore[attr-defined]


def assert_the_strip_leaves_as_svg(reason: ReasonPage) -> None:
    reason.figure("stops").get_by_role("button", name=re.compile("Export")).click()
    with reason.page.expect_download() as waiting:
        reason.page.get_by_role("button", name="SVG", exact=True).click()
    texts = " ".join(ElementTree.parse(waiting.value.path()).getroot().itertext())
    assert "Where did it know?" in texts and "knew it from here" in texts.replace("\u00a0", " ")
    reason.page.keyboard.press("Escape")
