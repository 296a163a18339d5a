"""Bounds of one key beside another's, and the end of a server."""

from __future__ import annotations

import asyncio
import signal
from typing import Any
from unittest.mock import Mock

import openai
import pytest

from core.server import job
from core.server.api.errors import ApiError
from core.server.api.history import Record, RequestHistory
from core.server.api.store import ResponseStore
from core.server.ending import ended_by_signals
from core.server.refusals import Refusals
from tests.server.api.test_under_way import MODEL, held


def test_one_key_pushes_out_nothing_of_another() -> None:
    history = RequestHistory(most_records=2, most_bytes=50_000)
    responses = ResponseStore(most=2, most_bytes=5_000)
    for owner, count in (("quiet", 2), ("loud", 9)):
        for number in range(count):
            record = Record(id=f"{owner}-{number}", endpoint="chat", model=MODEL, owner=owner)
            record.end("finished")
            history.add(record)
            responses.add(owner, {"id": record.id}, ())
    assert [record.id for record in history.of("quiet")] == ["quiet-1", "quiet-0"]
    assert [record.id for record in history.of("loud")] == ["loud-8", "loud-7"]
    assert responses.find("quiet", "quiet-0") and responses.find("loud", "loud-8")
    with pytest.raises(ApiError, match="forgotten"):
        responses.find("loud", "loud-6")


def test_the_end_of_the_server_ends_streams_and_answers_with_an_error(
    models: dict[str, Any],
) -> None:
    with held(models) as (at, _):
        stream = at.client().completions.create(
            model=MODEL, prompt="Once upon a time", max_tokens=5, stream=True
        )
        next(iter(stream))
        at.service.end()
        with pytest.raises(openai.APIError, match="stopped on the server"):
            list(stream)


def test_a_run_that_begins_while_the_server_ends_is_stopped(models: dict[str, Any]) -> None:
    with held(models) as (at, model):
        at.service.end()
        answer = at.post("/v1/completions", {"model": MODEL, "prompt": "Once upon a time"})
        assert answer.status_code == 503 and answer.json()["error"]["code"] == "stopped"
        assert model.steps == 0


def test_an_answer_that_the_server_s_end_cancels_is_an_error_of_the_endpoint() -> None:
    async def wait(*_: Any) -> None:
        raise asyncio.CancelledError

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Refusals(wait)({"type": "http", "path": "/v1/models", "headers": []}, wait, send))
    assert sent[0]["status"] == 503 and b"stopped" in sent[1]["body"]


@pytest.mark.parametrize("path", ["/v1/completions", "/tokenize"])
def test_a_request_that_gets_no_thread_leaves_its_place(
    models: dict[str, Any], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    refused = Mock(side_effect=RuntimeError("can't start new thread"))
    with held(models) as (at, model):
        model.go.set()
        monkeypatch.setattr(job, "Thread", refused)
        body = {"model": MODEL, "prompt": "Hi", "max_tokens": 1}
        error = at.post(path, body if path.startswith("/v1") else {"prompt": "Hi"})
        assert error.status_code == 503 and error.json()["error"]["code"] == "out_of_memory"
        assert b"under_way 0.0" in at.service.metrics.text()
        monkeypatch.undo()
        assert at.post("/v1/completions", body).status_code == 200


def test_a_signal_ends_runs_before_the_servers_own_handler() -> None:
    seen: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("server"))

    async def serve() -> None:
        async with ended_by_signals(lambda: seen.append("runs")):
            signal.raise_signal(signal.SIGTERM)

    try:
        asyncio.run(serve())
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == ["runs", "server", "server"]
