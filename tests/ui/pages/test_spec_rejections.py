"""The tab of rejections on the speculative page, and the named pattern of a broken draft."""

from __future__ import annotations

import json

import pytest
import torch

from benchmarks.broken_drafts import BrokenDraft
from core import Speculative, Trace, collect, load_model
from core.decoding.record.trace import Check
from core.decoding.speculative.analysis.rejections import rejections
from core.figures.speculative.drafts.patterns import pattern_words
from pages.ui.speculative.state import SpecView
from pages.ui.speculative.tabs import sentences
from tests.figures.specs import make_spec, timed
from tests.ui.conftest import Open, set_example
from tests.ui.seen import charts, markup, texts


def broken() -> Trace:
    """Return a run whose draft has the same logits everywhere."""
    model = load_model("embedded:draft")
    row = torch.linspace(-4, 4, model.vocab_size)
    draft = BrokenDraft(model, change=lambda logits: row.expand(logits.shape))
    config = Speculative(draft_length=3, max_new_tokens=24)
    return collect(load_model("embedded:target"), "Once upon a time", config, draft=draft)


def test_the_tab_has_calibration_classes_and_a_row_for_each_rejection(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = make_spec(30)
    set_example(monkeypatch, SpecView, trace)
    app = open_app("speculative.py", **{"spec-look": "rejections"})
    assert {"calibration", "classes"} <= set(charts(app))
    rejected = list(rejections(trace))
    frames = [element.value for element in app.dataframe]
    shown = next(frame for frame in frames if "rejection_prob" in frame)
    assert rejected and len(shown) == len(rejected)
    assert "Constant draft" not in texts(app)


def test_a_rejected_token_says_what_the_draft_knew_and_the_target_preferred() -> None:
    trace = make_spec(30)
    for found in rejections(trace):
        words = sentences(trace, found.round, found.place)["token-words"]
        assert words.startswith("The source: the draft model gave ")
        assert "The target prefers" in words or "the target's likeliest token too" in words
        assert "accepted with probability" in words


def test_a_broken_draft_is_named_under_what_to_notice(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = broken()
    set_example(monkeypatch, SpecView, trace)
    app = open_app("speculative.py", **{"spec-look": "time"})
    words = pattern_words(trace)
    assert words.startswith("Constant draft: in all")
    assert words in [element.value for element in app.text]


@pytest.mark.parametrize(
    ("settings", "once"),
    [
        ({}, "min(1,"),
        ({"temperature": 0.0}, "most probable"),
        ({"acceptance": "typical"}, "threshold"),
    ],
)
def test_the_probability_of_a_rejection_is_said_once(
    settings: dict[str, object], once: str
) -> None:
    trace = make_spec(30, **settings)
    found = list(rejections(trace))
    assert found
    for rejected in found:
        words = sentences(trace, rejected.round, rejected.place)["token-words"]
        assert words.count(once) == 1


def test_exact_match_and_blocks_have_a_probability_besides_their_draw() -> None:
    for rule, words in (("exact", "draws another token with"), ("block", "nor a later token")):
        trace = make_spec(30, acceptance=rule)
        for rejected in rejections(trace):
            assert words in sentences(trace, rejected.round, rejected.place)["token-words"]


def test_a_source_without_probabilities_says_so_in_place_of_an_empty_figure(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_example(monkeypatch, SpecView, make_spec(30, drafter="jacobi"))
    app = open_app("speculative.py", **{"spec-look": "rejections"})
    assert "calibration" not in charts(app) and "classes" in charts(app)
    assert "gives its drafts no probabilities" in texts(app)


def test_the_page_says_that_a_source_hardly_helps(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = timed(make_spec(30, drafter="jacobi", temperature=1.5), 0.09, 1.0, 0.0)
    set_example(monkeypatch, SpecView, trace)
    app = open_app("speculative.py", **{"spec-look": "time"})
    assert "These drafts hardly help here" in texts(app)
    assert "but scoring them takes longer" in markup(app)
    set_example(monkeypatch, SpecView, timed(make_spec(30), 0.0, 1.0, 0.0))
    app = open_app("speculative.py", **{"spec-look": "time"})
    assert "hardly help" not in texts(app)
    assert "but scoring them takes longer" not in markup(app)


def test_failed_checks_stand_first_in_the_list_of_the_proof(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = make_spec(12)
    detail = "the draft's differ, first in round 1"
    failed = Check("forwards_again", False, 2.0, 1.0, detail)
    trace = trace.with_checks((*trace.checks, failed))
    set_example(monkeypatch, SpecView, trace)
    app = open_app("speculative.py")
    drawn = [json.loads(element.proto.json or "{}") for element in app.get("bidi_component")]
    (rows,) = (data["checks"] for data in drawn if "checks" in data)
    assert [row["passed"] for row in rows[:2]] == [False, True]
    assert rows[0]["detail"] == detail
