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
from pages.ui.run.files import archive, link_run
from pages.ui.run.files.link_run import RunLink
from pages.ui.run.view import View
from pages.ui.speculative.state import SpecView
from tests.figures.beams import make_search
from tests.figures.specs import make_spec
from tests.figures.traces import make_trace
from tests.ui.conftest import Open, set_example
from tests.ui.knobs import move


def link_in(app: AppTest) -> dict[str, Any]:
    """Return the data of the link button, after opening its menu."""
    move(app, "save", True).run()
    links = [c for c in app.get("bidi_component") if "copy_link" in c.proto.component_name]
    data: dict[str, Any] = json.loads(links[-1].proto.json)
    return data


def link_to(trace: Trace) -> RunLink:
    """The link to a run of a file."""
    view = (BeamView if trace.config.method == "beam" else DecodeView)()
    view.show(trace, "file")
    made = link_run.link_to(view, trace)
    assert made is not None
    return made


def test_the_link_is_to_the_run_shown_when_knobs_were_moved_since(open_app: Open) -> None:
    app = open_app(**_given(link_in(open_app())["parameters"]))
    data, run = link_in(app), app.session_state["view"].trace
    assert not data["changed"] and data["lost"] == ""
    for key, value in (("seed", 99), ("tokens", 7)):
        app.number_input(key=key).set_value(value).run()
    data = link_in(app)
    assert data["changed"] and f"seed {run.config.seed}" in data["which"]
    again = open_app(**_given(data["parameters"]))
    assert not link_in(again)["changed"]
    assert again.number_input(key="seed").value == run.config.seed
    assert again.number_input(key="tokens").value == run.config.max_new_tokens


def _given(parameters: dict[str, str | None]) -> dict[str, str]:
    return {key: word for key, word in parameters.items() if word is not None}


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
    made = link_run.link_to(view, trace)
    assert made is not None and not made.lost
    assert _given(made.parameters) == {} and len(made.whole) > 8
    assert (made.whole["model"], made.whole["prompt"]) == (trace.model_id, trace.prompt)
    set_example(monkeypatch, kind, trace)
    app = open_app(page, **made.whole)
    data = link_in(app)
    assert _given(data["parameters"]) == {} and not data["changed"] and not app.toast


def test_what_no_control_reaches_is_said() -> None:
    trace = replace(make_trace(4), prompt="Who?", rendered_prompt="<|user|>Who?")
    config = replace(trace.config, min_new_tokens=2)
    lost = link_to(replace(trace, config=config)).lost
    assert lost.startswith("This link can't carry: ") and "messages of its chat" in lost
    assert "min new tokens 2" in lost


def test_an_archive_cites_no_link_to_another_run() -> None:
    """The page has no control of a least length: its link would run without one."""
    trace = make_spec(12)
    view = SpecView()
    view.show(trace, "file")
    assert "run=1" in archive._address(link_run.link_to(view, trace))
    longer = replace(trace, config=replace(trace.config, min_new_tokens=2))
    view.show(longer, "file")
    made = link_run.link_to(view, longer)
    assert made is not None and "min new tokens 2" in made.lost
    assert archive._address(made) == ""


def test_a_file_s_search_takes_its_penalty_and_least_length_along() -> None:
    made = link_to(make_search(3, 8, shaping=Shaping(repetition_penalty=1.3), min_new_tokens=2))
    assert made.lost == "" and made.changed
    assert (made.parameters["penalty"], made.parameters["beam_least"]) == ("1.3", "2")


def test_the_link_takes_the_choices_of_figures_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {"figure_journal": "nature"})
    assert link_to(make_trace(4)).parameters["figure_journal"] == "nature"


def test_the_link_names_the_model_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = replace(make_trace(4), model_id="someone/model")
    for revision, named in (("", "someone/model"), ("c" * 40, f"someone/model@{'c' * 40}")):
        made = link_to(replace(trace, model_revision=revision))
        assert made.parameters["model"] == named and made.lost == ""
    monkeypatch.setattr(models.reach, "shared", lambda: True)
    made = link_to(trace)
    assert made.parameters["model"] is None and "the model someone/model" in made.lost
