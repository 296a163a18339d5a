"""A constraint on the pages of beam search, speculation, reasoning, and Inside."""

from __future__ import annotations

import pytest

from core import Greedy, Shaping, collect
from core.decoding.constraints.reading import constrained_steps
from core.decoding.constraints.value import Constraint
from core.figures.base.labels import NBSP
from core.figures.base.paper import WIDE
from core.figures.base.theme import LIGHT
from core.figures.constraint.words import path_of
from core.models.scripted import ScriptedModel
from pages.ui.beam import save as beam
from pages.ui.beam.state import BeamView
from pages.ui.inside import boxes
from pages.ui.reasoning import save as reasoning
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import changed
from pages.ui.speculative import save as speculative
from pages.ui.speculative.state import SpecView
from tests.ui.conftest import Open
from tests.ui.knobs import move
from tests.ui.seen import charts, settle, texts

RULE = {"constraint": "regex", "rule_regex": "[a-c]{3}", "prompt": "Once"}
PAGES = {
    "beam": (BeamView.key, "beam-look", beam),
    "speculative": (SpecView.key, "spec-look", speculative),
    "reasoning": (ReasonView.key, "reason_look", reasoning),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_run_shows_what_was_allowed_and_its_price(open_app: Open, page: str) -> None:
    key, look, save = PAGES[page]
    app = open_app(f"{page}.py", **RULE)
    app = settle(app.button(key="start").click().run(), key)
    view = app.session_state[key]
    trace = view.trace
    assert trace.config.shaping.constraint is not None
    answer = [step.text for step in trace.token_steps if step.phase == "answer"]
    text = "".join(answer) or trace.text
    assert len(text) == 3 and set(text) <= set("abc")
    assert constrained_steps(trace, path_of(trace))
    assert ("The constraint allows" in texts(app)) == (page != "reasoning")
    app = settle(move(app, look, "Constraint").run(), key)
    assert "constraint" in charts(app)
    app = settle(app.button(key="run_free").click().run(), key)
    assert view.free is not None and view.free.config.shaping.constraint is None
    part = next(part for part in save.parts(view, trace) if part.name == "constraint")
    assert "The free run's " in part.figure(LIGHT, WIDE).layout.meta["subtitle"]


def test_inside_counts_the_allowed_tokens_and_names_the_rule() -> None:
    model = ScriptedModel({(): [0.02, 0.5, 0.3, 0.18]}, tokens=["<end>", "a", "b", "c"])
    rule = Constraint("regex", "[bc]b")
    trace = collect(model, "a", Greedy(shaping=Shaping(constraint=rule)))
    shown = [boxes.picture(trace, step, None, "").inside[2]["pairs"] for step in trace.token_steps]
    assert [dict(pairs)["constraint"] for pairs in shown] == [
        f"2 of 4 tokens allowed: S = 48.0{NBSP}%, ln{NBSP}S{NBSP}={NBSP}−0.73",
        f"1 of 4 tokens allowed, forced: S = 30.0{NBSP}%, ln{NBSP}S{NBSP}={NBSP}−1.20",
        f"1 of 4 tokens allowed, forced: S = 2.0{NBSP}%, ln{NBSP}S{NBSP}={NBSP}−3.91",
    ]
    free = collect(model, "a", Greedy(max_new_tokens=1))
    pairs = boxes.picture(free, free.token_steps[0], None, "").inside[2]["pairs"]
    assert "constraint" not in dict(pairs)
    assert changed._in_words("shaping.constraint", rule) == "constraint regex [bc]b"
