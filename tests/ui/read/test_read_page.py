"""The page Read: the stored example, a text of one's own, its tabs, and its address."""

from __future__ import annotations

import json
import math
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import figures
from core.decoding.reading.types import text_of
from core.decoding.record.trace import Trace
from core.figures.base.labels import settings_caption
from core.figures.base.paper import Paper
from core.figures.read.words import reading_caption
from core.models.scripted import END, ScriptedModel
from pages.ui.read import save
from pages.ui.read.state import ReadView
from pages.ui.read.work import write_own
from pages.ui.run import cost
from pages.ui.run.jobs import Job
from tests.ui.conftest import Open, serve
from tests.ui.knobs import move
from tests.ui.seen import charts, looks, markup, settle, specs, strip_data, texts

VIEW = "read-view"
EVIL = "<img src=x>"
TOKENS = (END, "a", " b", EVIL, "\n", "日", b"\xe6", b"\x97", b"\xa5")


class _Named(ScriptedModel):
    """A built-in model to the page."""

    def __init__(self) -> None:
        row = [0.2, 0.05, 0.3, 0.1, 0.05, 0.1, 0.1, 0.05, 0.05]
        super().__init__({(): row}, tokens=TOKENS, model_id="embedded:target", context_window=40)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Any:
    return serve(monkeypatch, _Named())


def view_of(app: AppTest) -> ReadView:
    found: ReadView = app.session_state[VIEW]
    return found


def read(app: AppTest, text: str) -> AppTest:
    app.text_area(key="read_text").set_value(text).run()
    return settle(app.button(key="start").click().run(), VIEW)


def test_the_first_paint_is_a_text_that_was_read(open_app: Open) -> None:
    app = open_app("read.py")
    assert charts(app) == ["favourites", "uncertainty"]
    said = texts(app)
    assert "14 of 35 tokens as expected" in said and "perplexity 79" in said
    assert "bits per byte" in said
    view = view_of(app)
    assert view.step is not None
    assert view.step.surprisal == max(step.surprisal for step in view.steps)


def test_the_save_menu_says_where_a_reading_s_file_opens(open_app: Open) -> None:
    app = move(open_app("read.py"), "save", True).run()
    button = next(b for b in app.get("download_button") if b.proto.label == "Trace file (JSON)")
    assert "shows this file on Decode" in button.proto.help


@pytest.mark.usefixtures("scripted")
def test_a_text_of_one_s_own_is_read_and_is_in_the_address(open_app: Open) -> None:
    app = read(open_app("read.py"), f"a b{EVIL}a b")
    trace = view_of(app).trace
    assert trace is not None and trace.prompt + trace.text == f"a b{EVIL}a b"
    assert "Your run" in texts(app) and "of 4 tokens as expected" in texts(app)
    assert app.query_params["read_text"] == f"a b{EVIL}a b" and app.query_params["run"] == "1"
    assert [token[0] for token in strip_data(app)["tokens"]] == [" b", EVIL, "a", " b"]
    assert EVIL not in markup(app) and EVIL not in json.dumps(specs(app))


@pytest.mark.usefixtures("scripted")
def test_a_link_reads_its_text_and_selects_its_token(open_app: Open) -> None:
    app = settle(
        open_app("read.py", read_text="a b a日 b".replace(" a", "a"), run="1", step="0"), VIEW
    )
    view = view_of(app)
    assert view.source == "run" and view.selected == 0
    assert view.trace is not None and view.trace.text == " ba日 b"


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  ", "The text is empty"),
        ("a", "The text is a single token"),
        ("a" * 41, "The text has 41 tokens; this model reads at most 40"),
        ("xyz", "No token fits"),
    ],
)
def test_a_text_that_can_t_be_read_gets_one_sentence(open_app: Open, text: str, words: str) -> None:
    app = read(open_app("read.py"), text)
    assert not app.exception and words in texts(app)
    assert charts(app)[0] == "favourites"


@pytest.mark.usefixtures("scripted")
def test_tabs_show_the_model_s_own_text_two_models_and_pins(open_app: Open) -> None:
    app = read(
        open_app("read.py", pins=f"#2\n{EVIL}", opening="2", writer="greedy", word=f"b{EVIL}"),
        "a b a b"[:3] * 4,
    )
    app.session_state["other_model"] = "embedded:draft"
    for title, chart in (
        ("This token", "candidates"),
        ("Likeliest tokens", "heatmap"),
        ("A word", "word"),
        ("The model's own", "own-text"),
        ("Two models", "two-models"),
        ("Watermark", "watermark"),
        ("Pinned tokens", "pins"),
    ):
        next(looks(app, "read_look", title))
        assert charts(settle(app, VIEW))[-1] == chart, title
    view = view_of(app)
    (spelling,) = view.result("word").spellings
    assert spelling.token_ids == (2, 3) and spelling.spaced
    assert view.result("word").probs == pytest.approx([0.3 * 0.1] * 7)
    opening, words, own = view.result("own")
    assert (opening, words) == (2, "greedy decoding")
    assert own.prompt + own.text == "a b b b b b b b"
    assert view.result("divergence").mean_kl == 0
    assert [pin.token_id for pin in view.result("pins")] == [2, 3]
    marked, opening = view.result("marked")
    assert opening.prompt_tokens == 1
    assert marked.config.shaping.watermark_key == 15_485_863
    assert EVIL not in json.dumps(specs(app)) and EVIL not in markup(app)
    assert app.query_params["read_look"] == "pins" and app.query_params["pins"] == f"#2\n{EVIL}"
    trace = view.trace
    assert trace is not None
    names = [part.name for part in save.parts(view, trace) if not part.needs]
    assert {"favourites", "word", "own-text", "two-models", "pins", "uncertainty"} <= set(names)
    assert b"perplexity" in save.web_page(view, trace)
    # Another text has none of these yet.
    read(app, "a b b")
    assert view.result("own") is None and view.result("divergence") is None


