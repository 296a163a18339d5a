"""The beam page without a browser: its states, its searches, and what it may not show as markup."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
from streamlit.testing.v1 import AppTest

from core import guess_parents, rerank
from core.decoding.autoregressive.config import Greedy
from core.decoding.beam.compare import greedy_path
from core.decoding.beam.config import BeamSearch
from core.decoding.record.steps import NO_RECORD
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import Shaping
from core.figures.beam.window import window
from core.figures.opening import telling_node
from core.models.scripted import ScriptedModel
from pages.ui.beam import controls as beam_controls
from pages.ui.beam import save as beam_share
from pages.ui.beam import state as beam_state
from pages.ui.beam import work as beam_work
from pages.ui.beam.state import BeamView
from pages.ui.run.files import save as share
from pages.ui.widgets.controls.control import defaults
from tests.figures.beams import beam_model, make_search
from tests.figures.traces import make_trace
from tests.ui import seen
from tests.ui.conftest import Open, serve, set_example
from tests.ui.knobs import move
from tests.ui.seen import charts, markup, texts

PROMPT = " the a"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one."""
    return serve(monkeypatch, beam_model())


@pytest.fixture
def search() -> Trace:
    return make_search(5, 20, num_return_sequences=3, stop_strings=(".",))


@pytest.fixture
def open_beam(open_app: Open, monkeypatch: pytest.MonkeyPatch, search: Trace) -> Open:
    """Open the beam page on that search, with these parameters in the address."""
    set_example(monkeypatch, BeamView, search)
    return partial(open_app, "beam.py")


def view_of(app: AppTest) -> BeamView:
    return cast(BeamView, app.session_state["beam"])


settle = partial(seen.settle, key="beam")


def run(app: AppTest) -> AppTest:
    return settle(app.button(key="start").click().run())


def chart(app: AppTest, name: str) -> dict[str, object]:
    return dict(zip(charts(app), seen.specs(app), strict=True))[name]


def test_first_paint_is_the_example(open_beam: Open, search: Trace) -> None:
    app = open_beam()
    assert "Example\N{NO-BREAK SPACE}· 5 beams" in texts(app)
    assert search.hypotheses[0].text in texts(app)
    assert charts(app) == ["beam-tree", "beam-step"]


@pytest.mark.usefixtures("scripted")
def test_run_shows_the_search_that_was_asked_for_and_checks_it_against_the_model(
    open_beam: Open,
) -> None:
    app = run(open_beam(prompt=PROMPT, beams="3", beam_tokens="6"))
    trace = view_of(app).trace
    assert trace is not None and isinstance(trace.config, BeamSearch)
    assert (trace.config.num_beams, trace.config.max_new_tokens) == (3, 6)
    assert "Your run\N{NO-BREAK SPACE}· 3 beams" in texts(app)
    app = settle(app.button(key="check_model").click().run())
    checks = view_of(app).trace.checks  # type: ignore[union-attr]
    assert len(checks) > len(trace.checks) > 0 and all(check.passed for check in checks)


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
    assert "Decoding\N{NO-BREAK SPACE}· 5 steps" in texts(app)
    assert app.button(key="stop_run").click().run()
    assert job.stopping.is_set()


def test_settings_that_exclude_each_other_are_a_sentence(open_beam: Open) -> None:
    app = open_beam(beams="5", groups="2")
    for _ in range(2):
        assert not app.exception and "must divide “Beams” (5)" in texts(app)
        app.button(key="start").click().run()
        assert "decode" not in view_of(app).jobs


TABS = ("beam-look", "Hypotheses", "Greedy comparison", "Parent guesses")


def test_everything_follows_the_length_penalty_without_the_model(
    open_beam: Open, search: Trace
) -> None:
    """Words, captions, the tree and the saved page hold the new penalty and winner."""
    app = open_beam()
    move(app, "length_penalty", -2.125).run()
    assert not app.exception and not view_of(app).jobs
    best = rerank(search, length_penalty=-2.125).hypotheses[0]
    assert best.token_ids != search.hypotheses[0].token_ids
    assert "Ranked anew under length penalty \u22122.125:" in texts(app)
    assert best.text in texts(app)
    strong = next(t for t in chart(app, "beam-tree")["data"] if t["name"] == "best")  # type: ignore[attr-defined]
    assert len(strong["customdata"]) == len(best.token_ids) + 1
    for name in ("beam-tree", "beam-step"):
        caption = chart(app, name)["layout"]["words"]["caption"]  # type: ignore[index]
        assert "length penalty -2.125 " in caption
        assert caption.endswith("ranked anew after a search with length penalty 1")
    view = view_of(app)
    config = BeamSearch(num_beams=5, length_penalty=-2.125)
    page = beam_share.web_page(view, beam_state.reranked(view, search, config)[1]).decode()
    assert "length penalty -2.125 " in page and html.escape(best.text) in page
    assert json.loads(share.trace_file(search))["config"]["length_penalty"] == 1.0


