"""Sessions share a load and leave it one by one; the last one's going stops it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from core.decoding.errors import LoadingStoppedError
from pages.ui.run import jobs
from pages.ui.shell import models
from pages.ui.shell.shared_loads import SharedLoads

SECONDS = 30


def test_one_load_serves_all_who_wait() -> None:
    loads, go_on, begun = SharedLoads(), Event(), list[bool]()

    def load() -> str:
        begun.append(go_on.wait(SECONDS))
        return "model"

    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(loads.wait_for, "a", load, lambda: False) for _ in range(3)]
        assert loads.wait_for("b", lambda: "other", lambda: False) == "other"
        while getattr(loads._loads.get("a"), "waiting", 0) < 3:
            assert not go_on.wait(0.01)
        go_on.set()
        assert {future.result(SECONDS) for future in found} == {"model"}
    assert begun == [True]


def test_a_load_is_stopped_when_the_last_one_has_gone() -> None:
    loads, first_goes, second_goes, stopped = SharedLoads(), Event(), Event(), Event()
    begun = Event()

    def load() -> None:
        nobody = loads.nobody_waits_for("a")
        begun.set()
        while not nobody():
            assert not stopped.wait(0.01)
        stopped.set()
        raise LoadingStoppedError

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(loads.wait_for, "a", load, first_goes.is_set)
        second = pool.submit(loads.wait_for, "a", load, second_goes.is_set)
        assert begun.wait(SECONDS)
        while loads._loads["a"].waiting < 2:
            assert not stopped.wait(0.01)
        first_goes.set()
        with pytest.raises(LoadingStoppedError):
            first.result(SECONDS)
        assert not stopped.wait(0.2)
        second_goes.set()
        with pytest.raises(LoadingStoppedError):
            second.result(SECONDS)
        assert stopped.wait(SECONDS)


def test_stop_ends_a_job_that_waits_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, go_on = Event(), Event()

    def never(_: str) -> object:
        loading.set()
        return go_on.wait(SECONDS)

    monkeypatch.setattr(models, "_cached", never)
    job = jobs.start(lambda job: jobs.load(job, "/slow"))
    assert loading.wait(SECONDS)
    job.stop()
    assert job.done.wait(SECONDS)
    assert job.result is None and job.error == ""
    go_on.set()
