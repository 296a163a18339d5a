"""A model is loaded once for all who wait; the last one's going stops the load; few are kept."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from core.decoding.errors import LoadingStoppedError, ModelError
from core.models.store import ModelStore

SECONDS = 30


def wait_for_callers(store: ModelStore, name: str, count: int) -> None:
    pause = Event()
    while getattr(store._entries.get(name), "waiting", 0) < count:
        assert not pause.wait(0.01)


def test_one_load_serves_all_who_wait() -> None:
    go_on, begun, heard = Event(), list[str](), list[str]()

    def load(name: str, _: Callable[[], bool], report: Callable[[str], None]) -> str:
        begun.append(name)
        report(f"half of {name}")
        assert name == "b" or go_on.wait(SECONDS)
        return f"model {name}"

    store = ModelStore(load, most=2)
    with ThreadPoolExecutor(3) as pool:
        models = [pool.submit(store.get, "a", lambda: False, heard.append) for _ in range(3)]
        assert store.get("b") == "model b"
        wait_for_callers(store, "a", 3)
        while not heard:
            assert not go_on.wait(0.01)
        assert store.loaded() == ["b"]
        go_on.set()
        assert {model.result(SECONDS) for model in models} == {"model a"}
    assert sorted(begun) == ["a", "b"] and set(heard) == {"half of a"}


def test_a_load_is_stopped_when_the_last_one_has_gone() -> None:
    first_goes, second_goes, stopped, begun = Event(), Event(), Event(), list[str]()

    def load(name: str, should_stop: Callable[[], bool], _: object) -> str:
        begun.append(name)
        while len(begun) == 1 and not should_stop():
            assert not stopped.wait(0.01)
        if len(begun) == 1:
            stopped.set()
            raise LoadingStoppedError
        return "model"

    store = ModelStore(load, most=2)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(store.get, "a", first_goes.is_set)
        second = pool.submit(store.get, "a", second_goes.is_set)
        wait_for_callers(store, "a", 2)
        first_goes.set()
        with pytest.raises(LoadingStoppedError):
            first.result(SECONDS)
        assert not stopped.wait(0.2)
        second_goes.set()
        with pytest.raises(LoadingStoppedError):
            second.result(SECONDS)
        assert stopped.wait(SECONDS)
    assert store.get("a") == "model" and begun == ["a", "a"]


def test_those_used_last_are_kept_and_any_can_be_dropped() -> None:
    begun = list[str]()
    store = ModelStore(lambda name, *_: begun.append(name) or name.upper(), most=2)
    for name in ("a", "b", "a", "c", "a"):
        assert store.get(name) == name.upper()
    assert begun == ["a", "b", "c"] and store.loaded() == ["c", "a"]
    store.drop("a")
    store.drop("a")
    assert store.loaded() == ["c"] and store.get("a") == "A"
    store.empty()
    assert store.loaded() == [] and begun == ["a", "b", "c", "a"]
    keeps_none = ModelStore(lambda name, *_: begun.append(name), most=0)
    for _ in range(2):
        keeps_none.get("d")
    assert begun[-2:] == ["d", "d"] and keeps_none.loaded() == []


def test_a_model_that_is_dropped_while_it_is_loaded_is_loaded_again() -> None:
    go_on, keys = Event(), list[str]()

    def load(name: str, *_: Any) -> int:
        keys.append(name)
        number = len(keys)
        assert number > 1 or go_on.wait(SECONDS)
        return number

    store = ModelStore(load, most=2)
    with ThreadPoolExecutor(1) as pool:
        old = pool.submit(store.get, "a")
        wait_for_callers(store, "a", 1)
        store.drop("a")
        assert store.get("a") == 2
        go_on.set()
        assert old.result(SECONDS) == 1
    assert store.get("a") == 2


def test_a_load_that_failed_is_tried_again() -> None:
    faults = [ModelError("no"), KeyboardInterrupt()]

    def load(*_: Any) -> str:
        if faults:
            raise faults.pop()
        return "model"

    store = ModelStore(load, most=2)
    with pytest.raises(KeyboardInterrupt):
        store.get("a")
    with pytest.raises(ModelError, match="no"):
        store.get("a")
    assert store.loaded() == [] and store.get("a") == "model"
