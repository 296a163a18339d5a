"""A page's work waits for a model and can be stopped meanwhile."""

from __future__ import annotations

from threading import Event

import pytest

from pages.ui.resources import models
from pages.ui.run import jobs
from tests.ui.stores import uncached

SECONDS = 30


def test_stop_ends_a_job_that_waits_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, go_on = Event(), Event()

    def never(_: str) -> object:
        loading.set()
        return go_on.wait(SECONDS)

    monkeypatch.setattr(models, "MODELS", uncached(never))
    job = jobs.start(lambda job: jobs.load(job, "/slow"))
    assert loading.wait(SECONDS)
    job.stop()
    assert job.done.wait(SECONDS)
    assert job.result is None and job.error == ""
    go_on.set()
