"""The beam page without a browser: its states, its searches, and what it may not show as markup."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core import guess_parents, rerank
from core.decoding.autoregressive.config import Greedy
from core.decoding.beam.compare import greedy_path
from core.decoding.beam.config import BeamSearch
from core.decoding.shaping.config import Shaping
from core.decoding.trace import Trace
from core.figures.beam.window import window
from core.figures.opening import telling_node
from core.models.scripted import ScriptedModel
from pages.ui.beam import controls as beam_controls
from pages.ui.beam import save as beam_share
from pages.ui.beam import state as beam_state
from pages.ui.beam import work as beam_work
from pages.ui.beam.state import BeamView
from pages.ui.run import save as share
from pages.ui.shell import examples, models
from pages.ui.widgets.control import defaults
from tests.figures.beams import beam_model, make_search
from tests.figures.traces import make_trace
from tests.ui import seen
from tests.ui.conftest import Open, set_example
from tests.ui.knobs import move, shown_knobs
from tests.ui.seen import charts, texts

PROMPT = " the a"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one."""
    torch.set_num_threads(1)
    model = beam_model()
    monkeypatch.setattr(models, "_cached", lambda _: model)
    return model


@pytest.fixture
def search() -> Trace:
    return make_search(5, 20, num_return_sequences=3, stop_strings=(".",))


@pytest.fixture
def open_beam(open_app: Open, monkeypatch: pytest.MonkeyPatch, search: Trace) -> Open:
    """Open the beam page on that search, with these parameters in the address."""
    set_example(monkeypatch, BeamView, search)

    def open_it(**parameters: str) -> AppTest:
        return open_app("beam.py", **parameters)

    return open_it


def view_of(app: AppTest) -> BeamView:
    view: BeamView = app.session_state["beam"]
    return view


def settle(app: AppTest) -> AppTest:
    """Wait for the workers, draw the page again."""
    return seen.settle(app, view_of(app))


def run(app: AppTest) -> AppTest:
    return settle(app.button(key="start").click().run())


def chart(app: AppTest, name: str) -> dict[str, object]:
    return dict(zip(charts(app), seen.specs(app), strict=True))[name]


def test_first_paint_is_the_example(open_beam: Open, search: Trace) -> None:
    app = open_beam()
    assert not app.exception
    assert "Example · 5 beams" in texts(app)
    assert search.hypotheses[0].text in texts(app)
    assert charts(app) == ["beam-tree", "beam-step"]


def test_the_stored_example_is_what_the_defaults_describe() -> None:
    example = BeamView.load_example()
    assert example is not None
    assert example.config == beam_controls.config(defaults().__getitem__)
    assert example.checks and all(check.passed for check in example.checks)
    assert example.hypotheses
    assert (examples.FOLDER / BeamView.example).stat().st_size < 150_000


def test_the_address_sets_the_controls(open_beam: Open) -> None:
    app = open_beam(
        beams="4", beam_tokens="9", length_penalty="-0.5", groups="2", early="Never", pruned="true"
    )
    assert app.number_input(key="beams").value == 4
    assert shown_knobs(app)["length_penalty"]["value"] == -0.5
    assert app.number_input(key="groups").value == 2
    assert app.toggle(key="pruned").value is True
    assert app.session_state["early"] == "never"


def test_the_controls_describe_a_search() -> None:
    told = {**defaults(), "seed": 5}
    plain = beam_controls.config(told.__getitem__)
    assert plain == BeamSearch(
        num_beams=5, max_new_tokens=20, num_return_sequences=3, stop_strings=(".",)
    )
    told |= {"beam_sample": True, "beam_temperature": 1.5, "ngram": 2, "early": "never"}
    drawn = beam_controls.config(told.__getitem__)
    assert drawn.draws and drawn.seed == 5 and drawn.early_stopping == "never"
    assert drawn.shaping == Shaping(temperature=1.5, no_repeat_ngram_size=2)
    told |= {"beam_sample": False, "beams": 2, "groups": 2, "diversity": 0.3}
    grouped = beam_controls.config(told.__getitem__)
    assert (grouped.num_beam_groups, grouped.diversity_penalty) == (2, 0.3)
    assert grouped.num_return_sequences == 2


