"""The Sampling lab in a real browser: first paint, knobs, dice, orders, continuations, links."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.decode_page import DecodePage
from tests.browser.sampling_page import CHARTS, PATIENCE_MS, SamplingPage

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).parents[2] / "assets" / "traces" / "lab.json"

HOSTILE = '<img src=x onerror="window.__hit=1"><script>window.__hit=2</script> **b** $x$'


@pytest.fixture
def lab(page: Page, server: str) -> SamplingPage:
    return SamplingPage(page, server)


def test_the_example_is_there_at_first_and_follows_its_knobs(lab: SamplingPage) -> None:
    lab.open()
    for name in CHARTS:
        expect(lab.drawn(name)).to_be_visible(timeout=PATIENCE_MS)
    expect(lab.outcome).to_contain_text(re.compile(r"Throw \d+, the number 0\.\d{4}, draws "))
    expect(lab.page.get_by_role("link", name="Decode")).to_be_visible()
    assert lab.page.troubles == []  # type: ignore[attr-defined]
    # A slider redraws from the stored logits.
    text = lab.text_before.inner_text()
    expect(lab.drawn("rolls")).to_be_visible(timeout=PATIENCE_MS)
    flips = lab.figure("flips").locator(".js-plotly-plot").element_handle()
    lab.page.get_by_role("slider", name="Temperature").press("ArrowRight")
    lab.wait_for_caption("stages", "temperature 0.85")
    kept = "part => part.isConnected || part.ownerDocument.querySelector("
    kept += "'.st-key-figure-flips .js-plotly-plot')?.layout.words.caption.includes('ure 0.85')"
    assert flips.evaluate(kept), "drawn anew though nothing had changed"
    lab.wait_for_caption("flips", "temperature 0.85")
    lab.wait_for_caption("rolls", "temperature 0.85")
    expect(lab.page).to_have_url(re.compile("temperature=0.85"))
    assert lab.text_before.inner_text() == text
    expect(lab.page.locator(".st-key-measured-flips .de-before")).to_have_count(0)
    # A key held down ends where it leads.
    expect(lab.drawn("rolls")).to_be_visible(timeout=PATIENCE_MS)
    lab.page.get_by_role("slider", name="Temperature").focus()
    for _ in range(15):
        lab.page.keyboard.press("ArrowRight", delay=20)
    for name in CHARTS:
        lab.wait_for_caption(name, "temperature 1.6 ")
    expect(lab.page.locator(".st-key-temperature input")).to_have_value("1.60")
    expect(lab.page.get_by_role("slider", name="Temperature")).to_have_value("1.6")
    expect(lab.page).to_have_url(re.compile("temperature=1.6"))
    expect(lab.page.get_by_role("dialog")).to_have_count(0)
    # Two values typed at once are both in the address.
    lab.set_number("temperature", 1.2)
    lab.set_number("epsilon", 0.003)
    lab.wait_for_caption("rolls", "top-p 0.95 · epsilon cutoff 0.003")
    expect(lab.page).to_have_url(re.compile("epsilon=0.003"))
    expect(lab.page).to_have_url(re.compile("temperature=1.2"))
    # A rare knob has its stage.
    lab.set_number("typical_p", 0.5)
    lab.wait_for_caption("stages", "typical-p 0.5")
    lab.set_number("epsilon", 0.004)
    lab.wait_for_caption("stages", "epsilon cutoff 0.004")
    heads = [a["text"] for a in lab.figure_data("stages")["layout"]["annotations"]]
    assert any("typical-p" in head for head in heads if head)


def mark_of(lab: SamplingPage) -> float:
    shapes = lab.figure_data("draw")["layout"]["shapes"]
    return float(next(shape["x0"] for shape in shapes if shape["name"] == "uniform"))


def test_the_dice_stay_while_a_knob_moves_and_are_thrown_anew_by_a_press(lab: SamplingPage) -> None:
    lab.open()
    number = mark_of(lab)
    pieces = lab.figure_data("flips")["data"]
    assert [piece["name"] for piece in pieces][:2] == ["temperature", "top_n_sigma"]
    lab.set_number("top_k", 1)
    lab.wait_for_caption("draw", "top-k 1")
    assert mark_of(lab) == number
    top = lab.figure_data("stages")["layout"]["words"]["alt"]
    assert "rank 1," in top
    expect(lab.outcome).to_contain_text("flipped by the last change: it was")
    # Roll again throws other dice, and the number moves.
    # At rest: a click while the page is drawn anew may meet a button that is about to go.
    lab.wait_for_caption("rolls", "top-k 1")
    before = lab.outcome.inner_text()
    lab.page.get_by_role("button", name="Roll again").click()
    expect(lab.outcome).to_contain_text("Throw")
    expect(lab.outcome).not_to_have_text(before)
    expect(lab.page).to_have_url(re.compile("roll=1"))
    expect(lab.page.locator(".st-key-roll input")).to_have_value("1")
    lab.page.wait_for_function(
        "number => document.querySelector('.st-key-figure-draw .js-plotly-plot')"
        "?.layout?.shapes?.some(shape => shape.name === 'uniform' && shape.x0 !== number)",
        arg=number,
    )
    # Gumbel and multinomial show their noise.
    lab.choose("Gumbel")
    lab.wait_for_caption("draw", "draw gumbel")
    assert {"ln p", "noise"} <= {drawn["name"] for drawn in lab.figure_data("draw")["data"]}
    lab.choose("Multinomial")
    lab.wait_for_caption("draw", "draw multinomial")
    assert "quotient" in {drawn["name"] for drawn in lab.figure_data("draw")["data"]}
    expect(lab.page).to_have_url(re.compile("dice=Multinomial"))
    assert_tabs_files_and_another_theme(lab)


def test_continuations_are_drawn_as_a_tree_and_markup_stays_text(lab: SamplingPage) -> None:
    lab.open(at="The prompt's next token", prompt=HOSTILE, lab_look="Continuations",
             ways=3, length=8)  # fmt: skip
    expect(lab.text_before).to_have_text(HOSTILE, timeout=PATIENCE_MS)
    lab.wait_for_caption("stages", "throw 1")
    lab.page.get_by_role("button", name="Continue", exact=True).click()
    lab.wait_for_caption("tree", "8 tokens at most · seeds 16 to 18")
    expect(lab.page.get_by_test_id("stDataFrame")).to_be_visible()
    folded = len(lab.figure_data("tree")["data"][1]["x"])
    lab.page.get_by_text("Fold what doesn't branch").click()
    lab.page.wait_for_function(
        "count => document.querySelector('.st-key-figure-tree .js-plotly-plot')"
        "?.data?.[1]?.x?.length > count",
        arg=folded,
    )
    expect(lab.page).to_have_url(re.compile("grow=1"))
    # The prompt's markup is text.
    expect(lab.drawn("tree")).to_be_visible(timeout=PATIENCE_MS)
    assert lab.page.evaluate("window.__hit") is None
    assert lab.page.locator("img[src='x']").count() == 0
    assert lab.page.troubles == []  # type: ignore[attr-defined]


def test_continuations_stop_at_the_next_token(lab: SamplingPage) -> None:
    prompt = "once upon a time " * 235
    lab.open(at="The prompt's next token", prompt=prompt, temperature=10, top_p=1.0,
             lab_look="Continuations", ways=12, length=40)  # fmt: skip
    lab.wait_for_caption("stages", "temperature 10")
    lab.wait_for_caption("flips", "temperature 10")
    lab.page.get_by_role("button", name="Continue", exact=True).click()
    stop = lab.page.locator(".st-key-stop_grow button")
    expect(stop).to_be_visible()
    stop.click()
    expect(lab.page.locator(".st-key-start_grow button")).to_be_visible(timeout=PATIENCE_MS)
    expect(stop).to_have_count(0)


def assert_tabs_files_and_another_theme(lab: SamplingPage) -> None:
    lab.page.get_by_role("tab", name="Temperature").click()
    expect(lab.drawn("sweep")).to_be_visible(timeout=PATIENCE_MS)
    lab.page.get_by_role("tab", name="What logprobs mean").click()
    expect(lab.page.get_by_text("logprobs_mode=raw_logprobs")).to_be_visible()
    assert lab.page.locator(".st-key-api-table a").count() >= 7
    # A figure leaves with its numbers.
    expect(lab.drawn("flips")).to_be_visible(timeout=PATIENCE_MS)
    lab.figure("flips").get_by_role("button", name=re.compile("Export")).click()
    rows = download(lab, "CSV").decode("utf-8-sig").splitlines()
    assert rows[0].startswith('"knob"') and len(rows) > 8
    lab.page.keyboard.press("Escape")
    # Another theme draws the figures anew.
    lab.page.get_by_role("tab", name="1,000 rolls").click()
    for name in CHARTS:
        assert lab.figure_data(name)["layout"]["paper_bgcolor"] == "#ffffff"
    lab.page.get_by_test_id("stMainMenuButton").click()
    lab.page.get_by_role("menuitemradio", name="Dark").click()
    for name in CHARTS:
        lab.page.wait_for_function(
            "name => document.querySelector(`.st-key-figure-${name} .js-plotly-plot`)"
            "?.layout?.paper_bgcolor === '#12161b'",
            arg=name,
        )


def download(lab: SamplingPage, button: str) -> bytes:
    with lab.page.expect_download(timeout=120_000) as waiting:
        lab.page.get_by_role("button", name=button, exact=True).click()
    return Path(waiting.value.path()).read_bytes()


def test_an_order_is_chosen_and_the_address_and_a_file_restore_the_page(
    lab: SamplingPage, tmp_path: Path
) -> None:
    lab.open(temperature=1.8)
    lab.wait_for_caption("stages", "temperature 1.8")
    names = [drawn["name"] for drawn in lab.figure_data("stages")["data"]]
    assert names.index("temperature") < names.index("top_p")
    lab.choose("llama.cpp")
    lab.wait_for_caption("stages", "order of llama.cpp")
    names = [drawn["name"] for drawn in lab.figure_data("stages")["data"]]
    assert names.index("top_p") < names.index("temperature")
    expect(lab.page.get_by_text("common_params_sampling::samplers")).to_be_visible()
    # The address restores the page.
    lab.set_number("temperature", 1.1)
    lab.wait_for_caption("stages", "temperature 1.1")
    lab.choose("vLLM")
    lab.wait_for_caption("stages", "order of vLLM")
    throw = int(re.findall(r"Throw (\d+)", lab.outcome.inner_text())[0])
    lab.set_number("roll", 2)
    expect(lab.page).to_have_url(re.compile("roll=2"))
    lab.wait_for_caption("flips", f"throw {throw + 2} · order of vLLM")
    expect(lab.outcome).to_contain_text(f"Throw {throw + 2},")
    expect(lab.page.locator(".st-key-measured-flips .de-before")).to_have_count(0)
    text, words, caption = (
        lab.text_before.inner_text(),
        lab.outcome.inner_text(),
        lab.caption("draw"),
    )
    lab.open_as_another(lab.page.url)
    lab.expect_open()
    lab.wait_for_caption("stages", "order of vLLM")
    expect(lab.outcome).to_have_text(words.split(" · flipped")[0])
    assert lab.text_before.inner_text() == text
    assert lab.caption("draw") == caption
    # A saved step opens from the Decode page, and is proved.
    lab.wait_for_caption("flips", "order of vLLM")
    expect(lab.page.locator(".st-key-measured-flips .de-before")).to_have_count(0)
    lab.page.get_by_role("button", name="Save").click()
    page = download(lab, "Web page (HTML)").decode()
    assert page.count("<figure") >= 4 and "order of vLLM" in page
    file = tmp_path / "step.json"
    file.write_bytes(download(lab, "Trace file (JSON)"))
    words = lab.outcome.inner_text()
    lab.open_as_another(lab.server)
    lab.open_trace(file)
    lab.expect_open()
    expect(lab.outcome).to_contain_text("From a file: the model gives the same numbers")
    expect(lab.outcome).to_contain_text(words.split(" · flipped")[0])
    lab.wait_for_caption("flips", "order of vLLM")
    expect(lab.page.locator(".st-key-measured-flips .de-before")).to_have_count(0)
    expect(lab.page).to_have_url(re.compile("ids="))


def test_the_model_of_a_file_is_loaded_when_it_is_asked_for(
    lab: SamplingPage, tmp_path: Path
) -> None:
    stored = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    model = tmp_path / "model"
    shutil.copytree(EXAMPLE.parents[1] / "models" / "target", model)
    stored["step"]["trace"] |= {"model_id": str(model), "model_revision": ""}
    file = tmp_path / "step.json"
    file.write_text(json.dumps(stored), encoding="utf-8")
    lab.open()
    lab.open_trace(file)
    expect(lab.outcome).to_contain_text("not proved without its model")
    slider = lab.page.get_by_role("slider", name="Temperature")
    slider.press("ArrowRight")
    expect(lab.outcome).to_have_count(0)
    slider.press("ArrowLeft")
    expect(lab.outcome).to_contain_text("not proved without its model")
    lab.page.get_by_role("button", name="Load the model").click()
    expect(lab.outcome).to_contain_text("the model gives the same numbers")


def test_a_step_of_the_run_is_brought_over_and_linked(lab: SamplingPage) -> None:
    decode = DecodePage(lab.page, lab.server).open(tokens=12, seed=5)
    decode.run()
    decode.tokens.nth(4).click()
    decode.expect_step(4)
    # The step is drawn before the server knows of it; then the address has it.
    expect(lab.page).to_have_url(re.compile("step=4"))
    lab.page.get_by_role("link", name="Sampling lab").click()
    lab.expect_open()
    expect(lab.page.get_by_role("button", name=re.compile("Step 5 of 12"))).to_be_visible()
    lab.wait_for_caption("stages", "throw 5")
    expect(lab.outcome).to_contain_text("Throw 5,")
    expect(lab.page).to_have_url(re.compile("ids="))
    text, words = lab.text_before.inner_text(), lab.outcome.inner_text()
    lab.open_as_another(lab.page.url)
    lab.wait_for_caption("stages", "throw 5")
    assert lab.text_before.inner_text() == text
    assert lab.outcome.inner_text() == words
    # The knobs are the same on both pages.
    lab.set_number("temperature", 1.35)
    lab.wait_for_caption("stages", "temperature 1.35")
    lab.page.get_by_role("link", name="Decode").click()
    expect(lab.page.locator(".st-key-temperature input")).to_have_value("1.35")
    lab.page.get_by_role("link", name="Sampling lab").click()
    expect(lab.page.locator(".st-key-temperature input")).to_have_value("1.35")


def test_what_goes_wrong_has_a_sentence(lab: SamplingPage) -> None:
    lab.open(at="The prompt's next token", prompt="once upon a time " * 400)
    expect(lab.failure).to_contain_text(re.compile(r"context window holds \d+"))
    lab.page.locator(".st-key-prompt textarea").fill(" ")
    lab.page.locator(".st-key-prompt textarea").press("Control+Enter")
    expect(lab.failure).to_contain_text("The prompt is empty")


def test_a_link_does_not_load_a_stranger_s_model(lab: SamplingPage) -> None:
    lab.open(at="The prompt's next token", model="/no/such/folder")
    load = lab.page.get_by_role("button", name="Load the model")
    expect(load).to_be_visible()
    load.click()
    expect(lab.failure).to_contain_text("/no/such/folder")
