"""Two runs on one page: each slot has its own prompt, controls, run, step and address."""

from __future__ import annotations

import json
from collections import Counter
from typing import cast

import pytest
from streamlit.elements.lib.utils import user_key_from_element_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from core.models.scripted import ScriptedModel
from pages.ui import registry
from pages.ui.decode.state import DecodeView
from pages.ui.widgets import ahead
from tests.ui import seen
from tests.ui.conftest import ROOT, serve
from tests.ui.knobs import report, shown_knobs
from tests.ui.seen import SECONDS, data_of

LEFT, RIGHT = "a-", "b-"
DECODE = str(ROOT / "pages/decode.py")


def two_runs(script: str) -> None:
    """A page of two runs, each as the page of this script draws one."""
    import runpy

    from pages.ui.platform import fragments, guard, slot
    from pages.ui.run import shared
    from pages.ui.widgets.controls import control, link

    guard.guard_callbacks(fragments.reset)
    fragments.reset()
    for place in shared.slots(["a-", "b-"]):
        with slot.use(place):
            link.check_address()
            control.draw("prompt")
            runpy.run_path(script)


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: ` sat` or ` ran`, then the end."""
    scripted = ScriptedModel(
        {(): [0.1, 0.0, 0.1, 0.1, 0.4, 0.3, 0.0, 0.0], (4,): [0.5, 0, 0, 0, 0, 0, 0.5, 0]},
        context_window=64,
        model_id="embedded:target",
    )
    return serve(monkeypatch, scripted)


def opened(**parameters: str) -> AppTest:
    """The page of two runs, with these parameters in the address."""
    app = AppTest.from_function(two_runs, args=(DECODE,), default_timeout=SECONDS)
    app.query_params.update(parameters)
    for slot in (LEFT, RIGHT):
        view = app.session_state[f"{slot}view"] = DecodeView.initial()
        view.painted = True
    assert not app.run().exception
    return app


def view_of(app: AppTest, slot: str) -> DecodeView:
    return cast(DecodeView, app.session_state[f"{slot}view"])


def settle(app: AppTest) -> AppTest:
    for slot in (LEFT, RIGHT):
        seen.settle(app, f"{slot}view")
    return app


def keys_of(app: AppTest) -> list[str]:
    """The keys of all widgets, components and containers on the page."""
    nodes, keys = [app._tree], list[str | None]()
    for node in nodes:
        nodes += getattr(node, "children", {}).values()
        keys.append(user_key_from_element_id(getattr(getattr(node, "proto", None), "id", "")))
    return [key for key in keys if key]


def choose(app: AppTest, strip: str, index: int) -> AppTest:
    """Run the app as the browser has it run when a token was chosen in this strip."""
    states = app._tree.get_widget_states()
    name = next(name for name, data in data_of(app, "token_strip") if data["key"] == strip)
    states.widgets.append(WidgetState(id=name, json_value=json.dumps({"selected": index})))
    return app._run(states).run()


def shown(app: AppTest, strip: str) -> int:
    """The step that this strip is told to be selected."""
    strip_data = next(data for _, data in data_of(app, "token_strip") if data["key"] == strip)
    return int(strip_data["selected"])


@pytest.mark.parametrize(
    "script",
    [
        page.script
        for page in registry.PAGES
        if page.run_controls and page.slots == ("",) and page.path != "requests"
    ],
)
def test_two_runs_on_one_page_share_no_name(script: str) -> None:
    path = str(ROOT / "pages" / script)
    app = AppTest.from_function(two_runs, args=(path,), default_timeout=SECONDS).run()
    assert not app.exception
    keys = keys_of(app)
    assert len(keys) > 60 and max(Counter(keys).values()) == 1
    left, right = ({key[2:] for key in keys if key[:2] == slot} for slot in (LEFT, RIGHT))
    assert left == right and len(left) + len(right) == len(keys)


def test_each_slot_runs_its_own_prompt_under_its_own_settings() -> None:
    app = opened()
    app.text_area(key="a-prompt").set_value("the cat")
    app.text_area(key="b-prompt").set_value("the cat ran")
    app.number_input(key="b-tokens").set_value(2)
    app = settle(app.run().button(key="a-start").click().run())
    left, right = view_of(app, LEFT), view_of(app, RIGHT)
    assert left.trace is not None and left.trace.prompt == "the cat"
    assert (left.source, right.source) == ("run", "example")
    app = settle(app.button(key="b-start").click().run())
    assert right.trace is not None and right.trace.prompt == "the cat ran"
    assert (right.trace.config.max_new_tokens, left.trace.config.max_new_tokens) == (2, 40)
    assert left.trace.prompt == "the cat" and left.number == right.number
    assert {"a-run", "b-run", "b-tokens"} <= app.query_params.keys()
    assert not {"run", "a-tokens", "tokens"} & app.query_params.keys()


def test_a_chosen_step_and_a_moved_knob_are_those_of_their_slot() -> None:
    app = opened()
    first = shown(app, "a-strip")
    for at in (1, 4):
        app = choose(app, "b-strip", at)
        assert not app.exception
        assert (shown(app, "a-strip"), shown(app, "b-strip")) == (first, at)
        assert app.query_params.get("b-step") == str(at) and "a-step" not in app.query_params
    app = report(app, **{"b-temperature": 0.3}).run()
    knobs = shown_knobs(app)
    assert [knobs[f"{slot}temperature"]["value"] for slot in (LEFT, RIGHT)] == [0.8, 0.3]
    assert app.query_params["b-temperature"] == "0.3" and "a-temperature" not in app.query_params


def test_what_the_browser_fetches_ahead_is_of_one_slot() -> None:
    app = opened()
    for slot, other_slot in ((LEFT, RIGHT), (RIGHT, LEFT)):
        entry = app.session_state["offered_ahead"][f"{slot}step"]
        assert f"{slot}strip" in entry.at
        assert not any(name.startswith(other_slot) for name in entry.at)
        query = {**{name: str(value) for name, value in entry.at.items()}, f"{slot}strip": "2"}
        parts = ahead.parts(entry.secret, query)
        assert parts.keys() == {f"{slot}candidates", f"{slot}stages"}
        assert "Candidates at step 3" in parts[f"{slot}candidates"].text


def test_a_link_fills_in_the_slot_that_it_names() -> None:
    app = opened(**{"a-tokens": "7", "b-method": "greedy", "b-top_p": "7", "tokens": "9"})
    assert [app.number_input(key=f"{slot}tokens").value for slot in (LEFT, RIGHT)] == [7, 40]
    methods = [app.button_group(key=f"{slot}method").value for slot in (LEFT, RIGHT)]
    assert methods == ["sampling", "greedy"]
    assert app.query_params["b-method"] == "greedy" and "a-method" not in app.query_params
    assert "b-top_p" not in app.query_params
    assert [toast.value for toast in app.toast] == [
        "Top-p: 7 in the link lies outside 0 to 1: 0.95 is used."
    ]