def test_run_shows_the_search_that_was_asked_for(open_beam: Open, scripted: ScriptedModel) -> None:
    app = run(open_beam(prompt=PROMPT, beams="1", beam_tokens="1"))
    assert "Your run · 1 beam · 1 step · 1 path finished" in texts(app)
    app = run(open_beam(prompt=PROMPT, beams="3", beam_tokens="6"))
    assert not app.exception
    trace = view_of(app).trace
    assert trace is not None and isinstance(trace.config, BeamSearch)
    assert (trace.config.num_beams, trace.config.max_new_tokens) == (3, 6)
    assert trace.checks and all(check.passed for check in trace.checks)
    assert "Your run · 3 beams" in texts(app)
    assert scripted.model_id == trace.model_id


def test_a_search_under_way_shows_its_tree_so_far(open_beam: Open, search: Trace) -> None:
    from pages.ui.run.jobs import Job
    from pages.ui.run.request import Request

    app = open_beam()
    job = Job(stage="Decoding", steps=list(search.steps[:6]))
    view = view_of(app)
    view.jobs["decode"] = job
    view.request = Request("embedded:target", "x", search.config)
    app.run()
    assert not app.exception
    assert charts(app) == ["beam-live"]
    assert "Decoding · 5 steps" in texts(app)
    assert app.button(key="stop_run").click().run()
    assert job.stopping.is_set()


def test_settings_that_exclude_each_other_are_a_sentence(open_beam: Open) -> None:
    app = open_beam(beams="5", groups="2")
    assert not app.exception
    assert "must divide num_beams (5)" in texts(app)
    app.button(key="start").click().run()
    assert "decode" not in view_of(app).jobs
    assert "must divide num_beams (5)" in texts(app)


def test_an_empty_prompt_is_a_sentence(open_beam: Open) -> None:
    app = open_beam(prompt=" ")
    app.button(key="start").click().run()
    assert "The prompt is empty" in texts(app)


