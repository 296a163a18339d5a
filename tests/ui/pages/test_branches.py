"""Another token on the Decode page: the run that goes on, its link, and the tree of runs."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.record.forks import candidates_above, steps_to_fork
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.figures.base.records import forced_words
from core.models.scripted import ScriptedModel
from core.traces.tree_file import tree_json
from pages.ui.decode import another, branches, forks, state, trees
from pages.ui.decode import save as decode_save
from pages.ui.decode.branches import shown_tree
from pages.ui.decode.controls import MAX_GIVEN
from pages.ui.decode.state import DecodeView, ForkedRun
from pages.ui.decode.trees import SessionTree
from pages.ui.run.files.link_run import link_to
from tests.depth import slow
from tests.ui import seen
from tests.ui.conftest import ROOT, Open, serve
from tests.ui.knobs import move, trigger
from tests.ui.seen import charts, specs, strip_data, texts

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
    run = view_of(app).number
    if text:
        app.text_input(key=f"fork_text_{run}").set_value(text)
    if seed is not None:
        app.number_input(key=f"fork_seed_{run}").set_value(seed)
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
    assert "the pick was" in strip_data(app)["tokens"][4][2]
    ids = ".".join(map(str, after.token_ids[:5]))
    assert app.query_params["given"] in (ids, [ids])
    assert "1" in app.query_params["run"]
    link = link_to(view_of(app), after)
    assert link is not None and link.lost == "" and link.parameters["given"] == ids
    parameters = {name: held for name, held in link.parameters.items() if held is not None}
    again = settle(open_app(**parameters, run="1"))
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


def test_a_text_that_comes_with_the_press_is_taken(open_app: Open) -> None:
    app = first_run(open_app)
    view_of(app).select(3)
    move(app.run(), "fork", True).run()
    app.text_input(key=f"fork_text_{view_of(app).number}").set_value(" home")
    app = settle(app.button(key="go_on").click().run())
    assert shown(app).token_steps[3].text == " home"


def tree_of(app: AppTest) -> SessionTree:
    tree = shown_tree(view_of(app))
    assert tree is not None
    return tree


def places(app: AppTest) -> list[tuple[int | None, int]]:
    return [(branch.parent, branch.at_step) for branch in tree_of(app).tree.branches]


def grown(open_app: Open) -> AppTest:
    """A run, one that went on from it, and one that went on from that."""
    app = go_on(go_on(first_run(open_app), 2), 6, text=" home.")
    app.session_state["look"] = "Branches"
    return app.run()


def pick(app: AppTest, place: int) -> AppTest:
    """Pick a run of the list."""
    return settle(trigger(app, "branch-list", "picked", str(place)))


def test_the_runs_make_a_tree_in_which_each_can_be_shown(open_app: Open) -> None:
    app = first_run(open_app)
    first = shown(app)
    assert "branches" not in charts(app) and shown_tree(view_of(app)) is None
    app = grown(open_app)
    assert "branches" in charts(app)
    assert places(app) == [(None, 0), (0, 2), (1, 6)]
    assert tree_of(app).place(shown(app)) == 2
    names = [branch.name for branch in tree_of(app).tree.branches]
    assert names[0] == "First run" and names[2] == "home."
    rows = branches._rows(tree_of(app).tree)
    assert rows[2][3][1] == f"{names[1]}, step 7" and "rank" in rows[2][3][2]
    assert len(view_of(app).runs) == 1
    assert first.token_ids == view_of(app).runs[0][0].token_ids


def test_a_run_of_a_tree_is_renamed_and_removed(open_app: Open) -> None:
    app = grown(open_app)
    app.text_input(key=f"branch_name_{view_of(app).number}").set_value("  The  end ").run()
    assert tree_of(app).tree.branches[2].name == "The end"
    assert "The end" in json.dumps(specs(app))
    app.button(key="branch_remove").click().run()
    assert places(app) == [(None, 0), (0, 2)] and tree_of(app).place(shown(app)) == 1
    app.button(key="branch_remove").click().run()
    assert shown_tree(view_of(app)) is None and view_of(app).source == "run"
    assert "branches" not in charts(app) and not app.exception


@pytest.mark.parametrize("name", [slow(""), "   ", slow("x" * 41)])
def test_a_name_that_a_run_can_not_have_is_refused_in_a_sentence(open_app: Open, name: str) -> None:
    app = grown(open_app)
    key = f"branch_name_{view_of(app).number}"
    app.text_input(key=key).set_value(name).run()
    assert tree_of(app).tree.branches[2].name == app.text_input(key=key).value == "home."
    assert f"1 to 40 characters, got {len(name.strip())}" in texts(app)
    app.text_input(key=key).set_value("other").run()
    assert "characters, got" not in texts(app)


def test_a_typed_text_stays_while_the_menu_is_closed(open_app: Open) -> None:
    app = first_run(open_app)
    view_of(app).select(3)
    move(app.run(), "fork", True).run()
    key = f"fork_text_{view_of(app).number}"
    app.text_input(key=key).set_value(" home").run()
    for is_open in (False, True):
        move(app, "fork", is_open).run()
    assert app.text_input(key=key).value == " home"


def test_a_typed_text_stays_while_another_step_is_drawn(open_app: Open) -> None:
    app = first_run(open_app)
    move(app, "fork", True).run()
    field = next(field for field in app.text_input if field.label == "or type a text")
    field.set_value(" home").run()
    view_of(app).select(5)
    app.run()
    again = next(field for field in app.text_input if field.label == "or type a text")
    assert (again.key, again.value) == (field.key, " home")
    app = settle(app.button(key="go_on").click().run())
    assert shown(app).token_steps[5].text == " home"
    view_of(app).select(6)
    move(app, "fork", True).run()
    assert app.text_input(key=f"fork_text_{view_of(app).number}").value == ""


def test_a_chosen_candidate_replaces_the_typed_text(open_app: Open) -> None:
    app = first_run(open_app)
    view_of(app).select(5)
    move(app.run(), "fork", True).run()
    run = view_of(app).number
    app.text_input(key=f"fork_text_{run}").set_value(" home").run()
    candidate = shown(app).token_steps[5].candidates[-1].token_id
    app.selectbox(key=f"fork_token_{run}_5").set_value(candidate).run()
    assert app.text_input(key=f"fork_text_{run}").value == ""
    app = settle(app.button(key="go_on").click().run())
    assert shown(app).token_ids[5] == candidate


def test_a_pick_outside_the_candidates_is_told_by_its_text(open_app: Open) -> None:
    app = go_on(first_run(open_app), 4)
    tree, view, pick = tree_of(app), view_of(app), shown(app).token_steps[4].instead_of
    assert pick is not None
    text = next(c.text for c in shown(app).token_steps[4].candidates if c.token_id == pick)
    trace = shown(app)
    steps = tuple(
        replace(step, candidates=tuple(c for c in step.candidates if c.token_id != pick))
        for step in trace.token_steps
    )
    first, second = tree.tree.branches
    view.trace = replace(trace, steps=steps)
    tree.tree = replace(tree.tree, branches=(first, replace(second, trace=view.trace)))
    assert forced_words(steps[4], text_of=view.text_of).endswith(f"the pick was {text}")
    view.trees.clear()
    words = forced_words(steps[4], text_of=view.text_of)
    assert words.endswith(f"a token that the file does not name (id {pick})")


def test_the_list_and_the_figure_show_a_run(open_app: Open) -> None:
    app = grown(open_app)
    texts_of = [branch.trace.text for branch in tree_of(app).tree.branches]
    assert shown(pick(app, 0)).text == texts_of[0]
    assert view_of(app).source == "run"
    app = settle(trigger(app, "chart-branches", "clicked", {"mark": [1]}))
    assert shown(app).text == texts_of[1] and view_of(app).selected == 2


def test_a_tree_s_file_brings_it_back_without_its_proofs(open_app: Open) -> None:
    tree = tree_of(grown(open_app)).tree
    app = open_app()
    app.file_uploader(key="trace_file").upload(
        "tree.json", tree_json(tree).encode(), "application/json"
    ).run()
    app = settle(app)
    assert (
        view_of(app).source == "file" and shown(app).token_ids == tree.branches[0].trace.token_ids
    )
    app.session_state["look"] = "Branches"
    app.run()
    assert places(app) == [(None, 0), (0, 2), (1, 6)]
    assert not any(branch.trace.checks for branch in tree_of(app).tree.branches)
    app = pick(app, 2)
    assert shown(app).checks and view_of(app).source == "file"
    app = go_on(app, 8)
    assert places(app)[3] == (2, 8) and view_of(app).source == "run"
    app.session_state["look"] = "Branches"
    assert view_of(pick(app.run(), 1)).source == "file"


def test_a_tree_of_other_methods_alone_is_refused_in_a_sentence(open_app: Open) -> None:
    beams = Trace.load(ROOT / "assets/traces/beam.json")
    app = open_app()
    file = tree_json(RunTree.of(beams)).encode()
    app.file_uploader(key="trace_file").upload("tree.json", file, "application/json").run()
    assert "no run that the Decode page shows" in texts(app) and not app.exception


def test_the_example_is_the_first_run_of_its_tree(open_app: Open) -> None:
    app = open_app()
    example = replace(shown(app), prompt_ids=(1, 2))
    view_of(app).trace = example
    app = go_on(app, 0, text=" cat")
    assert tree_of(app).tree.branches[0].name == "Example"
    assert shown(app).prompt == example.prompt and shown(app).token_ids[0] == 2


def test_a_pressed_bar_chooses_the_candidate(open_app: Open) -> None:
    app = first_run(open_app)
    view_of(app).select(3)
    token_id = app.run() and view_of(app).step.candidates[-1].token_id  # type: ignore[union-attr]
    app = trigger(app, "chart-candidates", "clicked", {"mark": [3, token_id]})
    assert app.selectbox(key=f"fork_token_{view_of(app).number}_3").value == token_id
    app = settle(app.button(key="go_on").click().run())
    assert shown(app).token_ids[3] == token_id


def test_other_dice_alone_make_a_run(open_app: Open) -> None:
    app = first_run(open_app)
    before, run = shown(app), view_of(app).number
    view_of(app).select(5)
    move(app.run(), "fork", True).run()
    app.selectbox(key=f"fork_token_{run}_5").set_value(another.NONE).run()
    assert app.button(key="go_on").disabled
    app.number_input(key=f"fork_seed_{run}").set_value(8).run()
    app = settle(app.button(key="go_on").click().run())
    assert shown(app).token_ids[:5] == before.token_ids[:5]
    assert [branch.name for branch in tree_of(app).tree.branches] == ["First run", "seed 8"]
    assert not any(step.forced_as for step in shown(app).token_steps[5:])


def test_the_likeliest_tokens_grow_into_branches_that_the_run_s_own_is_not_among(
    open_app: Open,
) -> None:
    app = first_run(open_app)
    before = shown(app)
    view_of(app).select(5)
    move(app.run(), "fork", True).run()
    assert "run with each of these tokens already" not in texts(app)
    app = settle(app.button(key="grow").click().run())
    ids = [branch.trace.token_ids for branch in tree_of(app).tree.branches]
    assert len({row[5] for row in ids}) == len(ids) >= 4
    move(app.run(), "fork", True).run()
    assert app.button(key="grow").disabled
    assert "run with each of these tokens already" in texts(app)
    app.number_input(key="fork_top").set_value(8).run()
    assert not app.button(key="grow").disabled
    assert {row[:5] for row in ids} == {before.token_ids[:5]}
    assert shown(app).token_ids == before.token_ids
    likeliest = {c.token_id for c in before.token_steps[5].candidates[:4]}
    assert {row[5] for row in ids} == likeliest | {before.token_ids[5]}
    for at in range(1, len(ids)):
        assert all(outcome.passed for outcome in tree_of(app).tree.branches[at].trace.checks)
    link = link_to(view_of(app), before)
    app = pick(app, 1)
    assert link is not None and app.query_params["given"]


def test_candidates_of_a_probability_grow_at_several_steps(open_app: Open) -> None:
    app = first_run(open_app)
    before = shown(app)
    view_of(app).select(5)
    move(app.run(), "fork", True).run()
    app.number_input(key="fork_above").set_value(20.0).run()
    count = len(candidates_above(before.token_steps[5], 0.2))
    assert count and f"At most {count} run" in texts(app)
    app.number_input(key="fork_depth").set_value(2).run()
    assert "At most 31 runs of 12 tokens each." in texts(app)
    app = settle(app.button(key="grow_above").click().run())
    made = tree_of(app).tree.branches[1:]
    assert {branch.at_step for branch in made} == {5, 6} and any(b.parent for b in made)
    for branch in made:
        step = branch.trace.token_steps[branch.at_step]
        assert step.chosen.raw_prob >= 0.2 and step.token_id != before.token_ids[branch.at_step]
        assert all(outcome.passed for outcome in branch.trace.checks)
    assert shown(app).token_ids == before.token_ids and not view_of(app).failure


def test_a_growth_that_nothing_reaches_or_that_has_no_room_says_so(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = first_run(open_app)
    for most, words in ((5_000, "0 other candidates"), (20, "no room for a run more")):
        monkeypatch.setattr(trees, "MOST_TOKENS", most)
        view_of(app).select(2)
        move(app.run(), "fork", True).run()
        app.number_input(key="fork_above").set_value(50.0).run()
        assert words in texts(app) and "At most 0 runs" in texts(app)
        assert app.button(key="grow_above").disabled


def test_a_text_whose_space_is_missing_is_told_of_the_candidate_with_it(open_app: Open) -> None:
    app = first_run(open_app)
    trace = shown(app)
    at = next(at for at, s in enumerate(trace.token_steps) if at and s.text[-1:].isalnum()) + 1
    step = trace.token_steps[at]
    spaced = next(c for c in step.candidates if c.text.startswith(" "))
    view_of(app).select(at)
    move(app.run(), "fork", True).run()
    field = f"fork_text_{view_of(app).number}"
    for text, said in ((spaced.text[1:], True), (spaced.text, False), ("zz", False)):
        app.text_input(key=field).set_value(text).run()
        assert (f", with a space, has rank {spaced.rank}." in texts(app)) == said


def test_a_run_that_was_stopped_is_marked_in_the_list(open_app: Open) -> None:
    tree = tree_of(go_on(first_run(open_app), 4)).tree
    cut = replace(
        tree.branches[1], trace=replace(tree.branches[1].trace, finish_reason="cancelled")
    )
    rows = branches._rows(replace(tree, branches=(tree.branches[0], cut)))
    assert [row[3][0].endswith(" · stopped") for row in rows] == [False, True]


def test_fork_points_are_found_listed_and_shown(open_app: Open) -> None:
    app = first_run(open_app)
    before = shown(app)
    app.session_state["look"] = "Fork points"
    app.run().number_input(key="forks").set_value(3).run()
    assert "The 3 steps with the most entropy of 12" in texts(app) and "forks" not in charts(app)
    app = settle(app.button(key="find_forks").click().run())
    points = view_of(app).fork_points_of(before)
    assert [point.at_step for point in points] == steps_to_fork(before, 3)
    assert "forks" in charts(app)
    for places_shown in ((0, 1), (0, 2)):
        # Other steps, as many and from the same one on.
        some = tuple(points[place] for place in places_shown)
        view_of(app).forked.append(ForkedRun(before, some))
        drawn = next(spec for spec in specs(app.run()) if spec["data"][0]["name"] == "changed")
        assert drawn["data"][0]["x"] == [point.at_step + 1 for point in some]
    del view_of(app).forked[1:]
    app.run()
    saved = {part.name for part in decode_save.parts(view_of(app), before) if part.draw}
    assert "forks" in saved
    app = settle(trigger(app, "fork-list", "picked", "1"))
    assert shown(app).token_ids == points[1].trace.token_ids and view_of(app).source == "run"
    assert places(app) == [(None, 0), (0, points[1].at_step)]
    assert view_of(app).selected == points[1].at_step
    assert app.query_params["given"] and view_of(app).fork_points_of(shown(app)) == ()
    app = pick(app, 0)
    app.session_state["look"] = "Fork points"
    mark = {"mark": [points[0].at_step, 0]}
    app = settle(trigger(app.run(), "chart-forks", "clicked", mark))
    assert len(places(app)) == 3 and shown(app).token_ids == points[0].trace.token_ids


def test_fork_points_have_so_many_tokens_and_no_more(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "MOST_TOKENS", 30)
    app = first_run(open_app)
    trace = shown(app)
    app.session_state["look"] = "Fork points"
    app.run().number_input(key="forks").set_value(8).run()
    assert "Their runs have 30 tokens at most together." in texts(app)
    app = settle(app.button(key="find_forks").click().run())
    steps = [point.at_step for point in view_of(app).fork_points_of(trace)]
    assert steps == steps_to_fork(trace, len(steps)) and len(steps) < 8

    def most(steps: list[int]) -> int:
        return sum(trace.config.max_new_tokens - at for at in steps)

    assert most(steps) <= 30 < most(steps_to_fork(trace, len(steps) + 1))


def test_the_first_run_of_a_file_s_tree_stays_a_file_s(open_app: Open) -> None:
    app = first_run(open_app)
    view, root = view_of(app), shown(app)
    for at in range(state.MOST_TREES + 1):
        other = replace(root, steps=(*root.steps,), text=f"{at}")
        view._keep_tree(SessionTree.of_file(RunTree.of(other)))
    first = view.runs[-state.MOST_TREES - 1][0]
    assert view.tree_of(first) is None and view.source_of(first) == "file"


def test_a_cell_of_the_selected_step_opens_the_menu_with_its_token(open_app: Open) -> None:
    app = first_run(open_app)
    view_of(app).select(5)
    other = shown(app).token_steps[3].candidates[-1].token_id
    app = trigger(app.run(), "chart-heatmap", "clicked", {"mark": [3, other]})
    assert view_of(app).selected == 3 and not app.session_state["fork"]
    app = trigger(app, "chart-heatmap", "clicked", {"mark": [3, other]})
    assert app.selectbox(key=f"fork_token_{view_of(app).number}_3").value == other


def test_a_token_inside_a_character_goes_on(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = ["<end>", "the", " cat", b"\xe3\x81", b"\x82", b"\x84", " home", "."]
    whole = {(): [0.0, 0.1, 0.3, 0.3, 0.1, 0.1, 0.1, 0.0], (3,): [0, 0, 0, 0, 0.9, 0.1, 0, 0]}
    serve(monkeypatch, ScriptedModel(whole, tokens=tokens, model_id="embedded:target"))
    app = first_run(open_app)
    at = shown(app).token_ids.index(3) + 1
    token_id = {4: 5, 5: 4}[shown(app).token_ids[at]]
    view_of(app).select(at)
    move(app.run(), "fork", True).run()
    app = settle(app.button(key="go_on").click().run())
    assert shown(app).token_ids[at] == token_id and {4: "あ", 5: "い"}[token_id] in shown(app).text
    assert all(outcome.passed for outcome in shown(app).checks)
    name = tree_of(app).tree.branches[1].name
    assert name and "\ufffd" not in name


def test_a_full_tree_says_so(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_TOKENS", 40)
    app = go_on(go_on(first_run(open_app), 2), 6)
    assert len(tree_of(app).tree.branches) == 3
    before = shown(app).text
    app = go_on(app, 7)
    assert "no room for 1 run more" in texts(app) and shown(app).text == before


def test_a_text_that_the_model_cannot_read_is_refused_in_a_sentence(open_app: Open) -> None:
    app = go_on(first_run(open_app), 3, text=" zebra")
    assert shown_tree(view_of(app)) is None and view_of(app).failure.endswith(".")


@pytest.mark.parametrize("word", ["abc", "5..6", "-1", "5.", "1" * 12, "5." * MAX_GIVEN + "5"])
def test_a_link_with_other_than_ids_is_refused(open_app: Open, word: str) -> None:
    app = open_app(given=word)
    assert "in the link is not ids with dots between" in app.toast[0].value
    assert "given" not in app.query_params


def test_a_link_with_ids_that_the_model_lacks_says_so(open_app: Open) -> None:
    app = settle(open_app(prompt="the cat", given="5.999", run="1"))
    assert "#999" in texts(app) and view_of(app).source == "example"
    app = settle(app.button(key="start").click().run())
    assert view_of(app).source == "run" and "given" not in app.query_params


@pytest.mark.parametrize("prompt", ["the cat", "the dog"])
def test_a_link_s_tokens_are_for_its_own_prompt(open_app: Open, prompt: str) -> None:
    app = open_app(prompt="the cat")
    # A link whose run waits for Run.
    app.session_state["given"] = "5"
    app.session_state["given_for"] = {"model": "", "prompt": "the cat", "method": ""}
    app.text_area(key="prompt").set_value(prompt).run()
    app = settle(app.button(key="start").click().run())
    forced_steps = [step.index for step in shown(app).token_steps if step.forced_as == "given"]
    assert shown(app).prompt == prompt and forced_steps == ([0] if prompt == "the cat" else [])


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
