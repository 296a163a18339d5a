"""Work in a worker thread: results, sentences for errors, and stopping."""

from __future__ import annotations

from threading import Event

import pytest

from core.decoding.errors import LoadingStoppedError, ModelError
from core.models.stopping import current
from pages.ui.run import jobs

SECONDS = 60


def finished(work: object) -> jobs.Job:
    job = jobs.start(work)  # type: ignore[arg-type]
    assert job.done.wait(SECONDS)
    return job


def test_what_the_work_returns_is_the_result() -> None:
    job = finished(lambda _: 42)
    assert job.result == 42 and not job.error and not job.active


def test_an_error_of_ours_shows_its_own_sentence() -> None:
    def work(_: jobs.Job) -> None:
        raise ModelError("There is no such model.")

    assert finished(work).error == "There is no such model."


def test_any_other_error_shows_one_sentence_and_logs_the_rest(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def work(_: jobs.Job) -> None:
        raise ZeroDivisionError("secret detail")

    assert finished(work).error == jobs.UNEXPECTED
    assert "secret detail" in capfd.readouterr().err


def test_stop_is_seen_by_the_work() -> None:
    def work(job: jobs.Job) -> str:
        job.stopping.wait(SECONDS)
        return "stopped" if job.should_stop() else "went on"

    job = jobs.start(work)
    job.stop()
    assert job.done.wait(SECONDS)
    assert job.result == "stopped"


def test_what_the_work_calls_sees_the_stop_and_waits_for_its_turn() -> None:
    """A chat template, for one: it asks whether the work of its thread is to stop."""

    def work(job: jobs.Job) -> None:
        assert current() == job.should_stop
        with job.turn("Running") as turn:
            assert current() == turn.should_stop
            while not current()():
                job.stopping.wait(0.01)
        raise LoadingStoppedError

    job = jobs.start(work)
    job.stop()
    assert job.done.wait(SECONDS)
    assert job.result is None and not job.error


def test_a_run_that_nobody_watches_ends_by_itself() -> None:
    job = jobs.Job()
    assert not job.should_stop()
    job.watched -= jobs.ABANDONED_SECONDS + 1
    assert job.should_stop()


def test_a_session_has_so_much_work_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_session", lambda: "greedy")
    begun = [jobs.start(lambda job: job.stopping.wait(SECONDS)) for _ in range(jobs.MOST_JOBS)]
    refused = jobs.start(lambda _: 1)
    assert not refused.active and refused.error == jobs.TOO_MANY and refused.result is None
    monkeypatch.setattr(jobs, "_session", lambda: "other")
    assert finished(lambda _: 1).result == 1
    for job in begun:
        job.stop()
        assert job.done.wait(SECONDS)
    monkeypatch.setattr(jobs, "_session", lambda: "greedy")
    assert finished(lambda _: 1).result == 1


def test_work_that_was_stopped_makes_room_but_not_for_threads_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "_session", lambda: "restless")
    over = Event()
    begun = []
    for _ in range(jobs.MOST_THREADS):
        begun.append(jobs.start(lambda _: over.wait(SECONDS)))
        begun[-1].stop()
    assert not any(job.error for job in begun)
    assert jobs.start(lambda _: 1).error == jobs.TOO_MANY
    over.set()
    assert all(job.done.wait(SECONDS) for job in begun)


def test_work_of_a_browser_that_went_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    connected = {"here"}
    monkeypatch.setattr(jobs, "_is_connected", connected.__contains__)
    here, gone, back = jobs.Job(session="here"), jobs.Job(session="gone"), jobs.Job(session="gone")
    for job in (here, gone):
        job.watched -= jobs.GONE_SECONDS + 1
    assert gone.should_stop() and not here.should_stop() and not back.should_stop()


def test_pages_look_more_seldom_while_many_sessions_are_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "_active", set())
    assert jobs.poll_seconds() == jobs.POLL_SECONDS
    monkeypatch.setattr(type(jobs.QUEUE), "sessions", 4)
    assert jobs.poll_seconds() == 4 * jobs.POLL_SECONDS
    monkeypatch.setattr(type(jobs.QUEUE), "sessions", 15)
    assert jobs.poll_seconds() == jobs.SELDOM_POLL_SECONDS
    monkeypatch.setattr(type(jobs.QUEUE), "sessions", 50)
    assert jobs.poll_seconds() == 50 * jobs.CROWDED_POLL_SECONDS


def test_sessions_that_wait_for_a_model_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any of them stands in line for its time."""
    monkeypatch.setattr(jobs, "_active", set())  # An earlier test's page may still be at work.
    names, loaded = iter(range(5)), Event()
    monkeypatch.setattr(jobs, "_session", lambda: f"visitor {next(names)}")
    loading = [jobs.start(lambda _: loaded.wait(SECONDS)) for _ in range(5)]
    assert jobs.poll_seconds() == 5 * jobs.POLL_SECONDS and not jobs.is_quiet()
    loaded.set()
    assert all(job.done.wait(SECONDS) for job in loading)