def test_without_an_example_the_page_says_what_to_do(
    open_beam: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_example(monkeypatch, BeamView, None)
    app = open_beam()
    assert not app.exception
    assert any("Press Run" in block.value for block in app.markdown)


def test_a_search_stopped_before_its_first_step_is_drawn(open_beam: Open, search: Trace) -> None:
    app = open_beam()
    empty = replace(search, steps=(), hypotheses=(), token_ids=(), text="")
    view_of(app).show(replace(empty, finish_reason="cancelled"), "run")
    for look in ("Hypotheses", "Against greedy", "Guess against truth"):
        app.session_state["beam-look"] = look
        app.run()
        assert not app.exception, look


def test_the_length_penalty_ranks_anew_without_the_model(open_beam: Open, search: Trace) -> None:
    app = open_beam()
    move(app, "length_penalty", -2.0).run()
    assert not app.exception
    found = rerank(search, length_penalty=-2.0)
    assert "Ranked anew under length penalty \u22122:" in texts(app)
    assert found.hypotheses[0].text in texts(app)
    assert not view_of(app).jobs
    strong = next(t for t in chart(app, "beam-tree")["data"] if t["name"] == "best")  # type: ignore[attr-defined]
    assert len(strong["customdata"]) == len(found.hypotheses[0].token_ids) + 1


@pytest.mark.parametrize(
    ("ran", "penalty", "early", "words"),
    [
        (True, 3.0, "never", "would have gone on"),
        (False, 1.0, "yes", "would have ended"),
        (False, 3.0, "never", "return just this"),
    ],
)
def test_re_ranking_says_what_searching_again_would_have_done(
    open_beam: Open, ran: bool, penalty: float, early: str, words: str
) -> None:
    def searched(**settings: object) -> Trace:
        return make_search(3, 14, ends=5, num_return_sequences=3, **settings)

    rule = {"no": False, "yes": True, "never": "never"}[early]
    first = searched(early_stopping=ran)
    again = searched(early_stopping=rule, length_penalty=penalty)
    longer = len(again.beam_steps) - len(first.beam_steps)
    signs = {"would have gone on": 1, "would have ended": -1, "return just this": 0}
    assert (longer > 0) - (longer < 0) == signs[words], "choose another setting"
    app = open_beam(early=beam_controls.EARLY[rule])
    view_of(app).show(first, "file")
    move(app, "length_penalty", penalty).run()
    told = next(line for line in texts(app).splitlines() if "Ranked anew" in line)
    assert [part for part in signs if part in told] == [words]
    if longer < 0:
        assert f"ended after step {len(again.beam_steps)}." in told
    if longer <= 0:
        assert again.hypotheses[0].text in texts(app)


def test_a_penalty_is_shown_with_all_its_digits(open_beam: Open) -> None:
    app = open_beam()
    move(app, "length_penalty", -0.125).run()
    assert "under length penalty \u22120.125" in texts(app)


def test_everything_follows_the_ranking(open_beam: Open, search: Trace) -> None:
    """Captions, the table behind the tree and the saved page hold the new penalty and winner."""
    app = open_beam()
    move(app, "length_penalty", -2.0).run()
    best = rerank(search, length_penalty=-2.0).hypotheses[0]
    assert best.token_ids != search.hypotheses[0].token_ids
    for name in ("beam-tree", "beam-step"):
        caption = chart(app, name)["layout"]["words"]["caption"]  # type: ignore[index]
        assert "length penalty -2 " in caption
        assert caption.endswith("ranked anew after a search with length penalty 1")
    view, wanted = view_of(app), BeamSearch(num_beams=5, length_penalty=-2.0)
    _, ranked = beam_state.reranked(view, search, wanted)
    page = beam_share.web_page(view, ranked).decode()
    assert "length penalty -2 " in page and html.escape(best.text) in page
    assert json.loads(share.trace_file(search))["config"]["length_penalty"] == 1.0


def test_other_settings_ask_for_another_run(open_beam: Open) -> None:
    app = open_beam()
    assert "Other settings differ" not in texts(app)
    app.number_input(key="beams").set_value(7).run()
    assert "Other settings differ" in texts(app)


def test_a_click_selects_a_candidate_and_says_why_it_was_dropped(
    open_beam: Open, search: Trace
) -> None:
    app = open_beam()
    step = search.beam_steps[3]
    place = next(p for p, c in enumerate(step.candidates) if c.fate == "pruned" and not c.ended)
    view_of(app).look_at(3, place)
    app.run()
    assert "Pruned" in texts(app) and "The last one that went on" in texts(app)
    assert chart(app, "beam-step")["layout"]["title"]["text"] == "<b>Candidates at step 4</b>"  # type: ignore[index]
    view_of(app).look_at(99, 0)
    assert view_of(app).node == (3, place)


def test_the_window_turns_and_follows_what_is_asked_for(open_beam: Open) -> None:
    app = open_beam(span="10")
    trace = view_of(app).trace
    assert trace is not None and len(trace.beam_steps) > 10
    app.button(key="later-steps").click().run()
    assert view_of(app).first == 10
    view_of(app).bring((2, 0), 10, False)
    app.run()
    assert view_of(app).first == 0
    assert not app.exception


def test_the_link_has_the_selected_node_and_the_window(open_beam: Open) -> None:
    app = open_beam(span="10")
    assert app.query_params == {"span": "10"}
    app.button(key="later-steps").click().run()
    view_of(app).look_at(11, 2)
    app.run()
    assert app.query_params == {"span": "10", "node": "11.2", "first": "10"}
    again = open_beam(**app.query_params)
    assert (view_of(again).node, view_of(again).first) == ((11, 2), 10)
    assert again.query_params == app.query_params and not again.toast


def test_a_run_that_a_link_makes_again_is_shown_at_the_link_s_node(
    open_beam: Open, scripted: ScriptedModel
) -> None:
    app = open_beam(prompt=PROMPT, beams="3", beam_tokens="6", run="1", node="4.1", first="2")
    app = settle(app)
    assert view_of(app).source == "run" and scripted.model_id == "embedded:target"
    assert (view_of(app).node, view_of(app).first) == ((4, 1), 2)


def test_a_node_that_the_search_lacks_is_told(open_beam: Open, search: Trace) -> None:
    for node in ("99.0", "1", "1.999", "x.y", "1.2.3"):
        app = open_beam(node=node)
        assert view_of(app).node == telling_node(search)
        assert [toast.value for toast in app.toast] == [
            f"“{node}” in the link is no candidate of this search (links count from 0): its most "
            "telling one is selected."
        ]
    app = open_beam(first="20000")
    assert app.toast[0].value == (
        "“20000” in the link is no step of this search (links count from 0): the tree begins at "
        "step 1."
    )


def test_a_selected_node_can_be_deselected(open_beam: Open) -> None:
    app = open_beam()
    app.button(key="deselect").click().run()
    assert view_of(app).node is None and charts(app) == ["beam-tree"]
    assert "No candidate is selected" in texts(app)
    assert app.query_params["node"] == "none"
    assert view_of(open_beam(node="none")).node is None


@pytest.mark.usefixtures("scripted")
def test_penalty_and_least_length_are_controls_of_the_search(open_beam: Open) -> None:
    asked = {"prompt": PROMPT, "beams": "3", "beam_tokens": "8", "beam_least": "5"}
    asked["beam_stop"] = "!!"
    app = run(open_beam(**asked, penalty="1.4"))
    trace = view_of(app).trace
    assert trace is not None and trace.config.min_new_tokens == 5
    assert trace.config.shaping == Shaping(repetition_penalty=1.4)
    assert all(len(h.token_ids) >= 5 for h in trace.hypotheses)
    assert {"penalty": "1.4", **asked}.items() <= app.query_params.items()
    assert trace.checks and all(check.passed for check in trace.checks)
    app.number_input(key="beam_least").set_value(12).run()
    assert "Minimum tokens must lie in [0, 8], got 12" in texts(app)


def test_the_looks_are_drawn(open_beam: Open, search: Trace) -> None:
    app = open_beam(guesses="true", pruned="true")
    for look in ("Against greedy", "Guess against truth", "Hypotheses"):
        app.session_state["beam-look"] = look
        app.run()
        assert not app.exception, look
    app.session_state["beam-look"] = "Guess against truth"
    app.run()
    found = guess_parents(search)
    assert f"{len(found.wrong)} of {len(found.guesses)} tokens" in texts(app)


def test_greedy_and_samples_are_compared_on_demand_and_follow_the_penalty(
    open_beam: Open, scripted: ScriptedModel
) -> None:
    app = run(open_beam(prompt=PROMPT, beam_tokens="6", samples="3"))
    app.session_state["beam-look"] = "Against greedy"
    app.run()
    app = settle(app.button(key="compare_rivals").click().run())
    assert not app.exception
    names = ["Greedy", "Beam search", "Best of 3 samples"]
    before = chart(app, "rivals")
    move(app, "length_penalty", -2.0).run()
    after = chart(app, "rivals")
    for drawn in (before, after):
        told = drawn["data"][0]["hovertext"]  # type: ignore[index]
        assert [next(name for name in names if name in text) for text in told] == names
    view = view_of(app)
    assert view.trace is not None
    best = rerank(view.trace, length_penalty=-2.0).hypotheses[0]
    score = best.sum_logprob * len(best.token_ids) ** 2
    assert f"{score:.3f}".replace("-", "\u2212") in after["data"][0]["hovertext"][1]  # type: ignore[index]
    assert before["data"][0]["hovertext"] != after["data"][0]["hovertext"]  # type: ignore[index]
    assert scripted.model_id == "embedded:target"


def test_without_a_finished_path_the_page_says_so(open_beam: Open, search: Trace) -> None:
    steps = tuple(step for step in search.steps if step not in search.beam_steps[2:])
    cut = replace(search, steps=steps, hypotheses=(), finish_reason="cancelled")
    assert not any(step.finished for step in cut.beam_steps)
    app = open_beam()
    view_of(app).show(cut, "run")
    app.run()
    assert "No path had finished when the search stopped" in texts(app)
    move(app, "length_penalty", -2.0).run()
    assert "no path has finished, so there is none to rank" in texts(app)
    app.session_state["beam-look"] = "Against greedy"
    app.run()
    assert "nothing to compare" in texts(app)
    assert app.button(key="compare_rivals").disabled
    assert not app.exception


def test_the_web_page_holds_every_step_of_a_wide_search() -> None:
    wide, view = make_search(16, 40), BeamView()
    view.show(wide, "run")
    page = beam_share.web_page(view, wide).decode()
    shown = [tuple(map(int, found)) for found in re.findall(r"steps (\d+) to (\d+) drawn", page)]
    parts = sorted(set(shown))
    assert len(parts) > 1
    steps = [step for first, last in parts for step in range(first - 1, last)]
    assert steps == list(range(len(wide.beam_steps)))


def test_the_window_follows_to_a_step_where_the_nodes_fill_it_early() -> None:
    wide, view = make_search(16, 20), BeamView()
    view.show(wide, "run")
    for step in (19, 0, 12, 15, 3):
        view.bring((step, 0), 20, True)
        first, last = window(wide.beam_steps, view.first, 20, pruned=True)
        assert last - first < 20 and first <= step < last
    before = view.first
    view.turn_to(view.first + 1, 20, True)
    view.turn_to(99, 20, True)
    assert view.first == before


def test_greedy_that_ended_outside_the_first_places_is_not_called_behind(
    open_beam: Open,
) -> None:
    """It was ahead of the last survivor, and pruned all the same."""
    found = (
        (trace, path)
        for seed in range(200)
        for trace in [make_search(2, 8, model_seed=seed, stop_strings=("a", "e"))]
        for path in [greedy_path(trace)]
        if path is not None and path.end == "pruned" and path.path[-1].ended
    )
    trace, path = next(found)
    assert (trace.beam_steps[path.step].margin(path.path[-1]) or 0) > 0
    app = open_beam()
    view_of(app).show(trace, "file")
    app.session_state["beam-look"] = "Against greedy"
    app.run()
    told = next(t.value for t in app.text if t.value.startswith("Greedy's path left"))
    assert "behind" not in told and "it ended outside the first places" in told


def test_two_groups_may_hold_the_same_path(open_beam: Open) -> None:
    """Without a penalty both groups search alike; each path keeps its own rank in the run."""
    twins = make_search(4, 6, num_beam_groups=2, num_return_sequences=4)
    ids = [found.token_ids for found in twins.hypotheses]
    assert len(set(ids)) < len(ids)
    app = open_beam(returned="4")
    view_of(app).show(twins, "file")
    app.run()
    table = next(frame.value for frame in app.dataframe if "in the run" in frame.value)
    assert list(table["in the run"]) == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("stops", "line"),
    [((".",), "."), (("a|b", "\n", "c"), r"a\|b|\n|c"), ((), ""), (("\t.", " "), r"\t.| ")],
)
def test_several_stop_strings_stand_in_one_line(stops: tuple[str, ...], line: str) -> None:
    assert beam_controls.stop_strings(line) == stops


