"""Another token on the Decode page: the run that goes on, its link, and the tree of runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.record.trace import Trace
from core.models.scripted import ScriptedModel
from pages.ui.decode.branches import family_of
from pages.ui.decode.controls import MAX_GIVEN
from pages.ui.decode.state import DecodeView
from pages.ui.run.files.link_run import link_to
from tests.ui import seen
from tests.ui.conftest import Open, serve
from tests.ui.knobs import move
from tests.ui.seen import charts, strip_data, texts

settle = partial(seen.settle, key="view")


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one, which never ends by itself."""
    likely = [0.0, 0.1, 0.25, 0.2, 0.2, 0.1, 0.1, 0.05]
    return serve(monkeypatch, ScriptedModel({(): likely}, model_id="embedded:target"))


def view_of(app: AppTest) -> DecodeView:
    return cast(DecodeView, app.session_state["view"])


def shown(app: AppTest) -> Trace:
    trace = view_of(app).trace
    assert trace is not None
    return trace


def first_run(open_app: Open, **parameters: str) -> AppTest:
    app = open_app(prompt="the cat", tokens="12", top_p="1", seed="3", **parameters)
    return settle(app.button(key="start").click().run())


def go_on(app: AppTest, at: int, *, text: str = "", seed: int | None = None) -> AppTest:
    """Take the first other candidate of a step, or a text."""
    view_of(app).select(at)
    move(app.run(), "fork", True).run()
    step = f"{view_of(app).number}_{at}"
    if text:
        app.text_input(key=f"fork_text_{step}").set_value(text)
    if seed is not None:
        app.number_input(key=f"fork_seed_{step}").set_value(seed)
    return settle(app.run().button(key="go_on").click().run())


def test_a_run_goes_on_with_another_token_and_a_link_makes_it_again(open_app: Open) -> None:
    app = first_run(open_app)
    before = shown(app)
    app = go_on(app, 4)
    after, step = shown(app), shown(app).token_steps[4]
    assert after.token_ids[:4] == before.token_ids[:4]
    assert (step.origin, step.instead_of) == ("forced", before.token_ids[4])
    assert step.token_id == next(
        c.token_id for c in before.token_steps[4].candidates if c.token_id != before.token_ids[4]
    )
    assert view_of(app).selected == 4 and view_of(app).source == "run"
    assert after.checks and all(check.passed for check in after.checks)
    kinds = [token[3] for token in strip_data(app)["tokens"]]
    assert [at for at, kind in enumerate(kinds) if "forced" in kind] == [4]
    assert "forced; the model picked" in strip_data(app)["tokens"][4][2]
    given = ".".join(map(str, after.token_ids[:5]))
    assert app.query_params["given"] in (given, [given])
    assert "1" in app.query_params["run"]
    link = link_to(view_of(app), after)
    assert link is not None and link.lost == "" and link.parameters["given"] == given
    said = {name: held for name, held in link.parameters.items() if held is not None}
    again = settle(open_app(**said, run="1"))
    assert shown(again).token_ids == after.token_ids
    assert shown(again).token_steps[4].origin == "forced"


def test_run_begins_anew_without_the_given_tokens(open_app: Open) -> None:
    app = first_run(open_app)
    before = shown(app)
    app = go_on(app, 2)
    assert shown(app).token_ids != before.token_ids
    app = settle(app.button(key="start").click().run())
    assert shown(app).token_ids == before.token_ids
    assert "given" not in app.query_params


def test_a_text_and_another_seed_are_taken(open_app: Open) -> None:
    app = first_run(open_app)
    before = shown(app)
    app = go_on(app, 3, text=" home.", seed=11)
    after = shown(app)
    assert [step.text for step in after.token_steps[3:5]] == [" home", "."]
    assert after.token_ids[:3] == before.token_ids[:3]
    assert after.config.seed == 11  # type: ignore[attr-defined]
    assert all(check.passed for check in after.checks)


def test_the_runs_make_a_tree_from_which_one_is_shown_or_removed(open_app: Open) -> None:
    app = first_run(open_app)
    first = shown(app)
    assert "branches" not in charts(app) and family_of(view_of(app)) is None
    app = go_on(app, 2)
    second = shown(app)
    app = go_on(app, 6)
    app.session_state["look"] = "Branches"
    app.run()
    assert "branches" in charts(app)
    family = family_of(view_of(app))
    assert family is not None and family.shown == 2
    assert [(b.name, b.parent, b.at_step) for b in family.tree.branches] == [
        ("Run 1", None, 0),
        ("Run 2", 0, 2),
        ("Run 3", 1, 6),
    ]
    assert "Run 2, step 7: " in texts(app) and "nats" in texts(app)
    app.button(key="branch_0").click().run()
    assert shown(app).steps is first.steps and view_of(app).source == "run"
    app.button(key="branch_remove_1").click().run()
    family = family_of(view_of(app))
    assert family is not None
    assert [(b.name, b.parent, b.at_step) for b in family.tree.branches] == [
        ("Run 1", None, 0),
        ("Run 2", 0, 2),
    ]
    assert second.steps not in [trace.steps for trace, _ in view_of(app).runs]
    app.button(key="branch_remove_1").click().run()
    assert family_of(view_of(app)) is None
    assert "branches" not in charts(app) and not app.exception


def test_the_example_is_the_first_run_of_its_tree(open_app: Open) -> None:
    app = open_app()
    example = replace(shown(app), prompt_ids=(1, 2))
    view_of(app).trace = example
    app = go_on(app, 0, text=" cat")
    family = family_of(view_of(app))
    assert family is not None and family.tree.branches[0].name == "Example"
    assert shown(app).prompt == example.prompt and shown(app).token_ids[0] == 2


@pytest.mark.parametrize("word", ["abc", "5..6", "-1", "5.", "1" * 12, "5." * MAX_GIVEN + "5"])
def test_a_link_with_other_than_ids_is_refused(open_app: Open, word: str) -> None:
    app = open_app(given=word)
    assert "in the link is not ids with dots between" in app.toast[0].value
    assert "given" not in app.query_params


def test_a_link_with_ids_that_the_model_lacks_says_so(open_app: Open) -> None:
    app = settle(open_app(prompt="the cat", given="5.999", run="1"))
    assert "#999" in texts(app) and view_of(app).source == "example"


def test_more_given_tokens_than_a_link_holds_are_named_as_lost(open_app: Open) -> None:
    app = go_on(first_run(open_app), 4)
    trace = shown(app)
    steps, count = trace.token_steps, MAX_GIVEN
    many = replace(
        trace,
        token_ids=trace.token_ids[:5] * count,
        steps=(trace.steps[0], *(replace(steps[4], index=at) for at in range(count))),
    )
    link = link_to(view_of(app), many)
    assert link is not None and "the tokens that were given" in link.lost
    assert "given" not in link.parameters