@pytest.mark.usefixtures("scripted")
def test_a_long_text_of_the_model_s_own_waits_for_a_press_and_can_be_stopped(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "LINK_TOKENS", 40)
    begun, going = Event(), Event()

    def write(job: Job, *rest: Any) -> Trace:
        begun.set()
        assert going.is_set() or job.stopping.wait(60)
        return write_own(job, *rest)

    monkeypatch.setattr("pages.ui.read.work.write_own", write)
    link = {"read_text": "aaaaaaaaaa", "run": "1", "read_look": "own", "opening": "2"}
    app = settle(open_app("read.py", **link), VIEW)
    view = view_of(app)
    assert "Up to 64 tokens." in texts(app) and not begun.is_set()
    app.button(key="confirm-own").click().run()
    assert begun.wait(60) and view.active("own")
    job = view.jobs["own"]
    app.button(key="confirm-own").click().run()
    assert job.done.wait(60)
    settle(app, VIEW)
    assert app.button(key="confirm-own").label == "Let the model write"
    assert view.active("own") is None and view.result("own") is None
    going.set()
    app.button(key="confirm-own").click().run()
    assert charts(settle(app, VIEW))[-1] == "own-text"


@pytest.mark.usefixtures("scripted")
def test_a_pin_that_is_no_token_is_refused_beside_the_recorded_ones(open_app: Open) -> None:
    app = read(open_app("read.py", pins="a b\n#2", read_look="pins"), "a b b")
    assert "takes single tokens" in texts(app)
    assert charts(app)[-1] == "pins"


def test_pins_in_a_link_open_their_tab_on_decode(open_app: Open, example: Trace) -> None:
    token = example.token_steps[3].candidates[1]
    app = open_app("decode.py", pins=f"#{token.token_id}")
    assert charts(app)[-1] == "pins"
    values = [
        next((c.raw_prob for c in step.candidates if c.token_id == token.token_id), None)
        for step in example.token_steps
    ]
    drawn = next(one for one in specs(app)[-1]["data"] if one["mode"] == "lines+markers")
    for prob, height in zip(values, drawn["y"], strict=True):
        assert (prob is None) == (height is None)
        assert prob is None or height == pytest.approx(math.log10(prob), abs=1e-6)
    # The work on the exact numbers must end before the process does.
    settle(app, "view")


def test_a_pin_that_no_candidate_is_gets_words_before_the_model_has_read(open_app: Open) -> None:
    app = open_app("decode.py", pins="#99999\nxyzzy")
    assert charts(app)[-1] != "pins"
    assert "Not among this run's candidates: #99999, xyzzy." in texts(app)
    assert "takes single tokens" in texts(settle(app, "view"))


@pytest.mark.parametrize("look", ["uncertainty", "pins"])
def test_a_token_has_one_number_in_all_figures(open_app: Open, look: str) -> None:
    app = settle(open_app("read.py", read_look=look, pins="#10"), VIEW)
    trace = view_of(app).trace
    assert trace is not None
    axis = specs(app)[-1]["layout"]["xaxis"]
    last = len(trace.prompt_ids) + len(trace.token_ids)
    assert axis["tickvals"][0] == len(trace.prompt_ids) + 1 and axis["tickvals"][-1] <= last
    assert specs(app)[-1]["data"][0]["x"][-1] == last
    assert axis["title"]["text"] == "token of the text and its number"
    assert "draw" not in json.dumps(specs(app)[-1]["layout"]["title"])


def test_parts_of_characters_are_counted_and_no_prompt_is_spoken_of(open_app: Open) -> None:
    app = read(open_app("read.py"), "😀 hello there 😀")
    said = texts(app)
    assert "are parts of a character" in said
    assert "This prompt" not in said


def test_candidates_heatmap_and_strip_count_the_text_s_tokens_too(open_app: Open) -> None:
    app = settle(open_app("read.py", read_look="candidates", step="3"), VIEW)
    before = len(view_of(app).trace.prompt_ids)
    assert f"Candidates at token {4 + before}" in json.dumps(specs(app)[-1])
    assert "at step" not in json.dumps(specs(app)[-1])
    labels = [token[2] for token in strip_data(app)["tokens"]]
    assert labels[3].startswith(f"Token {4 + before}: ")
    app = settle(open_app("read.py", read_look="heatmap"), VIEW)
    ticks = specs(app)[-1]["layout"]["xaxis"]["ticktext"]
    assert int(ticks[0]) > before
    assert "at step" not in json.dumps(specs(app)[-1])


def test_a_printed_figure_of_a_reading_names_the_text_and_no_prompt() -> None:
    trace = ReadView.load_example()
    assert trace is not None
    for caption in (
        settings_caption(trace, Paper(printed=True)),
        reading_caption(trace, Paper(printed=True)),
    ):
        assert f"text “{text_of(trace)[:40]}" in caption and "prompt “" not in caption


def test_the_tables_of_a_reading_have_its_positions() -> None:
    trace = ReadView.load_example()
    assert trace is not None
    before = len(trace.prompt_ids)
    rows = figures.candidate_bars_data(trace.token_steps[3], trace, reads=True)
    assert list(rows["position"].unique()) == [4 + before]
    cells = figures.probability_heatmap_data(trace, reads=True)
    assert cells["position"].min() == 1 + before and "step" not in cells
