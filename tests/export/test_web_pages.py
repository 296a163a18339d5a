"""Pages of figures: small, strict, the same bytes twice, and hostile text stays text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs_version

from core import figures
from core.decoding.shaping.config import Shaping
from core.export.part import Part
from core.export.save import save_figure
from core.export.web import bundle
from core.export.web.chart import WIDTHS, chart_of
from core.export.web.page import PageLook, figure_page, page_of
from core.export.web.run_page import PageText, run_page
from core.figures import DARK, LIGHT, printed
from core.figures.base.paper import Paper
from core.figures.decode.knobs import knobs_of
from tests.figures.gallery import Entry, entries
from tests.figures.traces import HOSTILE, make_trace

LIMIT = 150_000
SHAPED = Shaping(temperature=1.8, top_k=40, top_p=0.9)


def page_for(entry: Entry) -> bytes:
    _, name, arguments, options = entry
    draw = partial(getattr(figures, name), *arguments, **options)
    return figure_page(chart_of(draw), PageLook(shared=True))


def candidates(*, hostile: bool = False, shaping: Shaping = SHAPED) -> partial:
    trace = make_trace(4, hostile=hostile, shaping=shaping)
    return partial(figures.candidate_bars, trace.token_steps[1], trace)


def unpacked(page: bytes) -> dict:
    data = re.search(rb'id="figures">([^<]+)<', page)
    assert data
    return json.loads(gzip.decompress(base64.b64decode(data[1])))


def test_the_bundle_is_the_plotly_that_figures_are_tested_with() -> None:
    assert get_plotlyjs_version() == bundle.VERSION
    assert f"plotly.js (cartesian - minified) v{bundle.VERSION}".encode() in bundle.script()[:200]


# The largest ones, and one of each kind of mark.
LARGE = ("beam_tree 16 x 40 pruned", "hostile probability_heatmap", "hostile lab_stages")


@pytest.mark.parametrize("name", [*LARGE, "reason_stops"])
def test_a_page_beside_a_shared_plotly_is_small(name: str) -> None:
    page = page_for(next(entry for entry in entries() if entry[0] == name))
    assert len(page) < LIMIT and re.search(rb'role="img" aria-label="[^"]{60}', page)
    charts = unpacked(page)["charts"][0]
    widths = {width for width, _, _ in charts}
    assert widths <= set(WIDTHS) and {theme for _, theme, _ in charts} == {"light", "dark"}
    # A window of a long run is as wide as it must be.
    assert min(widths) == (640 if "heatmap" in name else 344)


def test_a_page_is_the_same_bytes_twice_and_writes_nothing_twice() -> None:
    page = page_of(candidates(), None, Paper())
    assert page == page_of(candidates(), None, Paper())
    pool = [json.dumps(item) for item in unpacked(page)["pool"]]
    assert len(pool) == len(set(pool))


def test_the_policy_names_the_pages_own_script_and_style_and_nothing_else() -> None:
    page = page_of(candidates(), None, Paper()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(script) == len(style) == 1
    for content in (script[0].encode(), style[0].encode(), bundle.script()):
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    assert "http" not in policy and "script-src 'self'" not in policy
    shared = page_of(candidates(), None, Paper(), shared=True).decode()
    assert f'<script src="{bundle.NAME}"></script>' in shared and 'id="plotly"' not in shared


def test_hostile_text_is_text_on_a_page() -> None:
    run = PageText("<script>1</script>", "<b>settings</b>", HOSTILE[0], HOSTILE[11], notes=[])
    part = Part("candidates", candidates(hostile=True))
    lacking = Part("sweep <i>", needs="measure <u> first")
    for page in (page_of(part.drawn(), None, Paper()), run_page(run, [part, lacking], DARK)):
        body = re.sub(r"<script.*?</script>|<style.*?</style>", "", page.decode(), flags=re.DOTALL)
        for mark in ("<img", "<b>x", "<b>s", "<i>", "<u>", "onerror=alert(1)>", "<script"):
            assert mark not in body, mark


def test_the_saved_page_of_a_run_is_small_and_opens_in_the_theme_on_screen() -> None:
    trace = make_trace(24, shaping=SHAPED)
    parts = [
        Part("heatmap", partial(figures.probability_heatmap, trace)),
        Part("candidates", candidates()),
        Part("time", needs="time it first"),
    ]
    page = run_page(PageText("A run", "settings", "prompt", "text"), parts, DARK)
    assert len(page) < 900_000 and b'<html lang="en" data-theme="dark">' in page
    assert page.count(b"<figure") == 2 and b"time (time it first)" in page
    assert b'data-theme="light"' in run_page(PageText("A run", "", "", ""), [], LIGHT)


def test_knobs_are_there_where_the_data_allow_it() -> None:
    trace = make_trace(4, shaping=SHAPED)
    step = trace.token_steps[1]
    assert knobs_of(step, trace, 0.2)["start"] == {
        "temperature": 1.8,
        "top_k": 40,
        "top_p": 0.9,
        "min_p": 0.0,
    }
    cut = replace(step, stages=(*step.stages, step.stages[-1]._replace(name="typical_p")))
    assert knobs_of(cut, trace, 0.2) is None
    assert (
        chart_of(candidates()).knobs and not chart_of(partial(figures.timing, [("a", trace)])).knobs
    )
    # Only a page of its own carries them.
    assert "knobs" not in figures.candidate_bars(step, trace).layout.meta


def test_a_drawn_figure_and_what_draws_one_become_pages(tmp_path: Path) -> None:
    drawn = candidates()(paper=printed("85mm"))
    whole = save_figure(drawn, tmp_path / "drawn.html", shared=True)
    assert [width for width, _, _ in unpacked(whole.read_bytes())["charts"][0]] == [
        pytest.approx(385.51, abs=0.01)
    ]
    assert (tmp_path / bundle.NAME).read_bytes() == bundle.script()
    laid_out = save_figure(candidates(), tmp_path / "laid-out.html", theme=figures.GREY)
    assert {theme for _, theme, _ in unpacked(laid_out.read_bytes())["charts"][0]} == {"grey"}
    assert b"Candidates at step 2" in laid_out.read_bytes()
