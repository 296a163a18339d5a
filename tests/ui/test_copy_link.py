"""A copied link makes the run that is shown again, and says what it can't carry."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.shaping.config import Shaping
from core.decoding.trace import Trace
from pages.ui.beam.state import BeamView
from pages.ui.decode.state import DecodeView
from pages.ui.run import link_run
from pages.ui.run.link_run import RunLink
from pages.ui.run.request import Request
from pages.ui.run.view import View
from pages.ui.shell import models
from pages.ui.speculative.state import SpecView
from tests.figures.beams import make_search
from tests.figures.traces import make_trace
from tests.ui.conftest import Open


def link_in(app: AppTest) -> dict[str, Any]:
    """What the button for links is told, once its menu is open."""
    app.session_state["save"] = True
    app.run()
    found = [c for c in app.get("bidi_component") if "copy_link" in c.proto.component_name]
    told: dict[str, Any] = json.loads(found[-1].proto.json)
    return told


def link_to(trace: Trace, asked: Request | None = None) -> RunLink:
    view = (BeamView if trace.config.method == "beam" else DecodeView)()
    view.request = asked
    view.show(trace, "run" if asked else "file")
    found = link_run.link_to(view, trace)
    assert found is not None
    return found


def test_the_link_is_to_the_run_shown_when_knobs_were_moved_since(open_app: Open) -> None:
    app = open_app(**_given(link_in(open_app())["parameters"]))
    assert not link_in(app)["changed"] and link_in(app)["lost"] == ""
    app.number_input(key="seed").set_value(99).run()
    app.number_input(key="tokens").set_value(7).run()
    told = link_in(app)
    run = app.session_state["view"].trace
    assert told["changed"] and f"seed {run.config.seed}" in told["which"]
    again = open_app(**_given(told["parameters"]))
    assert not link_in(again)["changed"]
    assert again.number_input(key="seed").value == run.config.seed
    assert again.number_input(key="tokens").value == run.config.max_new_tokens


def _given(parameters: dict[str, str | None]) -> dict[str, str]:
    return {key: said for key, said in parameters.items() if said is not None}


@pytest.mark.parametrize("kind", [DecodeView, BeamView, SpecView])
def test_the_stored_examples_are_what_an_empty_address_describes(kind: type[View]) -> None:
    view = kind()
    trace = kind.load_example()
    assert trace is not None
    view.show(trace, "example")
    found = link_run.link_to(view, trace)
    assert found is not None and not found.lost
    assert _given(found.parameters) == {}


@pytest.mark.parametrize(
    ("kind", "page"), [(BeamView, "beam.py"), (SpecView, "speculative.py")], ids=["beam", "spec"]
)
def test_a_citation_s_link_says_every_setting_so_that_other_defaults_change_nothing(
    kind: type[View], page: str, open_app: Open
) -> None:
    view, trace = kind(), kind.load_example()
    assert trace is not None
    view.show(trace, "example")
    found = link_run.link_to(view, trace)
    assert found is not None and len(found.whole) > 8
    assert (found.whole["model"], found.whole["prompt"]) == (trace.model_id, trace.prompt)
    app = open_app(page, **found.whole)
    told = link_in(app)
    assert _given(told["parameters"]) == {} and not told["changed"]
    assert not app.toast and not app.exception


def test_a_run_made_here_keeps_its_chat_in_the_link() -> None:
    trace = replace(make_trace(4), prompt="Who?", rendered_prompt="<|user|>Who?")
    asked = Request(trace.model_id, "Who?", trace.config, chat=True, system="One word.")
    said = link_to(trace, asked)
    assert said.lost == ""
    assert {key: said.parameters[key] for key in ("prompt", "chat", "system")} == {
        "prompt": "Who?",
        "chat": "true",
        "system": "One word.",
    }
    assert "messages of its chat" in link_to(trace).lost


def test_what_no_control_reaches_is_said() -> None:
    trace = make_trace(4)
    config = replace(trace.config, shaping=Shaping(no_repeat_ngram_size=3), min_new_tokens=2)
    said = link_to(replace(trace, config=config))
    assert "no repeat ngram size 3" in said.lost.lower() or "n-gram 3" in said.lost
    assert "min new tokens 2" in said.lost and said.lost.startswith("This link can't carry: ")


def test_a_file_s_search_takes_its_penalty_and_least_length_along() -> None:
    search = make_search(3, 8, shaping=Shaping(repetition_penalty=1.3), min_new_tokens=2)
    said = link_to(search)
    assert said.lost == "" and said.changed
    assert (said.parameters["penalty"], said.parameters["beam_least"]) == ("1.3", "2")
    assert said.parameters["beam_stop"] is None or search.config.stop_strings


def test_the_link_names_the_model_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(make_trace(4), model_id="someone/model")
    assert link_to(other).parameters["model"] == "someone/model"
    of_the_hub = replace(other, model_revision="c" * 40)
    assert link_to(of_the_hub).parameters["model"] == f"someone/model@{'c' * 40}"
    assert link_to(other).lost == ""
    monkeypatch.setattr(models.reach, "shared", lambda: True)
    said = link_to(other)
    assert said.parameters["model"] is None and "the model someone/model" in said.lost
