"""The step that Decode selects: after a run, by a link, by its buttons."""

from __future__ import annotations

from tests.figures.traces import make_trace
from tests.ui.conftest import Open, open_page
from tests.ui.pages.test_decode_page import view_of
from tests.ui.seen import strip_data


def test_the_most_uncertain_step_is_shown_first_and_after_a_run(open_app: Open) -> None:
    view = view_of(open_app())
    for trace in (view.trace, make_trace(7)):
        view.select(0)
        view.show(trace, "run")
        assert view.steps[view.selected].entropy == max(step.entropy for step in view.steps)


def test_the_selected_step_is_in_the_address_and_comes_back_with_it(open_app: Open) -> None:
    app = open_app()
    first = view_of(app).selected
    for selected, word in ((first, None), (first + 1, str(first + 1)), (first, None)):
        view_of(app).select(selected)
        assert app.run().query_params.get("step") == word
    for linked, selected in (("3", 3), ("12", first), ("x", first)):
        reopened = open_page("decode.py", {}, step=linked)
        assert view_of(reopened).selected == selected
        problem = f"“{linked}” in the link is no step of this run"
        assert [problem in toast.value for toast in reopened.toast] == [True] * (linked != "3")


def test_the_next_uncertain_step_has_more_entropy_than_the_mean(open_app: Open) -> None:
    app = open_app()
    entropies = [step.entropy for step in view_of(app).steps]
    expected = [
        at for at, entropy in enumerate(entropies) if entropy > sum(entropies) / len(entropies)
    ]
    view_of(app).select(0)
    assert expected and strip_data(app.run())["marked"] == expected