@pytest.mark.parametrize(
    ("ran", "penalty", "rule", "sign"),
    [(True, 3.0, "never", 1), (False, 1.0, True, -1), (False, 3.0, "never", 0)],
)
def test_re_ranking_says_what_searching_again_would_have_done(
    open_beam: Open, ran: bool, penalty: float, rule: Any, sign: int
) -> None:
    first, again = (
        make_search(
            3, 14, ends=5, num_return_sequences=3, early_stopping=stops, length_penalty=alpha
        )
        for stops, alpha in ((ran, 1.0), (rule, penalty))
    )
    longer = len(again.beam_steps) - len(first.beam_steps)
    assert (longer > 0) - (longer < 0) == sign, "choose another setting"
    app = open_beam(early=beam_controls.EARLY[rule])
    view_of(app).show(first, "file")
    move(app, "length_penalty", penalty).run()
    sentence = next(line for line in texts(app).splitlines() if "Ranked anew" in line)
    signs = {1: "would have gone on", -1: "would have ended", 0: "return the same paths"}
    assert [key for key, words in signs.items() if words in sentence] == [sign]
    assert sign >= 0 or f"ended after step {len(again.beam_steps)}." in sentence
    assert sign == 1 or again.hypotheses[0].text in texts(app)


def test_a_click_selects_a_candidate_and_says_why_it_was_dropped(
    open_beam: Open, search: Trace
) -> None:
    app = open_beam()
    drawn = search.beam_steps[3].candidates
    place = next(p for p, c in enumerate(drawn) if c.fate == "pruned" and not c.ended)
    for node in ((3, place), (99, 0)):
        view_of(app).look_at(*node)
        assert view_of(app).node == (3, place)
    app.run()
    assert "Pruned" in texts(app) and "The last one that went on" in texts(app)
    assert chart(app, "beam-step")["layout"]["title"]["text"] == "<b>Candidates at step 4</b>"  # type: ignore[index]


def test_the_link_has_the_selected_node_and_the_window_that_turns(open_beam: Open) -> None:
    app = open_beam(span="10")
    assert app.query_params == {"span": "10"}
    app.button(key="later-steps").click().run()
    view_of(app).look_at(11, 2)
    app.run()
    assert app.query_params == {"span": "10", "node": "11.2", "first": "10"}
    again = open_beam(**app.query_params)
    assert (view_of(again).node, view_of(again).first) == ((11, 2), 10)
    assert again.query_params == app.query_params and not again.toast
    view_of(app).bring((2, 0), 10, False)
    assert not app.run().exception and view_of(app).first == 0


def test_a_run_that_a_link_makes_again_is_shown_at_the_link_s_node(
    open_beam: Open, scripted: ScriptedModel
) -> None:
    app = open_beam(prompt=PROMPT, beams="3", beam_tokens="6", run="1", node="4.1", first="2")
    app = settle(app)
    assert view_of(app).source == "run" and scripted.model_id == "embedded:target"
    assert (view_of(app).node, view_of(app).first) == ((4, 1), 2)


def test_a_node_that_the_search_lacks_is_told(open_beam: Open, search: Trace) -> None:
    for node in ("99.0", "1.999", "1.2.3"):
        app = open_beam(node=node, first="20000")
        assert view_of(app).node == telling_node(search)
        first, selected = (toast.value for toast in app.toast)
        assert selected.startswith(f"“{node}” in the link is no candidate of this search")
        assert first.startswith("“20000” in the link is no step of this search")


def test_a_selected_node_can_be_deselected(open_beam: Open) -> None:
    app = open_beam().button(key="deselect").click().run()
    assert view_of(app).node is None and charts(app) == ["beam-tree"]
    assert "No candidate is selected" in texts(app)
    assert app.query_params["node"] == "none"
    assert view_of(open_beam(node="none")).node is None


