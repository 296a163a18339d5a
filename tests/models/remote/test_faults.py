"""Servers that are slow, busy, wrong, gone or false: one sentence, and what a run had stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import openai
import pytest

from core import Greedy, ModelError, Trace, check, collect, load_model
from core.decoding.errors import LoadingStoppedError, LostModelError
from core.models.remote import connect as connecting
from core.models.remote.http import Patience
from core.models.stopping import never, stoppable
from tests.models.remote import faults, servers
from tests.models.remote.servers import Script, serving
from tests.server.api.served import served as serving_endpoint

QUICK = Patience(pauses=(0.01, 0.01), longest_pause=0.05)
PROMPT = "Once upon a time"
CONFIG = Greedy(max_new_tokens=6)


@pytest.fixture(scope="module")
def connected() -> Iterator[tuple[Any, Script]]:
    with serving() as (url, script):
        where = f"vllm:{url}?tokenizer=embedded:target#target"
        model = connecting.connect(where, never, QUICK)
        model.model_id = "big"
        yield model, script


@pytest.fixture
def served(connected: tuple[Any, Script]) -> tuple[Any, Script]:
    """Return the connected model, without the previous test's fault."""
    model, script = connected
    model._client.patience, script.fault = QUICK, None
    return model, script


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (faults.half, "broke off in the midst of an answer"),
        (faults.text(b'{"choices": ['), "half a JSON text"),
        (faults.text(b"[" * 100_000), "half a JSON text"),
        (faults.text(b"\xff\xfe\x00"), "half a JSON text"),
        (faults.text(b'{"choices": [1]}'), "with something else"),
        (faults.text(b'{"choices": [{"index": []}]}'), "with something else"),
        (faults.text(b'{"choices": [{"index": 0}]}'), "no log-probabilities"),
        (faults.text(b" " * 3_000_000), "answers with more than"),
        (faults.status(429), "busy or broken (status 429)"),
        (faults.status(503, retry_after="nan"), "busy or broken (status 503)"),
        (faults.status(302, location="http://127.0.0.1:1/"), "redirect is never followed"),
        (faults.status(401), "wants a key"),
        (faults.status(400), "refuses the request (status 400: not now)"),
        (faults.changed(faults.to_zero), "add up to 4096 instead of 1"),
        (faults.changed(faults.to_nan), "something else than numbers"),
        (faults.changed(faults.with_a_word), "something else than numbers"),
        (faults.changed(faults.without_one), "other tokens than the 4,096"),
        (faults.changed(faults.with_a_stranger), "other tokens than the 4,096"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_run_keeps_its_steps_and_says_why_it_ended(
    served: tuple[Any, Script], fault: servers.Fault, sentence: str
) -> None:
    model, script = served
    script.fail(fault, after=1 + 3)  # The prompt in one request, then a token each.
    trace = collect(model, PROMPT, CONFIG)
    assert len(trace.token_ids) == 4 and trace.finish_reason == "cancelled"
    assert (
        trace.notes[0].words.startswith("The server of big ") and sentence in trace.notes[0].words
    )
    assert all(outcome.passed for outcome in check(trace))
    assert Trace.from_dict(trace.to_dict()) == trace


def test_a_slow_server_is_not_waited_for_longer(served: tuple[Any, Script]) -> None:
    model, script = served
    answered = threading.Event()

    def wait(*_: Any) -> bool:
        return answered.wait(30)

    def trickle(handler: servers.Handler, _: Any) -> bool:
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            while not answered.wait(0.02):
                handler.wfile.write(b" ")
        return True

    try:
        for patience, fault in (
            (replace(QUICK, silence=0.2), wait),
            (replace(QUICK, answer=0.2), trickle),
        ):
            script.fail(fault)
            model._client.patience = patience
            with pytest.raises(LostModelError, match="takes too long"):
                model.start([646])
    finally:
        answered.set()


def test_before_the_first_token_the_sentence_is_the_error(served: tuple[Any, Script]) -> None:
    model, script = served
    script.fail(faults.status(500))
    with pytest.raises(LostModelError, match="busy or broken"):
        collect(model, PROMPT, CONFIG)


def test_a_server_that_was_busy_is_asked_again(served: tuple[Any, Script]) -> None:
    model, script = served
    whole = collect(model, PROMPT, CONFIG).token_ids
    script.fail(faults.status(429, retry_after="0.02"), after=2, times=2)
    assert collect(model, PROMPT, CONFIG).token_ids == whole
    script.fail(faults.half, after=2, times=1)
    assert collect(model, PROMPT, CONFIG).token_ids == whole


def test_a_pause_ends_when_the_run_is_stopped(served: tuple[Any, Script]) -> None:
    model, script = served
    script.fail(faults.status(503))
    with stoppable(lambda: True), pytest.raises(LoadingStoppedError):
        model.start([646])


def test_a_server_that_dies_leaves_the_steps_so_far() -> None:
    with serving() as (url, _):
        where = f"vllm:{url}?tokenizer=embedded:target#target"
        model, made = connecting.connect(where, never, QUICK), list[Any]()

        def die_at_the_third(step: Any) -> None:
            made.append(step)
            if len(made) == 3:
                model._client._http.close()
                model._client._http = _gone()

        trace = collect(model, PROMPT, CONFIG, on_step=die_at_the_third)
    assert trace.finish_reason == "cancelled" and len(trace.token_ids) == 2
    assert "can't be reached" in trace.notes[0].words


def _gone() -> Any:
    import httpx2

    return httpx2.Client(base_url="http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("form", "script", "sentence"),
    [
        ("vllm:{url}#other", Script(), "has no model 'other'; it has target"),
        ("vllm:{url}#target", Script(most=20), "names 20 tokens of each step.*--max-logprobs -1"),
        ("vllm:{url}/elsewhere#target", Script(), "status 404: no such page"),
        ("vllm:{url}#target", Script(models={"data": 5}), "has no model 'target'; it has none"),
        ("llamacpp:{url}", Script(models={"data": {"id": 1}}), "no model '' of llama.cpp"),
        ("vllm:{url}?tokenizer=/nowhere#target", Script(), "There is no folder"),
    ],
)
def test_connecting_says_what_is_missing(form: str, script: Script, sentence: str) -> None:
    with serving(script) as (url, _), pytest.raises(ModelError, match=sentence):
        load_model(form.format(url=url))


def test_another_tokenizer_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        servers, "ROUTES", servers.ROUTES | {"/tokenize": lambda *_: {"tokens": [1, 2]}}
    )
    with serving() as (url, _), pytest.raises(ModelError, match="isn't that of"):
        load_model(f"vllm:{url}?tokenizer=embedded:target#target")


