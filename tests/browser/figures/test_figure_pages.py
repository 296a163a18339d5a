"""Pages of figures in a browser: their knobs shape as Python does, and they fit their frame."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from core import Sampling, Shaping, Trace, collect, figures
from core.export.part import Part
from core.export.save import save_figure
from core.export.web import bundle
from core.export.web.run_page import PageText, run_page
from core.figures import LIGHT
from core.figures.base.labels import percent
from core.figures.decode.knobs import knobs_of
from core.models.scripted import ScriptedModel
from tests.figures.traces import make_trace

pytestmark = pytest.mark.browser

TRACES = Path(__file__).parents[3] / "assets" / "traces"
KNOBS = Path(bundle.__file__).with_name("knobs.js").read_text(encoding="utf-8")
SETTINGS = (
    *((t, 0, 1.0, 0.0) for t in (0.3, 0.8, 1.0, 1.3, 2.0)),
    *((t, k, 1.0, 0.0) for t in (0.5, 1.7) for k in (1, 5, 19, 60)),
    *((t, k, p, 0.0) for t in (0.6, 1.0, 1.9) for k in (0, 8, 60) for p in (0.3, 0.9, 0.99)),
    *((t, 0, p, m) for t in (0.6, 1.9) for p in (0.9, 1.0) for m in (0.001, 0.05, 0.3, 0.9)),
    *((1.2, k, 0.95, m) for k in (8, 60) for m in (0.02, 0.4)),
)


def step_of(logits: torch.Tensor, shaping: Shaping) -> tuple[Any, Trace]:
    """One step of a model with these logits."""
    tokens = [f" w{at}" for at in range(len(logits))]
    model = ScriptedModel({(): logits}, tokens=tokens, given="logits", eos=None)
    config = Sampling(max_new_tokens=1, seed=3, shaping=shaping, top_candidates=20)
    trace = collect(model, [1], config)
    return trace.token_steps[0], trace


def cases() -> list[tuple[dict[str, Any], list[dict[str, Any]], list[dict[int, Any]]]]:
    """The data of a step's knobs, settings, and each token's probability in Python."""
    made, dice = [], torch.Generator().manual_seed(11)
    for spread, run in (
        (3.0, Shaping(temperature=0.8)),
        (1.2, Shaping(top_k=40)),
        (6.0, Shaping()),
    ):
        logits = torch.randn(600, generator=dice) * spread
        data = knobs_of(*step_of(logits, run), 0.2)
        settings, results = [], []
        for temperature, k, p, m in SETTINGS:
            settings.append({"temperature": temperature, "top_k": k, "top_p": p, "min_p": m})
            step, _ = step_of(logits, Shaping(temperature=temperature, top_k=k, top_p=p, min_p=m))
            results.append({c.token_id: (c.prob, c.removed_by) for c in step.candidates})
        made.append((data, settings, results))
    return made


def test_knobs_shape_a_step_as_python_does(page: Page) -> None:
    page.set_content("<p></p>")
    page.add_script_tag(content=KNOBS)
    exact = 0
    for data, all_settings, results in cases():
        made = page.evaluate(
            "([data, all]) => all.map((s) => Knobs.shaped(data, s))", [data, all_settings]
        )
        for settings, result, expected in zip(all_settings, made, results, strict=True):
            for (token, *_), row in zip(data["tokens"], result["rows"], strict=True):
                if token not in expected:
                    continue
                prob, removed = expected[token]
                assert row["low"] - 2e-6 <= prob <= row["high"] + 2e-6, (settings, row, prob)
                if row["gone"] == "either":
                    assert removed in ("top_p", "min_p"), (settings, token)
                elif row["gone"]:
                    assert removed == row["gone"], (settings, token)
                exact += row["high"] - row["low"] < 1e-5
            known = settings["temperature"] in (1.0, data["start"]["temperature"])
            if 0 < settings["top_k"] < 20 or (
                known and settings["top_p"] == 1 == 1 - settings["top_k"] - settings["min_p"]
            ):
                assert all(r["high"] - r["low"] < 2e-5 for r in result["rows"]), settings
    assert exact > 1000
    numbers = [random.Random(5).random() ** power for power in range(1, 40)] + [0, 1, 0.00996, 1e-7]
    assert page.evaluate("(all) => all.map(Knobs.percent)", numbers) == list(map(percent, numbers))


def opened(page: Page, path: Path, width: int, scheme: str) -> list[str]:
    """Open a page in a frame's size; returns what it asked for."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.set_viewport_size({"width": width, "height": 700})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(path.as_uri())
    expect(page.locator("html[data-drawn]")).to_be_attached()
    return [url for url in urls if not url.startswith(("file:", "data:", "blob:"))]


def test_a_figures_page_fits_its_frame_and_its_knobs_move_it(page: Page, tmp_path: Path) -> None:
    trace = Trace.load(TRACES / "decode.json")
    draw = partial(figures.candidate_bars, trace.token_steps[5], trace)
    path = save_figure(draw, tmp_path / "page.html", shared=True)
    for width, scheme, paper in ((360, "dark", "18, 22, 27"), (1200, "light", "255, 255, 255")):
        assert opened(page, path, width, scheme) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == f"rgb({paper})"
    texts = page.locator(".chart .bartext")
    before = texts.all_text_contents()
    page.get_by_label("Top-k").fill("3")
    expect(texts.filter(has_text="removed by top-k").first).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(texts.filter(has_text="removed by top-k")).to_have_count(0)
    assert texts.all_text_contents() == before
    assert page.troubles == page.forbidden == []  # type: ignore[attr-defined]


def test_a_runs_page_holds_in_a_frame_and_hostile_text_is_text(page: Page, tmp_path: Path) -> None:
    trace = make_trace(24, hostile=True, shaping=Shaping(temperature=1.8, top_k=40))
    step = trace.token_steps[1]
    parts = [
        Part("heatmap", partial(figures.probability_heatmap, trace)),
        Part("candidates", partial(figures.candidate_bars, step, trace)),
        Part("stages", partial(figures.step_stages, step, trace)),
    ]
    run = PageText("A run", "settings", trace.prompt, trace.text)
    path = tmp_path / "run.html"
    path.write_bytes(run_page(run, parts, LIGHT))
    for width in (360, 640):
        assert opened(page, path, width, "dark") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    assert page.locator(".js-plotly-plot").count() == 3 and page.locator("img").count() == 0
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.troubles == page.forbidden == []  # type: ignore[attr-defined]