def test_settings_that_do_nothing_ask_for_no_new_run() -> None:
    drawn = BeamSearch(do_sample=True, seed=3)
    for trace, wanted, needed in (
        (make_search(4, 12, seed=3), BeamSearch(num_beams=4, max_new_tokens=12, seed=9), False),
        (make_search(4, 12, min_new_tokens=5), BeamSearch(num_beams=4, max_new_tokens=12), True),
        (replace(make_search(), config=drawn), replace(drawn, seed=4), True),
        (replace(make_search(), config=drawn), replace(drawn, length_penalty=2.0), False),
    ):
        assert beam_state.needs_run(trace, wanted) is needed


def test_rivals_run_as_long_as_the_search_did(search: Trace) -> None:
    greedy, draws = beam_work.rival_configs(search, 3, 7)
    assert isinstance(greedy, Greedy) and greedy.max_new_tokens == 20
    assert [draw.seed for draw in draws] == [7, 8, 9]
    assert all(draw.stop_strings == (".",) for draw in draws)
    assert all(draw.shaping.temperature == 1 for draw in draws)


def test_the_check_against_the_model_adds_checks(open_beam: Open, scripted: ScriptedModel) -> None:
    app = run(open_beam(prompt=PROMPT, beam_tokens="6"))
    before = len(view_of(app).trace.checks)  # type: ignore[union-attr]
    app = settle(app.button(key="check_model").click().run())
    trace = view_of(app).trace
    assert trace is not None and len(trace.checks) > before
    assert all(check.passed for check in trace.checks)
    assert scripted.model_id == trace.model_id


