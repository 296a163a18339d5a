"""The parts that the browser prefetches equal those that the page draws later."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from core.decoding.lab.types import LabExample
from core.decoding.record.trace import Trace
from core.figures.speculative.words import emitted
from pages.ui.decode.state import DecodeView
from pages.ui.lab import state as lab_state
from pages.ui.platform import gestures
from pages.ui.resources import examples
from pages.ui.widgets import ahead
from pages.ui.widgets.controls import link
from tests.ui.conftest import Open
from tests.ui.knobs import move, report
from tests.ui.seen import settle

STEP = 3
client = TestClient(Starlette(routes=ahead.routes()))
ANSWER = ahead.routes()[0].endpoint  # type: ignore[attr-defined]


@pytest.fixture
def example() -> Trace:
    """The app's own, made with the controls as they are at first: its model can read a step."""
    return Trace.load(examples.FOLDER / DecodeView.example)


def _told(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the data of the parts that the browser may prefetch, by name."""
    data_of_charts = [
        json.loads(element.proto.json or "{}") for element in app.get("bidi_component")
    ]
    return {data["name"]: data for data in data_of_charts if data.get("ahead")}


def _fetched(app: AppTest, *names: str, **inputs: Any) -> dict[str, dict[str, str]]:
    """Return the parts that the browser gets under other inputs."""
    sent = _told(app)
    ahead = sent[names[0]]["ahead"]
    assert all(sent[name]["ahead"] == ahead for name in names)
    answer = client.get(ahead["address"], params=ahead["at"] | inputs)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    return {name: answer.json()[name] for name in names}


def _is_drawn(app: AppTest, found: dict[str, dict[str, str]], **inputs: Any) -> None:
    """The page shows just what was fetched, under just these inputs."""
    sent = _told(app)
    for name, part in found.items():
        assert sent[name]["ahead"]["at"].items() >= inputs.items()
        assert {key: sent[name][key] for key in part} == part


def test_a_chosen_step(open_app: Open) -> None:
    app = open_app()
    view, address = app.session_state["view"], _told(app)["stages"]["ahead"]["address"]
    assert view.selected != STEP
    fetched = _fetched(app, "candidates", "stages", strip=STEP)
    view.select(STEP)
    _is_drawn(app.run(), fetched, strip=STEP)
    assert _told(app)["stages"]["ahead"]["address"] == address


def test_what_the_page_would_not_take_is_refused(open_app: Open) -> None:
    ahead = _told(open_app())["stages"]["ahead"]
    assert client.get(ahead["address"], params=ahead["at"]).status_code == 200
    assert client.get("/gestures/another", params=ahead["at"]).status_code == 204
    for wrong, value in (
        ("strip", "100000"),
        ("strip", "-1"),
        ("strip", "1e1"),
        ("temperature", "nan"),
        ("temperature", "-0.1"),
        ("temperature", "1" * 50),
        ("top_p", ""),
    ):
        for query in (ahead["at"] | {wrong: value}, {wrong: ahead["at"][wrong]}):
            assert client.get(ahead["address"], params=query).status_code == 204, query


def test_a_knob_of_decode(open_app: Open) -> None:
    app = open_app()
    ahead = _told(app)["stages"]["ahead"]
    # The step's logits are not there yet: the page has to read them.
    query = ahead["at"] | {"temperature": 1.3}
    assert client.get(ahead["address"], params=query).status_code == 204
    settle(report(app, temperature=1.2).run(), "view")
    fetched = _fetched(app, "candidates", "stages", temperature=1.3)
    report(app, temperature=1.3)
    _is_drawn(app, fetched, temperature=1.3)


def test_a_knob_of_the_lab(open_app: Open) -> None:
    app = open_app("sampling.py")
    settle(report(app, temperature=1.2).run(), "lab")
    fetched = _fetched(app, "stages", "draw", temperature=1.3, top_k=40)
    report(app, temperature=1.3, top_k=40)
    _is_drawn(app, fetched, temperature=1.3, top_k=40)


def _choose_emitted(app: AppTest) -> None:
    view = app.session_state["speculative"]
    chosen = emitted(view.trace)[2]
    assert view.token != (chosen.round, chosen.place)
    view.look_at(chosen.round, chosen.place)


@pytest.mark.parametrize(
    ("script", "names", "inputs", "touch"),
    [
        ("beam.py", ["beam-text", "note"], {"length_penalty": -2.0}, None),
        ("reasoning.py", ["whole"], {"thinking": 37}, None),
        (
            "beam.py",
            ["beam-step", "node-where", "node-numbers"],
            {"beam-node": "3.1"},
            lambda app: app.session_state["beam"].look_at(3, 1),
        ),
        (
            "speculative.py",
            ["verification", "token-where", "token-words"],
            {"spec-strip": 2},
            _choose_emitted,
        ),
        ("decode.py", ["time"], {}, lambda app: move(app, "look", "Time")),
        (
            "speculative.py",
            ["positions"],
            {},
            lambda app: move(app, "spec-look", "Acceptance and metrics"),
        ),
    ],
)
def test_a_knob_a_choice_or_a_closed_tab(
    open_app: Open, script: str, names: list[str], inputs: dict[str, Any], touch: Any
) -> None:
    app = open_app(script)
    before = _told(app)
    fetched = _fetched(app, *names, **inputs)
    assert all(before[name] != before[name] | part for name, part in fetched.items())
    if touch:
        touch(app)
        app.run()
    else:
        report(app, **inputs)
    _is_drawn(app, fetched, **inputs)


def test_nothing_is_kept_of_a_file_that_another_has_followed(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_state, "may_load", lambda *_: False)
    app = open_app("sampling.py")
    lab = app.session_state["lab"]

    def opened(example: LabExample) -> str:
        lab.open(example)
        app.run()
        return str(_told(app)["stages"]["ahead"]["address"])

    stored = lab.example
    changed = replace(stored, step=replace(stored.step, text_before="Another text"))
    assert opened(stored) == opened(stored) != opened(changed)
    assert lab.shown.text_before == "Another text"


class _Slow:
    """An offer whose parts are built once the gate is open."""

    def __init__(self) -> None:
        self.gate, self.began, self.built = Event(), Event(), list[int]()
        self.prefetch = ahead.Prefetch((), {"at": link.whole}, self._build, {"at": 0})
        ahead._prefetches[self.prefetch.secret] = self.prefetch

    def _build(self, inputs: ahead.Inputs) -> ahead.Shown:
        self.built.append(inputs["at"])
        self.began.set()
        assert self.gate.wait(10)
        return {"words": str(inputs["at"])}

    def ask(self, at: int) -> asyncio.Task[Any]:
        scope = {
            "path_params": {"secret": self.prefetch.secret},
            "query_string": f"at={at}".encode(),
        }
        return asyncio.create_task(ANSWER(Request({"type": "http", **scope})))

    async def under_way(self) -> None:
        await asyncio.to_thread(self.began.wait, 10)


def test_a_session_builds_one_at_a_time_and_the_newest_next() -> None:
    async def ask() -> tuple[list[int], list[int]]:
        slow = _Slow()
        under_way = slow.ask(0)
        await slow.under_way()
        # Two of them ask for the same.
        late = [
            slow.ask(at) for at in (*range(1, gestures.MOST_WAITING + 2), gestures.MOST_WAITING)
        ]
        await asyncio.sleep(0)
        assert slow.built == [0]
        slow.gate.set()
        return [answer.status_code for answer in await asyncio.gather(under_way, *late)], slow.built

    codes, built = asyncio.run(ask())
    newest = gestures.MOST_WAITING + 1
    assert codes == [200, 204, 204, *[200] * gestures.MOST_WAITING]
    assert built == [0, newest - 1, newest, *range(newest - 2, 2, -1)]


def test_sessions_build_beside_each_other_and_who_has_gone_holds_nobody_up() -> None:
    async def ask() -> list[int]:
        slow, second = _Slow(), _Slow()
        first = slow.ask(0)
        await slow.under_way()
        gone, waiting = slow.ask(1), slow.ask(2)
        await asyncio.sleep(0)
        gone.cancel()
        second.gate.set()
        assert (await second.ask(3)).status_code == 200
        slow.gate.set()
        assert (await first).status_code == (await waiting).status_code == 200
        return slow.built

    assert asyncio.run(ask()) == [0, 2]
