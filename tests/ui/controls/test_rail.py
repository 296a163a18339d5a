"""A rail of knobs: what the browser reports is taken once, and nothing old comes back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pages.ui.platform import session
from pages.ui.widgets.controls import rail
from pages.ui.widgets.controls.knob import Knob

HEAT = Knob("heat", "Heat", 0.0, 2.0, 10.0, 0.05, 0.8, "Help.")
WIDTH = Knob("width", "Width", 0, 50, 1000, 1, 0, "Help.")


class Address(dict[str, str]):
    """Parameters of an address, none of them twice."""

    def get_all(self, name: str) -> list[str]:
        return [self[name]] if name in self else []


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session on a page whose rail was drawn, with an address."""
    held: dict[str, Any] = {"rails": {"rail": {"heat": HEAT, "width": WIDTH}}}
    shown = SimpleNamespace(session_state=held, query_params=Address())
    for module in (rail, session):
        monkeypatch.setattr(module, "st", shown)
    held["address"] = shown.query_params
    return held


def report(state: dict[str, Any], number: int, **values: object) -> None:
    state["rail"] = {"moved": {"number": number, "values": values}}


def test_a_report_sets_the_knobs_and_the_address(state: dict[str, Any]) -> None:
    # The fourth says what the second and the third did, which never arrived.
    for number, values, held, address in (
        (1, {"heat": 1.25}, (1.25, 0), {"heat": "1.25"}),
        (4, {"heat": 0.8, "width": 7}, (0.8, 7), {"width": "7"}),
    ):
        report(state, number, **values)
        assert (rail.held(HEAT), rail.held(WIDTH)) == held
        assert state["address"] == address


def test_what_the_server_sets_is_not_undone_by_an_old_report(state: dict[str, Any]) -> None:
    report(state, 1, heat=1.25)
    rail.put(HEAT, 0.5)
    assert rail.held(HEAT) == 0.5
    report(state, 2, heat=0.55)
    assert rail.held(HEAT) == 0.55


@pytest.mark.parametrize(
    ("said", "held"), [(99.0, 10.0), (-5, 0.0), (float("nan"), 0.8), ("2", 0.8), (None, 0.8)]
)
def test_a_report_can_not_set_what_the_knob_lacks(
    state: dict[str, Any], said: object, held: float
) -> None:
    report(state, 1, heat=said, other=1.0)
    assert rail.held(HEAT) == held
    assert "other" not in state


@pytest.mark.parametrize(
    ("said", "held"), [("1.5", 1.5), ("10", 10.0), ("10.5", 0.8), ("x", 0.8), ("nan", 0.8)]
)
def test_the_address_sets_a_knob_before_it_is_drawn(
    state: dict[str, Any], said: str, held: float
) -> None:
    state["address"]["heat"] = said
    assert rail.held(HEAT) == held


def test_whole_numbers_stay_whole(state: dict[str, Any]) -> None:
    state["address"]["width"] = "12"
    assert rail.held(WIDTH) == 12 and isinstance(rail.held(WIDTH), int)
    report(state, 1, width=7.0)
    assert isinstance(rail.held(WIDTH), int)


def test_a_settled_number_ends_with_a_callback_of_its_own(state: dict[str, Any]) -> None:
    ended: list[str] = []
    for number, more, last in ((1, {}, "moves"), (2, {"settled": True}, "settled")):
        state["rail"] = {"moved": {"number": number, "values": {"heat": 1.0}, **more}}
        rail._moved("rail", lambda: ended.append("moves"), lambda: ended.append("settled"))
        assert ended[-1] == last
    rail._moved("rail", lambda: ended.append("moves"), None)
    assert ended == ["moves", "settled", "moves"] and rail.held(HEAT) == 1.0