def test_hostile_text_is_never_markup(open_beam: Open) -> None:
    app = open_beam()
    hostile = make_search(6, 10, hostile=True, num_return_sequences=3)
    view_of(app).show(hostile, "file")
    for look in ("Hypotheses", "Against greedy", "Guess against truth"):
        app.session_state["beam-look"] = look
        app.run()
        assert not app.exception
        for element in [*app.markdown, *app.caption, *app.get("html")]:
            body = getattr(element, "value", "") or getattr(element.proto, "body", "")
            assert "onerror" not in body
        assert "<img" not in json.dumps(chart(app, "beam-tree"))
    page = beam_share.web_page(view_of(app), hostile).decode()
    assert "<img src=x onerror" not in page and "<script>alert" not in page


def test_another_run_opens_on_the_decode_page(open_beam: Open) -> None:
    app = open_beam()
    data = share.trace_file(make_trace(5))
    app.file_uploader[0].upload("run.json", data, "application/json").run()
    assert not app.exception
    assert app.title[0].value == "Decode"


def test_a_file_sets_the_controls_and_is_proved_again(open_beam: Open) -> None:
    app = open_beam()
    stops = ("!", "a|b", "x\n")
    stored = make_search(3, 8, length_penalty=0.5, early_stopping=True, stop_strings=stops)
    data = share.trace_file(stored)
    app.file_uploader[0].upload("run.json", data, "application/json").run()
    assert beam_controls.config(lambda key: _value(app, key)) == stored.config
    assert not any("Other settings differ" in text.value for text in app.text)
    assert "From a file" in texts(app)
    app = settle(app)
    checks = view_of(app).trace.checks  # type: ignore[union-attr]
    assert checks and all(check.passed for check in checks)


def _value(app: AppTest, key: str) -> object:
    return app.session_state[key] if key in app.session_state else defaults()[key]
