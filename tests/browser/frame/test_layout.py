"""Knob and effect on one screen, at three sizes, and a page that stays where it is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.app_page import AppPage
from tests.browser.decode_page import DecodePage
from tests.browser.sampling_page import SamplingPage
from tests.depth import slow

pytestmark = pytest.mark.browser

DESKTOP: ViewportSize = {"width": 1280, "height": 720}
NARROW: ViewportSize = {"width": 720, "height": 900}
PHONE: ViewportSize = {"width": 400, "height": 800}
# A page is opened on a desk, and narrowed there, or on a phone.
SCREENS = pytest.mark.parametrize("sizes", [[DESKTOP, NARROW], [PHONE]], ids=["desk", "phone"])
# Below the navigation.
TOP = 55

# How far parts of the page moved on the screen, at most, while it is watched.
WATCH = """(selectors) => {
  const top = (one) => document.querySelector(one)?.getBoundingClientRect().top
  const tops = () => selectors.map(top)
  const first = tops()
  window.moved = 0
  const look = () => {
    tops().forEach((now, at) => {
      if (now !== undefined) moved = Math.max(moved, Math.abs(now - first[at]))
    })
    window.watching = requestAnimationFrame(look)
  }
  look()
}"""


# Lines of figures that go on beyond their figure's edge.
CUT = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => {
  const edge = plot.getBoundingClientRect().right + 1
  const lines = [...plot.querySelectorAll('.annotation text, .gtitle')]
  const cut = lines.filter((line) => line.getBoundingClientRect().right > edge)
  return cut.map((line) => line.textContent)
})"""


def moved(page: Page) -> float:
    """Pixels, since `WATCH` began."""
    return float(page.evaluate("() => { cancelAnimationFrame(watching); return moved }"))


def box(part: Locator) -> dict[str, float]:
    bounds = part.bounding_box()
    assert bounds
    return dict(bounds)


def is_in_sight(app: AppPage, part: Locator) -> bool:
    """Return whether the whole part is inside the window, below the navigation."""
    size, bounds = app.page.viewport_size, box(part)
    assert size
    return (
        bounds["y"] >= TOP
        and bounds["y"] + bounds["height"] <= size["height"] + 1
        and bounds["x"] >= 0
        and bounds["x"] + bounds["width"] <= size["width"]
    )


def knob(app: AppPage, name: str = "Temperature") -> Locator:
    return app.page.get_by_role("slider", name=name)


def move_knob(app: AppPage, figure: str, moves: int) -> None:
    """Move the temperature, so often now from its 0.8, and wait until the figure shows it."""
    knob(app).press("ArrowRight")
    app.wait_for_caption(figure, f"temperature {0.8 + 0.05 * moves:.3g}")


def scroll_to(app: AppPage, part: Locator, top: float) -> None:
    """Bring the upper edge of a part to so many pixels below that of the window."""
    by = box(part)["y"] - top
    app.page.get_by_test_id("stMain").evaluate("(main, by) => main.scrollBy(0, by)", by)


@SCREENS
def test_a_knob_of_decode_and_the_step_that_it_reshapes_are_in_sight(
    page: Page, server: str, sizes: list[ViewportSize]
) -> None:
    page.set_viewport_size(sizes[0])
    decode = DecodePage(page, server).open()
    expect(decode.drawn("candidates")).to_be_visible()
    if sizes[0] == DESKTOP:
        likeliest = decode.figure("candidates").locator(".bars .point path").first
        assert is_in_sight(decode, knob(decode)) and is_in_sight(decode, likeliest)
        assert is_in_sight(decode, page.locator(".st-key-notice"))
    for moves, size in enumerate(sizes, start=1):
        page.set_viewport_size(size)
        scroll_to(decode, decode.step_head, 130 if size == PHONE else 70)
        move_knob(decode, "candidates", moves)
        figure = decode.figure("candidates")
        assert is_in_sight(decode, knob(decode)) and is_in_sight(decode, figure)
        assert is_in_sight(decode, page.locator(".st-key-notice"))
        assert box(decode.step_head)["y"] >= TOP
        assert_fits(page)
    if sizes == [PHONE]:
        assert page.evaluate(CUT) == []
        # One knob is shown, and another can be chosen.
        expect(knob(decode, "Top-k")).to_be_hidden()
        page.get_by_label("Which knob is in view").select_option("top_k")
        expect(knob(decode, "Top-k")).to_be_visible()
        expect(knob(decode)).to_be_hidden()


