"""A copied link makes the run that is shown again, and says what it can't carry."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.decoding.record.trace import Trace
from core.decoding.shaping.config import Shaping
from pages.ui.beam.state import BeamView
from pages.ui.decode.state import DecodeView
from pages.ui.resources import examples, models
from pages.ui.run.files import link_run
from pages.ui.run.files.link_run import RunLink
from pages.ui.run.view import View
from pages.ui.speculative.state import SpecView
from tests.figures.beams import make_search
from tests.figures.traces import make_trace
from tests.ui.conftest import Open, set_example
from tests.ui.knobs import move


def link_in(app: AppTest) -> dict[str, Any]:
    """Return the data of the link button, after opening its menu."""
    move(app, "save", True).run()
    found = [c for c in app.get("bidi_component") if "copy_link" in c.proto.component_name]
    told: dict[str, Any] = json.loads(found[-1].proto.json)
    return told


def link_to(trace: Trace) -> RunLink:
    """The link to a run of a file."""
    view = (BeamView if trace.config.method == "beam" else DecodeView)()
    view.show(trace, "file")
    found = link_run.link_to(view, trace)
    assert found is not None
    return found


def test_the_link_is_to_the_run_shown_when_knobs_were_moved_since(open_app: Open) -> None:
    app = open_app(**_given(link_in(open_app())["parameters"]))
    told, run = link_in(app), app.session_state["view"].trace
    assert not told["changed"] and told["lost"] == ""
    for key, value in (("seed", 99), ("tokens", 7)):
        app.number_input(key=key).set_value(value).run()
    told = link_in(app)
    assert told["changed"] and f"seed {run.config.seed}" in told["which"]
    again = open_app(**_given(told["parameters"]))
    assert not link_in(again)["changed"]
    assert again.number_input(key="seed").value == run.config.seed
    assert again.number_input(key="tokens").value == run.config.max_new_tokens


def _given(parameters: dict[str, str | None]) -> dict[str, str]:
    return {key: said for key, said in parameters.items() if said is not None}


@pytest.mark.parametrize(
    ("kind", "page"),
    [(DecodeView, "decode.py"), (BeamView, "beam.py"), (SpecView, "speculative.py")],
)
def test_a_stored_example_is_proved_and_what_an_empty_address_and_its_citation_describe(
    kind: type[View], page: str, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link of a citation says every setting, so that other defaults change nothing."""
    view, trace = kind(), Trace.load(examples.FOLDER / kind.example)
    assert trace.checks and all(check.passed for check in trace.checks)
    assert (examples.FOLDER / kind.example).stat().st_size < 250_000
    view.show(trace, "example")
    found = link_run.link_to(view, trace)
    assert found is not None and not found.lost
    assert _given(found.parameters) == {} and len(found.whole) > 8
    assert (found.whole["model"], found.whole["prompt"]) == (trace.model_id, trace.prompt)
    set_example(monkeypatch, kind, trace)
    app = open_app(page, **found.whole)
    told = link_in(app)
    assert _given(told["parameters"]) == {} and not told["changed"] and not app.toast


def test_what_no_control_reaches_is_said() -> None:
    trace = replace(make_trace(4), prompt="Who?", rendered_prompt="<|user|>Who?")
    config = replace(trace.config, shaping=Shaping(no_repeat_ngram_size=3), min_new_tokens=2)
    lost = link_to(replace(trace, config=config)).lost
    assert lost.startswith("This link can't carry: ") and "messages of its chat" in lost
    assert "no repeat ngram size 3" in lost.lower() or "n-gram 3" in lost
    assert "min new tokens 2" in lost


def test_a_file_s_search_takes_its_penalty_and_least_length_along() -> None:
    said = link_to(make_search(3, 8, shaping=Shaping(repetition_penalty=1.3), min_new_tokens=2))
    assert said.lost == "" and said.changed
    assert (said.parameters["penalty"], said.parameters["beam_least"]) == ("1.3", "2")


def test_the_link_takes_the_choices_of_figures_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {"figure_journal": "nature"})
    assert link_to(make_trace(4)).parameters["figure_journal"] == "nature"


def test_the_link_names_the_model_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(make_trace(4), model_id="someone/model")
    for revision, named in (("", "someone/model"), ("c" * 40, f"someone/model@{'c' * 40}")):
        said = link_to(replace(other, model_revision=revision))
        assert said.parameters["model"] == named and said.lost == ""
    monkeypatch.setattr(models.reach, "shared", lambda: True)
    said = link_to(other)
    assert said.parameters["model"] is None and "the model someone/model" in said.lost
