"""The sampling lab while a knob moves: server time of a rerun, and the same in a browser.

Server time: what runs of the page's script under `AppTest` when the browser reports a moved knob,
the step's logits being there; every figure but the flips and the rolls is built anew, those follow
from a worker thread, whose time is measured too. On screen: from the key that moves the slider
until the stages stand anew in a browser.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter, sleep
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.app import ROOT, answers, free_port
from tests.browser.find_browser import installed_browser
from tests.ui.knobs import report

# With the milliseconds that a rerun of the whole page may take on the server.
VOCABULARIES = ((None, 60), (151_936, 150))
ON_SCREEN = 300
_READY = 60.0


def run(repeats: int = 5) -> None:
    """Print a table of milliseconds, medians."""
    print(f"\nThe sampling lab, medians of {repeats * 4}")
    print("| vocabulary | rerun of the page, server | goal | all flips after it | 1,000 rolls |")
    print("|---|---|---|---|---|")
    for vocab, goal in VOCABULARIES:
        size, *seconds = server_times(_model(vocab), repeats * 4)
        rerun, flips, rolls = (f"{value * 1e3:.0f} ms" for value in seconds)
        print(f"| {size:,} | {rerun} | {goal} ms | {flips} | {rolls} |", flush=True)
    on_screen = _screen(repeats)
    print(f"\nFrom a key on the slider to the new stages on screen: {on_screen * 1e3:.0f} ms")
    print(f"(goal: {ON_SCREEN} ms), medians of {repeats * 2}")


def _model(vocab: int | None) -> Any:
    """The embedded model, or one of many tokens whose logits are as uneven as a real one's."""
    if vocab is None:
        from core import load_model

        return load_model("embedded:target")
    import torch

    from core.models.scripted import ScriptedModel

    logits = 3 * torch.randn(vocab, generator=torch.Generator().manual_seed(1))
    tokens = ["<end>", "Once upon a time", *(f" t{at}" for at in range(vocab - 2))]
    return ScriptedModel(lambda _: logits, tokens=tokens, given="logits")


def server_times(model: Any, repeats: int) -> tuple[int, float, float, float]:
    """The model's tokens, and seconds of a rerun, of all flips and of 1,000 rolls."""
    from streamlit.testing.v1 import AppTest

    from core.models.store import ModelStore
    from pages.ui.resources import models

    models.MODELS = ModelStore(lambda *_: model, most=1)
    models.warm_up = lambda: None  # type: ignore[assignment]
    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=120).run()
    app.switch_page("sampling.py").run()
    app.segmented_control(key="at").set_value("prompt").run()
    times = []
    for turn in range(repeats + 3):
        # The whole page: `report` looks for the knob in what ran last.
        app.run()
        _rest(app)
        started = perf_counter()
        report(app, temperature=0.5 + turn / 50)
        times.append(perf_counter() - started)
    lab = app.session_state["lab"]
    _rest(app)
    _, step_logits = lab.cached["logits"]
    return (model.vocab_size, statistics.median(times[3:]), *_measured(step_logits))


def _rest(app: Any) -> None:
    """Until nothing is under way."""
    end = perf_counter() + _READY
    while any(job.active for job in app.session_state["lab"].jobs.values()):
        assert perf_counter() < end
        sleep(0.02)


def _measured(step_logits: Any) -> tuple[float, float]:
    """Seconds of all flips and of 1,000 rolls under the page's defaults."""
    from core import Sampling, Shaping
    from core.decoding.lab.decision_boundaries import all_boundaries
    from core.decoding.lab.series import roll
    from core.decoding.shaping.config import KNOB_RANGES
    from core.decoding.shaping.orders import TRANSFORMERS
    from core.traces.lab import ROLLS

    config = Sampling(seed=7, shaping=Shaping(temperature=0.8, top_p=0.95))
    started = perf_counter()
    all_boundaries(step_logits, config, TRANSFORMERS, 0, KNOB_RANGES)
    middle = perf_counter()
    roll(step_logits, config, TRANSFORMERS, 0, ROLLS)
    return middle - started, perf_counter() - middle


_NEW_STAGES = """part => document.querySelector('.st-key-figure-stages .js-plotly-plot')
?.layout?.words?.caption?.includes(part)"""


def _screen(repeats: int) -> float:
    port = free_port()
    options = ["--server.headless", "true", "--server.port", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *options],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        while not answers(url):
            sleep(0.05)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=installed_browser(), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{url}/sampling")
            page.wait_for_selector(".st-key-figure-rolls .main-svg", timeout=60_000)
            slider = page.get_by_role("slider", name="Temperature")
            times = []
            for turn in range(repeats * 2 + 2):
                page.wait_for_timeout(1500)
                started = perf_counter()
                slider.press("ArrowLeft")
                page.wait_for_function(_NEW_STAGES, arg=f"temperature {0.75 - turn * 0.05:.4g} ")
                times.append(perf_counter() - started)
            browser.close()
            return statistics.median(times[2:])
    finally:
        server.terminate()
        server.wait(10)
