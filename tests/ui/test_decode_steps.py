"""Which step Decode shows: after a run, by a link, by its buttons."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.decoding.trace import Trace
from pages.ui.decode.state import DecodeView
from tests.figures.traces import make_trace
from tests.ui.conftest import ROOT, Open
from tests.ui.seen import strip_data


def view_of(app: AppTest) -> DecodeView:
    view: DecodeView = app.session_state["view"]
    return view


def test_the_most_uncertain_step_is_shown_first(open_app: Open, example: Trace) -> None:
    view = view_of(open_app())
    steps = example.token_steps
    assert steps[view.selected].entropy == max(step.entropy for step in steps)


def test_after_a_run_the_most_uncertain_step_is_selected(open_app: Open) -> None:
    view = view_of(open_app())
    view.select(0)
    view.show(make_trace(7), "run")
    entropies = [step.entropy for step in view.steps]
    assert entropies[view.selected] == max(entropies) and not view.linked


def test_the_selected_step_is_in_the_address_and_comes_back_with_it(open_app: Open) -> None:
    app = open_app()
    first = view_of(app).selected
    assert "step" not in app.query_params
    view_of(app).select(first + 1)
    app.run()
    assert app.query_params["step"] == str(first + 1)
    view_of(app).select(first)
    app.run()
    assert "step" not in app.query_params
    for linked, selected in (("3", 3), ("9999999999999", first), ("12", first), ("x", first)):
        other = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=60)
        other.query_params["step"] = linked
        assert view_of(other.run()).selected == selected
        told = f"“{linked}” in the link is no step of this run"
        assert [told in one.value for one in other.toast] == [True] * (linked != "3")


def test_the_next_uncertain_step_has_more_entropy_than_the_mean(open_app: Open) -> None:
    app = open_app()
    view = view_of(app)
    view.select(0)
    app.run()
    entropies = [step.entropy for step in view.steps]
    expected = [at for at, own in enumerate(entropies) if own > sum(entropies) / len(entropies)]
    assert expected and strip_data(app)["marked"] == expected
