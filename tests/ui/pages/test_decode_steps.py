"""The step that Decode selects: after a run, by a link, by its buttons."""

from __future__ import annotations

import pytest

from core.decoding.reading.read import read_text
from core.decoding.record.trace import Trace
from core.figures.base.theme import LIGHT
from core.figures.opening import contested_step
from core.models.scripted import ScriptedModel
from pages.ui.decode.state import DecodeView
from pages.ui.resources import examples
from pages.ui.run.figures.token_strip import tokens_of
from tests.figures.traces import make_trace
from tests.ui.conftest import Open, open_page
from tests.ui.pages.test_decode_page import run, view_of
from tests.ui.seen import strip_data, texts


def test_a_step_whose_candidates_differ_is_shown_first(open_app: Open) -> None:
    view = DecodeView()
    view.show(examples.example("decode.json", Trace.load), "example")
    ranked = sorted((c.raw_prob for c in view.step.candidates), reverse=True)
    assert ranked[0] > 1.5 * ranked[1] and ranked[2] > 0.1
    assert view.step.entropy < max(step.entropy for step in view.steps)
    shown = view_of(open_app())
    assert shown.selected == contested_step(shown.trace)


def test_a_run_keeps_the_selected_position_that_it_has() -> None:
    view = DecodeView()
    view.show(make_trace(12), "example")
    for length, selected, kept in ((9, 5, True), (4, 5, False), (9, 3, True)):
        view.select(selected)
        at = view.selected
        trace = make_trace(length)
        view.show(trace, "run")
        assert view.selected == (at if kept else contested_step(trace))
    view.select(0)
    view.show(trace, "file")
    assert view.selected == contested_step(trace)


@pytest.mark.usefixtures("open_app")
def test_a_link_s_run_opens_at_its_own_step() -> None:
    view = view_of(open_page("decode.py", {}, prompt=" ", run="1"))
    view.select(0)
    trace = make_trace(9, seed=4)
    view.show(trace, "run")
    assert view.selected == contested_step(trace) > 0
    view.select(0)
    view.show(trace, "run")
    assert view.selected == 0


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


def test_the_strip_shows_whole_characters_and_the_bytes_of_unfinished_ones_once() -> None:
    tokens = ("<end>", "a", b"\xe6", b"\x98", b"\x94", b"\xec", " had")
    model = ScriptedModel(lambda _: [1 / len(tokens)] * len(tokens), tokens=tokens)
    # 昔 in three tokens, then a byte that no token completes, and one more at the end.
    trace = read_text(model, [1, 2, 3, 4, 5, 6, 2])
    assert trace.token_steps[4].text == "\ufffd had"
    shown = [token[0] for token in tokens_of(trace, LIGHT, "probability")]
    assert shown == ["·", "·", "昔", "<EC>", " had", "<E6>"]


def test_the_page_names_the_token_that_dry_lowers(open_app: Open) -> None:
    twice = "Once upon a time there was a cat. Once upon a time there was a"
    app = run(open_app(prompt=twice, dry_multiplier="2"))
    view_of(app).select(0)
    app.run()
    assert "DRY lowers the logit of “␣cat”: by 2 × 1.75^(7 − 2) = 32.8." in texts(app)
