"""Scripts take turns, and nobody waits for one that waits."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from pages.ui.shell import script_turns
from pages.ui.shell.script_turns import ScriptTurns


def test_one_script_at_a_time() -> None:
    turns, under_way, most = ScriptTurns(), [], []

    def script(name: int) -> None:
        turns.take()
        under_way.append(name)
        most.append(len(under_way))
        time.sleep(0.01)
        under_way.remove(name)
        turns.leave()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(script, range(16)))
    assert most == [1] * 16


def test_others_go_on_while_one_waits_for_its_work() -> None:
    turns, came = ScriptTurns(), Event()

    def other() -> None:
        turns.take()
        came.set()
        turns.leave()

    with ThreadPoolExecutor(1) as pool:
        turns.take()
        asked = pool.submit(other)
        assert not came.wait(0.2)
        with turns.away():
            assert came.wait(5)
        turns.leave()
        asked.result()


def test_a_turn_that_lasts_too_long_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_turns, "LONGEST_SECONDS", 0.1)
    turns, both = ScriptTurns(), Barrier(3, timeout=5)

    def script() -> None:
        turns.take()
        both.wait()
        turns.leave()

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(script) for _ in range(2)]
        both.wait()  # Both are in at once.
        for one in asked:
            one.result()


def test_a_thread_without_a_turn_waits_without_one() -> None:
    turns = ScriptTurns()
    with turns.away():
        pass
    turns.take()
    turns.take()  # The next request of the same thread.
    turns.leave()
    turns.leave()
