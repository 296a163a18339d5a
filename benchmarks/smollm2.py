"""SmolLM2-135M-Instruct at its vocabulary and width, where `make smollm2` has installed it.

Beside `generate`: greedy, sampling, five beams, all with full traces. In the app: a rerun of the
lab, and the time from the model's choice until its first run is on screen, loading included.
"""

from __future__ import annotations

import re
from time import perf_counter
from urllib.parse import quote

import torch
from playwright.sync_api import expect, sync_playwright
from transformers import AutoModelForCausalLM

from benchmarks import app, lab
from benchmarks.decoding import FILTERED, HEADER, compare
from core import BeamSearch, Greedy, Sampling, load_model
from core.models.gguf.source import converted_folder
from core.models.packaged import PACKAGED, is_installed, packaged_file
from core.models.stopping import never
from tests.browser.find_browser import installed_browser

NAME = "smollm2"
TOKENS = 24


def run(repeats: int = 5) -> None:
    """Print a table of milliseconds a token and what the app takes, or how to install the model."""
    print(f"\nSmolLM2-135M, {torch.get_num_threads()} threads, float32, medians of {repeats} runs")
    if not is_installed(NAME):
        print(f"Not installed: {PACKAGED[NAME].command}")
        return
    model = load_model(NAME)
    folder = converted_folder(packaged_file(NAME), NAME, NAME, "float32", never)
    plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    print(HEADER)
    drawn = {"do_sample": True, "temperature": 0.8, "top_k": 50, "top_p": 0.9}
    configs = {
        "greedy": (Greedy(max_new_tokens=TOKENS), {"do_sample": False}),
        "sampling 0.8, top-k 50, top-p 0.9": (
            Sampling(max_new_tokens=TOKENS, shaping=FILTERED, draw="multinomial"),
            drawn,
        ),
        "5 beams": (
            BeamSearch(num_beams=5, max_new_tokens=TOKENS),
            {"num_beams": 5, "do_sample": False},
        ),
    }
    compare(NAME, plain, model.tokenizer, configs, repeats)
    _, rerun, flips, rolls = lab.server_times(model, 4 * repeats)
    print(f"Lab: rerun {rerun * 1e3:.0f} ms, flips {flips * 1e3:.0f}, rolls {rolls * 1e3:.0f} ms")
    print(f"From its choice in the app until 8 tokens stand on screen: {_chosen():.1f} s")


def _chosen() -> float:
    """Seconds from the choice until a run of 8 tokens stands, the loading included."""
    with sync_playwright() as playwright, app.served(app.ROOT / "app.py") as (url, _):
        browser = playwright.chromium.launch(
            executable_path=installed_browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{url}/decode?prompt={quote('The capital of France')}&tokens=8")
        page.wait_for_selector(app.FIRST_CHART, timeout=app.PATIENCE * 1000)
        picker = page.locator(".st-key-model input")
        picker.fill(NAME)
        started = perf_counter()
        picker.press("Enter")
        expect(page).to_have_url(re.compile(NAME), timeout=app.PATIENCE * 1000)
        page.locator(".st-key-start button").click()
        finished = page.locator(".st-key-status-finished")
        expect(finished).to_contain_text("Your run", timeout=app.PATIENCE * 1000)
        seconds = perf_counter() - started
        browser.close()
    return seconds
