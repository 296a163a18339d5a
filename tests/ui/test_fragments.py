"""Parts of a page that are rerun by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

from pages.ui.shell import fragments


def test_a_part_asks_anew_how_often_it_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []

    def fragment(part: Callable[..., None], run_every: float) -> Callable[..., None]:
        told.append(run_every)
        return part

    monkeypatch.setattr(st, "fragment", fragment)
    monkeypatch.setattr(fragments, "_tell", told.append)
    drawn: list[Any] = []
    intervals = iter((0.15, 0.15, 0.6, 0.6, 0.15))
    part = fragments.polled(drawn.append, lambda: next(intervals))
    for turn in range(4):
        part(turn)
    assert told == [0.15, 0.6, 0.15] and drawn == [0, 1, 2, 3]