@pytest.mark.usefixtures("scripted")
def test_penalty_and_least_length_are_controls_of_the_search(open_beam: Open) -> None:
    address = {"prompt": PROMPT, "beams": "3", "beam_tokens": "8", "beam_least": "5"}
    address |= {"beam_stop": "!!", "penalty": "1.4"}
    app = run(open_beam(**address))
    trace = view_of(app).trace
    assert trace is not None and trace.config.min_new_tokens == 5
    assert trace.config.shaping == Shaping(repetition_penalty=1.4)
    assert all(len(h.token_ids) >= 5 for h in trace.hypotheses)
    assert address.items() <= app.query_params.items()
    assert trace.checks and all(check.passed for check in trace.checks)
    app.number_input(key="beam_least").set_value(12).run()
    assert "Minimum tokens must lie in [0, 8], got 12" in texts(app)


def test_the_looks_are_drawn(open_beam: Open, search: Trace) -> None:
    app, parents = open_beam(guesses="true", pruned="true"), guess_parents(search)
    assert list(seen.looks(app, *TABS))[-1] == "Parent guesses"
    assert f"{len(parents.wrong)} of {len(parents.guesses)} tokens" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_greedy_and_samples_are_compared_on_demand_and_follow_the_penalty(open_beam: Open) -> None:
    app = run(open_beam(prompt=PROMPT, beam_tokens="6", samples="3"))
    move(app, "beam-look", "Greedy comparison").run()
    app = settle(app.button(key="compare_rivals").click().run())

    def told() -> list[str]:
        hovers: list[str] = chart(app, "rivals")["data"][0]["hovertext"]  # type: ignore[index]
        assert not app.exception
        for name, text in zip(("Greedy", "Beam search", "Best of 3 samples"), hovers, strict=True):
            assert name in text
        return hovers

    before = told()
    move(app, "length_penalty", -2.0).run()
    best = rerank(view_of(app).trace, length_penalty=-2.0).hypotheses[0]  # type: ignore[arg-type]
    score = best.sum_logprob * len(best.token_ids) ** 2
    assert f"{score:.3f}".replace("-", "\u2212") in told()[1] != before[1]


def test_without_a_finished_path_or_a_step_the_page_says_so(open_beam: Open, search: Trace) -> None:
    steps = tuple(step for step in search.steps if step not in search.beam_steps[2:])
    cut = replace(search, steps=steps, method_record=NO_RECORD, finish_reason="cancelled")
    assert not any(step.finished for step in cut.beam_steps)
    app = open_beam()
    view_of(app).show(cut, "run")
    assert "No path had finished when the search stopped" in texts(app.run())
    move(app, "length_penalty", -2.0).run()
    assert "no path has finished, so there is none to rank" in texts(app)
    move(app, "beam-look", "Greedy comparison").run()
    assert "nothing to compare" in texts(app) and app.button(key="compare_rivals").disabled
    view_of(app).show(replace(cut, steps=(), token_ids=(), text=""), "run")
    assert list(seen.looks(app, *TABS))


def test_the_web_page_holds_every_step_of_a_wide_search() -> None:
    wide, view = make_search(16, 40), BeamView()
    view.show(wide, "run")
    page = beam_share.web_page(view, wide).decode()
    parts = sorted(
        {tuple(map(int, span)) for span in re.findall(r"steps (\d+) to (\d+) drawn", page)}
    )
    steps = [step for first, last in parts for step in range(first, last + 1)]
    assert len(parts) > 1 and steps == list(range(1, len(wide.beam_steps) + 1))


def test_the_window_follows_to_a_step_where_the_nodes_fill_it_early() -> None:
    wide, view = make_search(16, 20), BeamView()
    view.show(wide, "run")
    for step in (19, 0, 12, 15, 3):
        view.bring((step, 0), 20, True)
        first, last = window(wide.beam_steps, view.first, 20, pruned=True)
        assert last - first < 20 and first <= step < last
    for ahead in (1, 99):
        view.turn_to(first + ahead, 20, True)
    assert view.first == first


