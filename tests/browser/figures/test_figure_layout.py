"""Every figure at the widths that it is printed and shown at, as a browser draws its texts."""

from __future__ import annotations

from collections.abc import Iterator

import plotly.graph_objects as go
import pytest
from playwright.sync_api import BrowserContext, Page

from core.decoding.record.trace import Trace
from core.figures import printed, spec_timeline
from core.figures.base.paper import Paper
from core.figures.speculative.timeline import PHONE_COLUMNS, rounds_for
from core.language import use
from tests.figures.figure_boxes import faults, page_with_fonts
from tests.figures.gallery import TRACES, draw, entries, long_rounds
from tests.language.pseudo import use_pseudo

pytestmark = pytest.mark.browser

# A figure that fits the narrowest paper has more room on the others, which draw a sixth of the
# figures each; `make test-all` draws all at three widths.
PAPERS = {
    "85mm": (printed("85mm"), slice(None)),
    "640px": (printed("640px"), slice(0, None, 6)),
    "1200px": (printed("1200px"), slice(1, None, 6)),
    "nature": (printed(journal="nature"), slice(2, None, 6)),
}


@pytest.fixture(scope="module")
def canvas(profile: BrowserContext) -> Iterator[Page]:
    """A page with Plotly and the figures' own fonts, in which every figure is drawn."""
    page = profile.new_page()
    page_with_fonts(page)
    yield page
    page.close()


@pytest.mark.parametrize("name", PAPERS)
def test_no_text_is_over_another_or_out_of_its_box_or_too_small(canvas: Page, name: str) -> None:
    paper, part = PAPERS[name]
    looked_at = entries()[part]
    faults_by_name = {entry[0]: faults(canvas, draw(entry, paper=paper)) for entry in looked_at}
    assert {name: listed for name, listed in faults_by_name.items() if listed} == {}


# Texts of pseudo-localisation are longer than those of any language.
PSEUDO = "pseudo"
LANGUAGES = {"ja": slice(0, None, 4), "ko": slice(1, None, 4), PSEUDO: slice(2, None, 10)}


def faults_in(canvas: Page, language: str, width: str, part: slice) -> dict[str, list[str]]:
    """Return the faults of a part of the gallery, by the figures' names."""
    paper, listed = printed(width), dict[str, list[str]]()
    with pytest.MonkeyPatch.context() as patch, use("ja" if language == PSEUDO else language):
        if language == PSEUDO:
            use_pseudo(patch)
        for entry in entries()[part]:
            if found := faults(canvas, draw(entry, paper=paper)):
                listed[entry[0]] = found
    return listed


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_of_another_language_is_over_another_or_out_of_its_box(
    canvas: Page, language: str
) -> None:
    assert faults_in(canvas, language, "85mm", LANGUAGES[language]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", ["85mm", "400px", "1200px"])
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_no_text_of_any_figure_is_over_another_in_any_language(
    canvas: Page, language: str, width: str
) -> None:
    assert faults_in(canvas, language, width, slice(None)) == {}


# Windows of 400, 800, 1280 and 1366 px: width of the paper and of the drawn figure, px.
@pytest.mark.parametrize(
    ("paper", "drawn"), [(370, 366), (442, 442), (618, 618), (618, 704)], ids=str
)
def test_no_cell_of_the_timeline_hides_its_token(canvas: Page, paper: int, drawn: int) -> None:
    for trace in (Trace.load(TRACES / "speculative.json"), long_rounds(40)):
        columns = PHONE_COLUMNS if paper == 370 else rounds_for(paper, trace)
        figure = spec_timeline(trace, columns=columns, paper=Paper(paper))
        figure.layout.width = drawn
        assert faults(canvas, figure) == []
        tokens = sum(bool(text) for bars in figure.data for text in bars.text or ())
        texts = canvas.locator("#figure .bartext").evaluate_all(
            "all => all.filter(text => text.getBoundingClientRect().width > 1).length"
        )
        assert texts == tokens > 0


def test_texts_over_another_off_the_paper_or_wider_than_their_bar_are_found(canvas: Page) -> None:
    """The faults are looked for in vain only where there are none."""
    entry = next(entry for entry in entries() if entry[0] == "beam_tree")
    figure = draw(entry, paper=printed("640px"))
    note = figure.layout.annotations[0].to_plotly_json()
    figure.layout.annotations = [*figure.layout.annotations, {**note, "xshift": 4000}, note]
    for bars in figure.data:
        if bars.type == "bar":
            bars.text = ["far too long for its node"] * len(bars.x)
            bars.offset = 3
    kinds = {fault.partition(":")[0] for fault in faults(canvas, figure)}
    assert {"overlap", "outside the paper", "beside its place"} <= kinds
    assert any(kind.startswith("over its bar") for kind in kinds)


@pytest.mark.parametrize(("thickness", "found"), [(None, True), (0.7, False)])
def test_bars_whose_trace_has_gaps_and_no_thickness_are_found(
    canvas: Page, thickness: float | None, found: bool
) -> None:
    rows = {"all": [0, 1, 2, 3], "removed": [0, 3]}
    bars = [
        {"type": "bar", "name": name, "orientation": "h", "y": y, "x": y, "width": thickness}
        for name, y in rows.items()
    ]
    figure = go.Figure(bars, {"barmode": "overlay", "bargap": 0.3, "width": 640, "height": 300})
    kinds = [fault.partition(":")[0] for fault in faults(canvas, figure)]
    assert kinds == ["of unequal thickness"] * found
