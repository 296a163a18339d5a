"""Requests under way: keys, many clients, those that hang up, limits, and what is counted."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlsplit

import httpx2
import openai
import pytest

from core import DecodingError, ModelError
from core.decoding.errors import LoadingStoppedError, LostModelError
from core.decoding.protocol import LanguageModel
from core.server.api import service as service_module
from core.server.api.history import Record, RequestHistory
from tests.server.api.served import Served, eventually, served

MODEL = "embedded:target"
KEYS = ("first-key-of-many-letters", "second-key-of-many-letters")


class Held:
    """A model whose steps wait until they are let go."""

    def __init__(self, model: LanguageModel) -> None:
        self._model, self.go, self.steps = model, Event(), 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def start(self, prompt_ids: Sequence[int], **options: Any) -> Any:
        return _HeldContext(self._model.start(prompt_ids, **options), self)


class _HeldContext:
    def __init__(self, context: Any, held: Held) -> None:
        self._context, self._held = context, held

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def extend(self, ids: Any) -> Any:
        self._held.steps += 1
        if not self._held.go.wait(60):
            raise DecodingError("nobody let it go")
        return self._context.extend(ids)


@contextmanager
def held(models: dict[str, Any], **options: Any) -> Iterator[tuple[Served, Held]]:
    model = Held(models[MODEL])
    with served(lambda where, should_stop: model, **options) as server:  # noqa: ARG005
        yield server, model
        model.go.set()


def send_raw(connection: socket.socket, at: Served, body: dict[str, Any]) -> None:
    """Send a request over a socket, and read nothing."""
    address, raw = urlsplit(at.url), json.dumps(body).encode()
    head = (
        f"POST /v1/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
    )
    connection.connect((address.hostname, address.port))
    connection.sendall(head.encode() + raw)


def hang_up_while(at: Served, model: Held, body: dict[str, Any]) -> Record:
    """Send a request, go away at its first step, and wait for the end of its run."""
    with socket.socket() as connection:
        send_raw(connection, at, body)
        assert eventually(lambda: model.steps == 1)
    record = at.service.history.of("")[0]
    assert eventually(record.stopping.is_set)
    model.go.set()
    assert eventually(lambda: not record.active)
    return record


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_hangs_up_stops_its_run_at_the_next_step(
    models: dict[str, Any], stream: bool
) -> None:
    body = {"model": MODEL, "prompt": "Once upon a time", "max_tokens": 300, "stream": stream}
    with held(models) as (at, model):
        assert hang_up_while(at, model, body).state == "stopped"
        assert model.steps <= 2
        assert eventually(lambda: at.service._under_way.total() == 0)


def test_many_clients_at_once_get_each_their_own_text(
    endpoint: Served, models: dict[str, Any]
) -> None:
    from core import Sampling, collect

    def ask(seed: int) -> str:
        client = endpoint.client()
        body: Any = {"model": MODEL, "prompt": "Once upon a time", "max_tokens": 12, "seed": seed}
        if seed % 2:
            return client.completions.create(**body).choices[0].text
        return "".join(c.choices[0].text for c in client.completions.create(**body, stream=True))

    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(ask, range(12)))
    for seed in (0, 1, 10, 11):
        alone = collect(models[MODEL], "Once upon a time", Sampling(max_new_tokens=12, seed=seed))
        assert replies[seed] == alone.text
    assert len(set(replies)) > 6


def test_too_many_requests_get_429_and_when_to_come_back(
    models: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "MOST_REQUESTS", 2)
    body = {"model": MODEL, "prompt": "Once", "max_tokens": 3}
    with held(models) as (at, model), ThreadPoolExecutor(2) as pool:
        under_way = [pool.submit(at.post, "/v1/completions", body) for _ in range(2)]
        assert eventually(lambda: at.service._under_way.total() == 2)
        refused = at.post("/v1/completions", body)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "2"
        assert refused.json()["error"]["type"] == "rate_limit_error"
        model.go.set()
        assert [request.result().status_code for request in under_way] == [200, 200]
        assert eventually(lambda: at.service._under_way.total() == 0)
        assert at.post("/v1/completions", body).status_code == 200


def test_a_client_that_reads_nothing_holds_up_nobody(
    endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.server.api.http.SEND_SECONDS", 0.5)
    body = {"model": MODEL, "prompt": "Once", "max_tokens": 40, "logprobs": -1, "stream": True}
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        send_raw(slow, endpoint, body)
        quick = {"model": MODEL, "prompt": "Once", "max_tokens": 4}
        assert endpoint.post("/v1/completions", quick).status_code == 200
        assert eventually(lambda: endpoint.service._under_way.total() == 0)


def test_a_key_is_needed_where_one_is_set_and_sees_its_own_requests(
    models: dict[str, Any],
) -> None:
    with served(lambda where, should_stop: models[where], keys=KEYS) as at:  # noqa: ARG005
        for key in ("wrong", "", KEYS[0][:-1], KEYS[0] + "x"):
            for path in ("/v1/models", "/metrics", "/v1/anything"):
                headers = {"authorization": f"Bearer {key}"} if key else {}
                refused = httpx2.get(at.url + path, headers=headers)
                assert refused.status_code == 401
                assert refused.json()["error"]["code"] == "invalid_api_key"
        first, second = (at.client(key) for key in KEYS)
        made = first.responses.create(model=MODEL, input="Hi", max_output_tokens=2)
        assert first.responses.retrieve(made.id).id == made.id
        with pytest.raises(openai.NotFoundError):
            second.responses.retrieve(made.id)
        with pytest.raises(openai.AuthenticationError):
            at.client("wrong").responses.create(model=MODEL, input="Hi")
        owners = [at.service.owner_of(key) for key in KEYS]
        assert len(at.service.history.of(owners[0])) == 1
        assert at.service.history.of(owners[1]) == []
        assert not any(key[:8] in owner for key in KEYS for owner in owners)


def test_a_closed_endpoint_says_why(models: dict[str, Any]) -> None:
    closed = service_module.NO_KEY
    with served(lambda where, should_stop: models[where], closed=closed) as at:  # noqa: ARG005
        refused = httpx2.get(f"{at.url}/v1/models")
        assert refused.status_code == 403
        assert refused.json()["error"]["message"] == closed


def test_an_error_behind_the_first_event_ends_the_stream_with_it(models: dict[str, Any]) -> None:
    class Breaking(Held):
        def start(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("secret")

    broken = Breaking(models[MODEL])
    with served(lambda where, should_stop: broken) as at:  # noqa: ARG005
        body = {"model": MODEL, "input": "Hi", "stream": True}
        text = at.post("/v1/responses", body).text
        assert "event: response.failed" in text and "secret" not in text
        whole = at.post("/v1/responses", {"model": MODEL, "input": "Hi"})
        assert whole.status_code == 500 and "secret" not in whole.text


def test_metrics_count_what_was_done(models: dict[str, Any]) -> None:
    with served(lambda where, should_stop: models[where]) as at:  # noqa: ARG005
        body = {"model": MODEL, "prompt": "Once upon a time", "max_tokens": 12}
        decoding = {"method": "speculative", "draft": "embedded:draft"}
        assert at.post("/v1/completions", {**body, "decoding": decoding}).status_code == 200
        assert at.post("/v1/completions", {**body, "n": 99}).status_code == 400
        text = httpx2.get(f"{at.url}/metrics").text
        trace = at.service.history.of("")[0].traces[0]
    drafted = sum(len(round_.drafted) for round_ in trace.rounds)
    label = f'{{model="{MODEL}"}}'
    name = f'{{model_name="{MODEL}"}}'
    for line in (
        f"decoding_explorer_generation_tokens_total{label} {len(trace.token_ids)}.0",
        f"decoding_explorer_time_to_first_token_seconds_count{label} 1.0",
        'decoding_explorer_refused_total{status="400"} 1.0',
        f"vllm:spec_decode_num_drafts_total{name} {len(trace.rounds)}.0",
        f"vllm:spec_decode_num_draft_tokens_total{name} {drafted}.0",
    ):
        assert line in text
    assert "vllm:spec_decode_num_accepted_tokens_per_pos_total{" in text


def test_latency_between_tokens_is_counted_for_each_of_every_run(models: dict[str, Any]) -> None:
    with served(lambda where, should_stop: models[where]) as at:  # noqa: ARG005
        body = {"model": MODEL, "prompt": "Once upon a time", "max_tokens": 7, "n": 2}
        tokens = at.post("/v1/completions", body).json()["usage"]["completion_tokens"]
        text = httpx2.get(f"{at.url}/metrics").text
        record = at.service.history.of("")[0]
    name = f'vllm:inter_token_latency_seconds_count{{model_name="{MODEL}"}}'
    # Between two runs there is the second one's prompt, which is no latency between tokens.
    assert f"{name} {tokens - 2}.0" in text and len(record.gaps) == tokens - 2
    assert 0 < sum(record.gaps) < record.last_token - record.first_token


def test_history_is_bounded_by_count_and_bytes_and_keeps_what_is_under_way() -> None:
    history = RequestHistory(most_records=3, most_bytes=50_000)
    for number in range(5):
        record = Record(id=str(number), endpoint="chat", model=MODEL)
        if number:
            record.end("finished")
        history.add(record)
    history.trim("")
    assert [record.id for record in history.of("")] == ["4", "3", "0"]
    big = Record(id="big", endpoint="chat", model=MODEL, body={"text": "x" * 60_000})
    big.end("finished")
    history.add(big)
    assert [record.id for record in history.of("")] == ["0"]
    history.clear("")
    assert [record.id for record in history.of("")] == ["0"]


def test_a_stream_says_each_token_as_soon_as_it_is_there(models: dict[str, Any]) -> None:
    with held(models) as (at, model):
        stream = at.client().completions.create(
            model=MODEL, prompt="Once upon a time", max_tokens=5, stream=True
        )
        assert next(iter(stream)).choices[0].text
        assert not model.go.is_set()
        model.go.set()
        assert len(list(stream)) == 5


def test_who_asks_for_tokens_has_a_place_and_gives_it_back_when_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service_module, "MOST_REQUESTS", 1)
    loading = Event()

    def load(_: str, should_stop: Callable[[], bool]) -> Any:
        loading.set()
        assert eventually(should_stop)
        raise LoadingStoppedError

    body = {"model": MODEL, "prompt": "Once"}
    with served(load) as at:
        with pytest.raises(httpx2.TimeoutException):
            httpx2.post(f"{at.url}/tokenize", json=body, timeout=httpx2.Timeout(20, read=0.2))
        assert loading.is_set() and eventually(lambda: at.service._under_way.total() == 0)
        at.service.enter("")
        assert at.post("/detokenize", {"model": MODEL, "tokens": [1]}).status_code == 429


def test_a_model_that_is_gone_or_has_no_room_is_no_fault_of_the_request() -> None:
    for error, status, code in (
        (LostModelError("its server is gone"), 502, "model_lost"),
        (ModelError("too little memory"), 503, "model_unavailable"),
    ):
        with served(Mock(side_effect=error)) as at:
            for path in ("/v1/completions", "/tokenize"):
                answer = at.post(path, {"model": MODEL, "prompt": "Once"})
                reported = answer.json()["error"]
                assert (answer.status_code, reported["code"]) == (status, code)
                assert reported["type"] == "server_error" and reported["message"] == str(error)


def test_a_page_of_an_origin_that_was_named_may_ask_and_no_other(models: dict[str, Any]) -> None:
    origin = "https://blog.example.org"
    body = {"model": MODEL, "prompt": "Once", "max_tokens": 1}
    with served(lambda where, should_stop: models[where], origins=(origin,)) as at:  # noqa: ARG005
        answer = at.post("/v1/completions", body, headers={"origin": origin})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin
        preflight = {"origin": origin, "access-control-request-method": "POST"}
        before = httpx2.options(f"{at.url}/v1/completions", headers=preflight)
        assert "POST" in before.headers["access-control-allow-methods"]
        foreign = {"origin": "https://evil.example"}
        assert at.post("/v1/completions", body, headers=foreign).status_code == 403
        assert at.post("/tokenize", body, headers={"origin": origin}).status_code == 403


def test_a_watched_requests_data_path_begins_at_its_route(models: dict[str, Any]) -> None:
    with served(lambda where, should_stop: models[where]) as at:  # noqa: ARG005
        at.service.watch("", True)
        body = {"model": "embedded:target", "prompt": "the cat", "max_tokens": 2}
        assert at.post("/v1/completions", body).status_code == 200
        path = at.service.history.of("")[0].path
        calls = [call.function for call in path.walk()]
        assert calls[0] == "Routes.read" and calls.index("submit") < calls.index("encode_prompt")
