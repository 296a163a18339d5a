"""Ways from a token on another page to a run on Decode that begins with it."""

from __future__ import annotations

from typing import cast

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.record.trace import Trace
from pages.ui.beam.node import path_to
from pages.ui.decode.state import DecodeView
from pages.ui.speculative.tabs import ids_up_to
from tests.ui import seen
from tests.ui.conftest import ROOT, Open


def run_of(app: AppTest) -> Trace:
    """The run on Decode that a press has started."""
    view = cast(DecodeView, app.session_state["view"])
    job = view.jobs.get("decode")
    if job is None:
        assert view.source == "run", view.failure
        return cast(Trace, view.trace)
    assert job.done.wait(seen.SECONDS) and not job.error, job.error
    return cast(Trace, job.result)


def test_from_a_candidate_of_a_search_that_was_dropped(open_app: Open) -> None:
    app = open_app("beam.py")
    view = app.session_state["beam"]
    trace, at = view.trace, 4
    place = next(i for i, c in enumerate(trace.beam_steps[at].candidates) if c.fate == "pruned")
    view.look_at(at, place)
    app.run().button(key="node_go_on").click().run()
    made, path = run_of(app), path_to(trace, at, place)
    assert made.prompt_ids == trace.prompt_ids and made.config.method == "greedy"
    assert list(made.token_ids[: at + 1]) == [c.token_id for c in path]
    assert made.token_steps[at].token_id == trace.beam_steps[at].candidates[place].token_id


def test_from_a_rejected_draft_token(open_app: Open) -> None:
    app = open_app("speculative.py")
    view = app.session_state["speculative"]
    trace = view.trace
    at, place = next(
        (step.index, place)
        for step in trace.rounds
        for place, token in enumerate(step.drafted)
        if token.outcome == "rejected"
    )
    view.look_at(at, place)
    app.run().button(key="token_go_on").click().run()
    made, step = run_of(app), trace.rounds[at]
    ids = (*trace.token_ids[: step.start + place], step.drafted[place].token_id)
    assert made.token_ids[: len(ids)] == ids
    extra = ids_up_to(trace, at, -1)
    assert tuple(extra) == trace.token_ids[: len(extra)]


def test_from_a_step_of_the_lab(open_app: Open) -> None:
    app = seen.settle(open_app("sampling.py"), "lab")
    step, run = app.session_state["lab"].shown, app.session_state["view"].trace
    app.button(key="lab_go_on").click().run()
    made, ids = run_of(app), (*step.trace.prompt_ids, step.step.token_id)
    assert made.prompt_ids == run.prompt_ids
    assert (*made.prompt_ids, *made.token_ids)[: len(ids)] == ids
    assert len(made.prompt_ids) + len(made.token_ids) > len(ids)


@pytest.mark.parametrize("page", ["beam.py", "speculative.py"])
def test_a_file_s_model_is_not_loaded_by_a_press(open_app: Open, page: str) -> None:
    name = {"beam.py": "beam", "speculative.py": "speculative"}[page]
    app = open_app(page)
    view = app.session_state[name]
    view.trace = Trace.load(ROOT / f"assets/traces/{name}.json")
    object.__setattr__(view.trace, "model_id", "someone/else")
    view.source = "file"
    if name == "beam":
        view.look_at(4, 0)
    app.run()
    assert app.button(key="node_go_on" if name == "beam" else "token_go_on").disabled
