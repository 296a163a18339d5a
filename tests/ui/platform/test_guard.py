"""A page, a fragment or a callback that raises leaves the rest of the app standing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.testing.v1 import AppTest

from core.decoding.errors import ConfigError
from core.decoding.reasoning.config import Reasoning
from pages.ui.decode import controls as decode_controls
from pages.ui.decode import page as decode_page
from pages.ui.lab import controls as lab_controls
from pages.ui.platform import fragments, guard
from pages.ui.reasoning import controls as reasoning_controls
from pages.ui.shell import sidebar
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import in_words
from tests.ui.conftest import ROOT, Open
from tests.ui.knobs import move, shown_knobs
from tests.ui.seen import charts, texts

SECRET = "no visitor may read this"


def fail(*_: object, **__: object) -> None:
    raise RuntimeError(SECRET)


def test_a_page_that_raises_says_so_and_offers_a_way_on(open_app: Open, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(decode_page, "draw", fail)
        app = open_app(tokens="77")
        assert guard.UNEXPECTED in texts(app) and SECRET not in texts(app)
        assert app.text_area(key="prompt").value and app.number_input(key="tokens").value == 77
        app.session_state["best_samples"] = 3
        move(app, "temperature", 1.5).run()
    logged = capsys.readouterr().err
    assert logged.count(f"RuntimeError: {SECRET}") == 1 and "Traceback" in logged
    app.button(key="start_afresh").click().run()
    assert not app.exception and guard.UNEXPECTED not in texts(app)
    assert "Example" in texts(app) and app.number_input(key="tokens").value == 40
    assert app.session_state["best_samples"] == 3
    assert app.session_state["temperature"] == control.row_of("temperature").default


def test_a_callback_that_raises_leaves_the_page_and_is_told_once(open_app: Open, monkeypatch):
    monkeypatch.setattr(sidebar, "_new_seed", fail)
    app = open_app()
    drawn = charts(app)
    app.button(key="new_seed").click().run()
    assert not app.exception
    assert guard.UNEXPECTED in texts(app) and charts(app) == drawn
    app.run()
    assert guard.UNEXPECTED not in texts(app)


def test_a_fragment_that_raises_takes_nothing_else_away(open_app: Open, monkeypatch):
    monkeypatch.setattr(lab_controls, "_roll", fail)
    app = open_app("sampling.py")
    assert guard.UNEXPECTED in texts(app) and SECRET not in texts(app)
    assert "top_k" in shown_knobs(app) and "Roll" in texts(app)
    again = [button for button in app.button if button.label == "Try again"]
    assert len(again) == 1
    again[0].click().run()
    assert not app.exception and guard.UNEXPECTED in texts(app)


def test_every_fragment_is_guarded():
    for path in [*(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]:
        if path != Path(fragments.__file__):
            assert "st.fragment" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"wait_text": "x</think>"}, "Wait word must not close the thinking, got 'x</think>'"),
        ({"max_thinking_tokens": -1}, "Thinking budget must lie in [0, 100000], got -1."),
        ({"top_candidates": 0}, "Top candidates must lie in"),
    ],
)
def test_a_wrong_setting_is_named_as_the_page_names_it(wrong, said):
    assert decode_controls.COMMON and reasoning_controls.COMMON
    with pytest.raises(ConfigError) as error:
        Reasoning(**wrong)
    assert in_words(error.value).startswith(said)
    assert in_words(ConfigError("budgets must rise.")) == "budgets must rise."


def test_who_goes_to_another_page_gets_there_though_this_one_begins_anew(monkeypatch) -> None:
    guard.guard_pages()
    requests = ScriptRequests()
    requests.request_rerun(RerunData(page_script_hash="next"))
    context = SimpleNamespace(page_script_hash="this")
    monkeypatch.setattr(guard, "get_script_run_ctx", lambda **_: context)
    assert requests.request_rerun(RerunData(page_script_hash="this"))
    assert requests.on_scriptrunner_yield().rerun_data.page_script_hash == "next"
    requests.request_rerun(RerunData(page_script_hash="this"))
    requests.request_rerun(RerunData(page_script_hash="switched to"))
    assert requests.on_scriptrunner_yield().rerun_data.page_script_hash == "switched to"


def asks(page: str, *told: str, part: str = "") -> ClientState:
    request = ClientState(page_script_hash=page, fragment_id=part)
    for widget in told:
        request.widget_states.widgets.add(id=widget, int_value=1)
    return request


def walk(*asked: tuple[ClientState, str]) -> list[bool]:
    """Return for each request whether it is answered, given the page shown at its arrival."""
    way, answered = guard._Navigation(), []
    for request, shown in asked:
        after = way.after(request, shown)
        answered.append(after is not None)
        way = after or way
    return answered


def test_who_goes_back_gets_there_though_the_page_told_of_the_sidebar() -> None:
    """A page without a prompt tells of the prompt for a while: the browser still holds it."""
    assert (
        walk(
            (asks("decode", "model", "prompt", "temperature"), "decode"),
            (asks("reasoning", "model", "prompt"), "decode"),
            (asks("reasoning", "model", "prompt", "budget"), "reasoning"),
            (asks("decode", "model"), "reasoning"),
            (asks("reasoning", "model", "prompt"), "decode"),
        )
        == [True] * 5
    )


def test_a_page_that_was_left_brings_nobody_back() -> None:
    on, off = asks("decode", "model", "menu"), asks("beam", "model")
    assert walk((on, "decode"), (off, "decode"), (on, "decode"), (on, "beam")) == [
        *(True, True),
        *(False, False),
    ]
    # Nor where another page was asked for meanwhile.
    assert walk(
        *((on, "decode"), (off, "decode"), (asks("inside", "model"), "decode"), (on, "decode"))
    ) == [True, True, True, False]
    assert walk((on, "decode"), (off, "decode"), (asks("decode", part="a"), "beam")) == [
        *(True, True),
        False,
    ]


def test_a_page_is_drawn_from_its_root_on() -> None:
    def script() -> None:
        import streamlit as st
        from streamlit.delta_generator_singletons import context_dg_stack

        from pages.ui.platform import guard

        left = st.container()
        context_dg_stack.set((*context_dg_stack.get(), left))
        st.text("inside")
        guard.begin_at_root()
        st.text("at the root")

    app = AppTest.from_function(script).run()
    assert [text.value for text in app.text] == ["inside", "at the root"]
    first, second = app.main.children.values()
    assert [text.value for text in first.text] == ["inside"] and second.value == "at the root"
