"""Work in a worker thread: results, sentences for errors, and stopping."""

from __future__ import annotations

from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest

from core.decoding.errors import LoadingStoppedError, ModelError
from core.models.stopping import current
from pages.ui.platform import session
from pages.ui.run import jobs

SECONDS = 60


def finished(work: object) -> jobs.Job:
    job = jobs.start(work)  # type: ignore[arg-type]
    assert job.done.wait(SECONDS)
    return job


@pytest.mark.parametrize("load", [jobs.load_for, jobs.load_draft_for])
@pytest.mark.parametrize(
    ("revision", "dtype", "words"),
    [
        ("one", "float32", "another version"),
        ("two", "bfloat16", "made in bfloat16, and its model is loaded here in float32"),
    ],
)
def test_a_model_of_another_version_or_number_type_than_the_run_s_is_refused(
    load: Any, revision: str, dtype: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Mock(revision="two", dtype="float32")
    monkeypatch.setattr(jobs.models, "load", lambda *_: model)

    def made(revision: str, dtype: str) -> Mock:
        names = {"model_revision": revision, "draft_revision": revision}
        return Mock(dtype=dtype, draft_dtype=dtype, **names)

    assert load(jobs.Job(), made("two", "float32")) is model
    assert load(jobs.Job(), made("", "")) is model
    with pytest.raises(ModelError, match=words):
        load(jobs.Job(), made(revision, dtype))


@pytest.mark.parametrize(
    ("fault", "said", "logged"),
    [
        (ModelError("There is no such model."), "There is no such model.", False),
        (ZeroDivisionError("secret detail"), jobs.UNEXPECTED, True),
    ],
)
def test_an_error_of_ours_shows_its_own_sentence_and_any_other_is_logged(
    capfd: pytest.CaptureFixture[str], fault: Exception, said: str, logged: bool
) -> None:
    assert finished(Mock(side_effect=fault)).error == said
    assert (str(fault) in capfd.readouterr().err) == logged


def test_what_the_work_calls_sees_the_stop_and_waits_for_its_turn() -> None:
    """A chat template, for one: it asks whether the work of its thread is to stop."""

    def work(job: jobs.Job) -> None:
        assert current() == job.should_stop
        with job.turn_in(jobs.QUEUE) as turn:
            assert current() == turn.should_stop
            while not current()():
                job.stopping.wait(0.01)
        raise LoadingStoppedError

    job = jobs.start(work)
    job.stop()
    assert job.done.wait(SECONDS)
    assert job.result is None and not job.error


def test_a_session_has_so_much_work_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "current", lambda: "greedy")
    begun = [jobs.start(lambda job: job.stopping.wait(SECONDS)) for _ in range(jobs.MOST_JOBS)]
    refused = jobs.start(lambda _: 1)
    assert (refused.active, refused.error, refused.result) == (False, jobs.TOO_MANY, None)
    with monkeypatch.context() as patch:
        patch.setattr(session, "current", lambda: "other")
        assert finished(lambda _: 1).result == 1
    for job in begun:
        job.stop()
        assert job.done.wait(SECONDS)
    assert finished(lambda _: 1).result == 1


def test_work_that_was_stopped_makes_room_but_not_for_threads_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "current", lambda: "restless")
    over, begun = Event(), list[jobs.Job]()
    for _ in range(jobs.MOST_THREADS):
        begun.append(jobs.start(lambda _: over.wait(SECONDS)))
        begun[-1].stop()
    refused = jobs.start(lambda _: 1)
    over.set()
    assert [job.error for job in (*begun, refused)] == [""] * len(begun) + [jobs.TOO_MANY]
    assert all(job.done.wait(SECONDS) for job in begun)


def test_work_that_nobody_watches_or_whose_browser_went_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "is_connected", {"here"}.__contains__)
    for visitor, unwatched, ends in (
        ("here", jobs.GONE_SECONDS, False),
        ("here", jobs.ABANDONED_SECONDS, True),
        ("gone", jobs.GONE_SECONDS, True),
        ("gone", -1.0, False),
    ):
        job = jobs.Job(session=visitor)
        job.watched -= unwatched + 1
        assert job.should_stop() == ends


def test_a_page_looks_more_seldom_while_many_look_at_their_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = [jobs.Job(session=f"visitor {at % 50}") for at in range(60)]
    monkeypatch.setattr(jobs, "_active", set())
    assert jobs.poll_seconds() == jobs.POLL_SECONDS
    for count, seconds in ((1, 0.15), (4, 0.6), (10, 1.5), (18, 1.5), (50, 4.0), (60, 4.0)):
        monkeypatch.setattr(jobs, "_active", set(running[:count]))
        assert jobs.poll_seconds() == pytest.approx(seconds)
    for job in running[2:]:
        job.watched -= jobs.UNSEEN_SECONDS + 1
    assert jobs.poll_seconds() == pytest.approx(0.3)


def test_sessions_that_wait_for_a_model_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any of them stands in line for its time."""
    monkeypatch.setattr(jobs, "_active", set())  # An earlier test's page may still be at work.
    names, loaded = iter(range(5)), Event()
    monkeypatch.setattr(session, "current", lambda: f"visitor {next(names)}")
    loading = [jobs.start(lambda _: loaded.wait(SECONDS)) for _ in range(5)]
    assert jobs.poll_seconds() == 5 * jobs.POLL_SECONDS and not jobs.is_quiet()
    loaded.set()
    assert all(job.done.wait(SECONDS) for job in loading)