def test_numbers_after_the_server_s_settings_are_labelled() -> None:
    with serving(Script(processed=True)) as (url, _):
        model = load_model(f"vllm:{url}?tokenizer=embedded:target#target")
    assert model.processed and "after the server's own settings" in model.described


def test_llama_cpp_under_speculation_is_refused() -> None:
    def zeroes(_: servers.Handler, told: Any) -> bool:
        for entry in told["completion_probabilities"][0]["top_logprobs"]:
            entry["logprob"] = 0.0
        return False

    script = Script()
    with serving(script) as (url, _):
        address = f"llamacpp:{url}?tokenizer=embedded:target"
        script.fail(lambda h, told: zeroes(h, told if isinstance(told, dict) else told[0]))
        with pytest.raises(ModelError, match="without speculation"):
            load_model(address)


def test_loading_stops_between_two_requests() -> None:
    requested = list[str]()

    def stop() -> bool:
        return bool(requested)

    def hear(text: str) -> None:
        requested.append(text)

    with serving() as (url, _), pytest.raises(LoadingStoppedError):
        load_model(f"llamacpp:{url}", should_stop=stop, on_progress=hear)


def test_the_endpoint_ends_an_answer_whose_server_broke_off_with_its_sentence(
    served: tuple[Any, Script],
) -> None:
    model, script = served
    body = {"model": "embedded:target", "prompt": PROMPT, "max_tokens": 6, "temperature": 0.0}
    with serving_endpoint(lambda where, should_stop: model) as endpoint:  # noqa: ARG005
        script.fail(faults.status(400), after=1 + 3)
        with pytest.raises(openai.InternalServerError, match="refuses the request") as raised:
            endpoint.client().completions.create(**body)
        assert raised.value.status_code == 502 and raised.value.code == "model_lost"
        script.fail(faults.status(400), after=1 + 3)
        stream = endpoint.client().completions.create(**body, stream=True)
        assert len([next(stream) for _ in range(4)]) == 4
        with pytest.raises(openai.APIError, match="refuses the request"):
            next(stream)