def test_greedy_that_ended_outside_the_first_places_is_not_called_behind(
    open_beam: Open,
) -> None:
    """It was ahead of the last survivor, and pruned all the same."""
    matches = (
        (trace, path)
        for seed in range(200)
        for trace in [make_search(2, 8, model_seed=seed, stop_strings=("a", "e"))]
        for path in [greedy_path(trace)]
        if path is not None and path.end == "pruned" and path.path[-1].ended
    )
    trace, path = next(matches)
    assert (trace.beam_steps[path.step].margin(path.path[-1]) or 0) > 0
    app = open_beam()
    view_of(app).show(trace, "file")
    move(app, "beam-look", "Greedy comparison").run()
    sentence = next(t.value for t in app.text if t.value.startswith("Greedy's path left"))
    assert "behind" not in sentence and "it ended outside the first places" in sentence


def test_two_groups_may_hold_the_same_path(open_beam: Open) -> None:
    """Without a penalty both groups search alike; each path keeps its own rank in the run."""
    twins = make_search(4, 6, num_beam_groups=2, num_return_sequences=4)
    assert len({hypothesis.token_ids for hypothesis in twins.hypotheses}) < len(twins.hypotheses)
    app = open_beam(returned="4")
    view_of(app).show(twins, "file")
    table = next(frame.value for frame in app.run().dataframe if "in the run" in frame.value)
    assert list(table["in the run"]) == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("stops", "line"),
    [((".",), "."), (("a|b", "\n", "c"), r"a\|b|\n|c"), ((), ""), (("\t.", " "), r"\t.| ")],
)
def test_several_stop_strings_stand_in_one_line(stops: tuple[str, ...], line: str) -> None:
    assert beam_controls.stop_strings(line) == stops


@pytest.mark.usefixtures("scripted")
def test_only_controls_that_act_ask_for_another_search(open_beam: Open) -> None:
    app = run(open_beam(prompt=PROMPT, beam_tokens="6"))
    for key, value in (("seed", 9), ("diversity", 0.7), ("length_penalty", 2.0)):
        assert "Changed since" not in texts(move(app, key, value).run())
    assert "Ranked anew" in texts(app)
    words = texts(move(app, "beam_least", 2).run())
    assert "Changed since this run: Minimum tokens. Press Run." in words


def test_rivals_run_as_long_as_the_search_did(search: Trace) -> None:
    greedy, draws = beam_work.rival_configs(search, 3, 7)
    assert isinstance(greedy, Greedy) and greedy.max_new_tokens == 20
    assert [draw.seed for draw in draws] == [7, 8, 9]
    assert all(draw.stop_strings == (".",) for draw in draws)
    assert all(draw.shaping.temperature == 1 for draw in draws)


def test_hostile_text_is_never_markup(open_beam: Open) -> None:
    app = open_beam()
    hostile = make_search(6, 10, hostile=True, num_return_sequences=3)
    view_of(app).show(hostile, "file")
    for _ in seen.looks(app, *TABS):
        assert "onerror" not in markup(app)
        assert "<img" not in json.dumps(chart(app, "beam-tree"))
    page = beam_share.web_page(view_of(app), hostile).decode()
    assert "<img src=x onerror" not in page and "<script>alert" not in page


def test_another_run_opens_on_the_decode_page(open_beam: Open) -> None:
    app = open_beam()
    data = share.trace_file(make_trace(5))
    app.file_uploader[0].upload("run.json", data, "application/json").run()
    assert not app.exception
    assert app.title[0].value == "Decode"


@pytest.mark.parametrize(
    "settings",
    [
        {"length_penalty": 0.5, "early_stopping": True, "stop_strings": ("!", "a|b", "x\n")},
        {
            "do_sample": True,
            "seed": 5,
            "early_stopping": "never",
            "shaping": Shaping(temperature=1.5, no_repeat_ngram_size=2),
        },
        {"num_beam_groups": 2, "diversity_penalty": 0.3, "num_return_sequences": 2},
    ],
)
def test_a_file_sets_the_controls_and_is_proved_again(
    open_beam: Open, settings: dict[str, Any]
) -> None:
    app, stored = open_beam(), make_search(4, 8, **settings)
    app.file_uploader[0].upload("run.json", share.trace_file(stored), "application/json").run()
    values = defaults() | app.session_state.to_dict()
    assert beam_controls.config(values.__getitem__) == stored.config
    assert "From a file" in texts(app) and "Changed since this run" not in texts(app)
    checks = view_of(settle(app)).trace.checks  # type: ignore[union-attr]
    assert checks and all(check.passed for check in checks)