@SCREENS
def test_a_knob_of_the_lab_and_its_stages_are_in_sight(
    page: Page, server: str, sizes: list[ViewportSize]
) -> None:
    page.set_viewport_size(sizes[0])
    lab = SamplingPage(page, server).open()
    expect(lab.drawn("stages")).to_be_visible()
    for moves, size in enumerate(sizes, start=1):
        page.set_viewport_size(size)
        scroll_to(lab, lab.figure("stages"), 120 if size == PHONE else 64)
        move_knob(lab, "stages", moves)
        assert is_in_sight(lab, knob(lab)) and is_in_sight(lab, lab.figure("stages"))
        assert_fits(page)
    if sizes == [PHONE]:
        panels = lab.figure("stages").get_by_test_id("stElementContainer").first
        for box in (panels, page.get_by_role("tablist")):
            assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
        assert page.evaluate(CUT) == []


def assert_fits(page: Page) -> None:
    """Nothing but a wide figure in its own box scrolls sideways, and no knob is over another."""
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    assert page.locator(".rail").first.evaluate("rail => rail.scrollWidth - rail.clientWidth") <= 0


def test_a_step_a_tab_and_a_run_move_nothing_and_a_run_dims_what_it_makes_old(
    page: Page, server: str
) -> None:
    page.set_viewport_size(DESKTOP)
    decode = DecodePage(page, server).open(tokens=40, step=0)
    # The next uncertain step is a key.
    decode.expect_selected(0)
    page.keyboard.press("u")
    expect(decode.step_head).not_to_contain_text("Step 1 of")
    step = decode.step_number()
    expect(page).to_have_url(re.compile(rf"[?&]step={step}\b"))
    expect(decode.selected).to_have_attribute("data-index", str(step))
    expect(decode.drawn("uncertainty")).to_be_visible()
    # A run moves nothing and dims what it makes old.
    page.evaluate(WATCH, [".st-key-rail", ".st-key-knobs", ".st-key-text-panel", ".st-key-figures"])
    page.evaluate("""() => {
      window.palest = 1
      const look = () => {
        const figures = document.querySelector('.st-key-figures')
        if (figures) palest = Math.min(palest, Number(getComputedStyle(figures).opacity))
        requestAnimationFrame(look)
      }
      look()
    }""")
    decode.run()
    assert moved(page) <= 2
    assert page.evaluate("palest") < 0.6
    # A tab doesn't move the page.
    tabs = page.locator(".st-key-more [role=tablist]")
    scroll_to(decode, tabs, 300)
    page.evaluate(WATCH, [".st-key-more [role=tablist]", ".st-key-rail"])
    for name, chart in (("Time", "time"), ("Prompt predictions", "prompt")):
        page.get_by_role("tab", name=name).click()
        expect(decode.drawn(chart)).to_be_visible()
    assert moved(page) <= 2
    # A tab in focus takes Enter for itself, but not the shortcut of Run.
    page.keyboard.press("Control+Enter")
    expect(page.locator(".st-key-earlier_runs")).to_be_visible()


# Lines of the first row's words, and how much of a line's height the words take.
HEAD = """() => {
  const words = document.querySelector("[class*='st-key-status-'] [data-testid=stText]")
  const style = getComputedStyle(words)
  const height = parseFloat(style.lineHeight)
  const lines = Math.round(words.getBoundingClientRect().height / height)
  return [lines, height / parseFloat(style.fontSize)]
}"""


@pytest.mark.parametrize("language", ["ja", slow("ko")])
def test_two_lines_of_a_run_s_words_have_room_and_numbers_stand_beside_the_order(
    page: Page, server: str, language: str
) -> None:
    def show(path: str) -> None:
        page.goto(f"{server}/{path}?lang={language}")
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("[class*='st-key-status-'] [data-testid=stText]")).to_be_visible()

    page.set_viewport_size(DESKTOP)
    show("diffusion")
    numbers = page.locator(".st-key-diffusion-order [data-testid=stNumberInput]")
    expect(numbers).to_have_count(2)
    assert box(numbers.first)["y"] == box(numbers.last)["y"]
    assert page.evaluate(HEAD)[0] == 1
    show("speculative")
    lines, height = page.evaluate(HEAD)
    assert lines == 2 and height >= 1.4
    # Beside the text the buttons leave little room.
    page.set_viewport_size({"width": 1000, "height": 800})
    show("decode")
    assert page.evaluate(HEAD)[0] == 1
