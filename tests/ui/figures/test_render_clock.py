"""The time that a component's data bear never falls."""

from __future__ import annotations

import pytest

from pages.ui.widgets import render_clock


def test_each_call_gives_more_than_the_one_before_though_the_clock_is_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([2e9, 2e9, 1e9, 2e9 + 5])
    monkeypatch.setattr(render_clock, "_last", 0.0)
    monkeypatch.setattr(render_clock, "time", lambda: next(clock))
    times = [render_clock.drawn_at() for _ in range(4)]
    assert times == sorted(set(times)) and (times[0], times[3]) == (2e9, 2e9 + 5)
