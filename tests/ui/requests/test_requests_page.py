"""The Requests page without a browser: what clients asked, and what is sent from it."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import replace
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from core.decoding.counting import counted
from core.models.scripted import ScriptedModel
from core.server.api.history import Record
from core.server.api.run.call_reader import CallText
from core.server.api.service import Service
from core.server.api.submit import submit
from core.server.queue import QUEUE
from core.server.settings import Settings
from pages.ui.hosting import endpoint
from pages.ui.requests import again, calls, request_list
from pages.ui.requests.state import RequestsView
from pages.ui.resources import models
from tests.ui.conftest import open_page, serve
from tests.ui.seen import charts, markup, texts

KEY = "a-key-of-many-letters"
HOSTILE = '<img src=x onerror="alert(1)"> ![x](https://evil.example/x.png)'


class Marked(ScriptedModel):
    """A scripted model with a chat template of one line."""

    has_chat_template = True

    def encode_chat(self, messages: Any, add_generation_prompt: bool = True) -> list[int]:
        del messages, add_generation_prompt
        return self.encode("the cat")


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    model = Marked(
        {(): [0.1, 0.0, 0.1, 0.1, 0.4, 0.3, 0.0, 0.0], (4,): [0.5, 0, 0, 0, 0, 0, 0.5, 0]},
        context_window=64,
        model_id="embedded:target",
    )
    serve(monkeypatch, model)
    return fresh(monkeypatch)


def fresh(monkeypatch: pytest.MonkeyPatch, **options: Any) -> Service:
    service = Service(load=models.load, offered=models.options, queue=QUEUE, **options)
    monkeypatch.setattr(endpoint, "service", lambda: service)
    return service


def open_requests() -> AppTest:
    return open_page("api_requests.py", {})


def view_of(app: AppTest) -> RequestsView:
    return cast(RequestsView, app.session_state["requests_view"])


def send(app: AppTest, service: Service, **decoding: Any) -> Record:
    """Send the page's request with these settings, and wait for its end."""
    app.text_input(key="decoding").set_value(json.dumps(decoding)).run()
    app.button(key="send").click().run()
    return ended(service.history.of("")[0])


def ended(record: Record) -> Record:
    end = time.monotonic() + 20
    while record.active and time.monotonic() < end:
        time.sleep(0.01)
    assert not record.active
    return record


def ask(service: Service, prompt: str = "the cat", owner: str = "", **more: Any) -> Record:
    body = {"model": "embedded:target", "prompt": prompt, "max_tokens": 3, "seed": 1, **more}
    submitted = submit(service, "completions", body, owner)
    submitted.start(service, lambda _: None).leave()
    return ended(submitted.record)


@pytest.mark.usefixtures("service")
def test_before_any_request_the_page_says_where_to_point_a_client_and_shows_a_run() -> None:
    app = open_requests()
    assert "No request yet" in texts(app) and "/v1" in texts(app)
    assert app.header[1].value == "What a request will look like"
    assert view_of(app).source == "example" and charts(app)


def test_a_clients_request_is_listed_and_opened_with_its_text_and_settings(
    service: Service,
) -> None:
    record = ask(service)
    assert record.state == "finished", record.error
    app = open_requests()
    assert [header.value for header in app.header] == ["Calls", "Request 1"]
    assert view_of(app).trace.with_checks(()) == record.traces[0]  # type: ignore[union-attr]
    sentence = request_list.description(record)
    assert sentence.startswith("Request 1, completions, embedded:target, sampling, finished, ")
    assert f", {counted(record.tokens, 'token')}, first token after " in sentence
    assert sentence.endswith(" tokens a second after the first, asked: the cat")
    assert any('"seed": 1' in code.value for code in app.code)
    assert charts(app)


def test_a_request_is_sent_from_the_page_and_followed(service: Service) -> None:
    """The JSON's settings take precedence over the fields."""
    app = open_requests()
    record = send(app, service, seed=5, max_new_tokens=2, shaping={"temperature": 0.3})
    assert record.endpoint == "responses"
    assert record.state == "finished", record.error
    config = record.configs[0]
    assert (config.seed, config.max_new_tokens, config.shaping.temperature) == (5, 2, 0.3)
    assert not app.run().exception
    assert view_of(app).chosen == record.id and view_of(app).trace is not None


def test_a_wrong_request_is_said_on_the_page(service: Service) -> None:
    app = open_requests()
    for wrong in ("[1]", "{"):
        app.text_input(key="decoding").set_value(wrong).run()
        app.button(key="send").click().run()
        assert "JSON object" in texts(app)
    send(app, service, method="magic")
    assert "magic" in texts(app.run())


def test_what_strangers_wrote_is_never_markup(service: Service) -> None:
    ask(service, HOSTILE)
    shown = markup(open_requests())
    assert "onerror" not in shown and "evil.example" not in shown


@pytest.mark.usefixtures("service")
def test_requests_are_seen_with_the_key_that_made_them(monkeypatch: pytest.MonkeyPatch) -> None:
    keyed = fresh(monkeypatch, keys=(KEY, "another-key-of-letters"))
    ask(keyed, owner=keyed.owner_of(KEY))
    app = open_requests()
    for key, words in (
        ("", "No request yet"),
        ("another-key-of-letters", "No request yet"),
        ("wrong", "This is no key of this server"),
    ):
        app.text_input(key="api_key").set_value(key).run()
        assert key == "" or words in texts(app)
        assert "Request 1" not in [header.value for header in app.header]
    app.text_input(key="api_key").set_value(KEY).run()
    assert app.header[1].value == "Request 1"


def test_calls_are_written_for_python_curl_and_json() -> None:
    body = {"model": "m", "input": "it's", "seed": 4, "decoding": {"method": "greedy"}}
    python = calls.as_python("http://h/v1", "responses", body, key=False)
    compile(python, "call", "exec")
    assert "extra_body={'seed': 4, 'decoding': {'method': 'greedy'}}," in python
    curl = calls.as_curl("http://h/v1", "chat", body, key=True)
    assert "/chat/completions" in curl and "$OPENAI_API_KEY" in curl
    assert json.loads(shlex.split(curl.replace("\\\n", " "))[-1]) == body


@pytest.mark.usefixtures("service")
def test_another_servers_answer_is_drawn_and_says_what_it_cannot_tell() -> None:
    entry = {"token": HOSTILE, "logprob": -2.5, "top_logprobs": [{"token": "b", "logprob": -0.1}]}
    answer = {"model": "theirs", "choices": [{"logprobs": {"content": [entry]}}]}
    app = open_requests()
    app.text_area(key="foreign").set_value(json.dumps(answer)).run()
    for words in (
        "The rank of 1 of 1 token is not known",
        "rank 2 or later, not known",
        "nothing of it was run or checked",
    ):
        assert words in texts(app)
    place, every = (frame.value for frame in app.dataframe)
    assert list(place["rank"]) == ["1", "?"] and list(every["rank"]) == ["≥ 2"]
    assert place["probability"].sum() == pytest.approx(1.0)
    assert every["probability"][0] == pytest.approx(0.0821, abs=1e-4)
    app.button(key="close_foreign").click().run()
    assert not app.dataframe
    app.text_area(key="foreign").set_value('{"choices": []}').run()
    assert "holds no log-probabilities" in texts(app)


@pytest.mark.parametrize(
    "decoding",
    [{"method": "beam", "num_beams": 2}, {"method": "speculative", "drafter": "prompt_lookup"}],
)
def test_a_run_of_any_method_is_drawn_by_its_own_figure(
    service: Service, decoding: dict[str, Any]
) -> None:
    record = ask(service, decoding=decoding)
    assert record.state == "finished", record.error
    app = open_requests()
    assert charts(app)
    assert "open-sampling" not in [button.key for button in app.button]


def test_the_same_request_in_another_way_stands_beside_the_first(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask(service)
    app = open_requests()
    with monkeypatch.context() as chosen:
        chosen.setattr(again.st, "session_state", {"variant": "greedy"})
        again._send_variant(view_of(app), first)
    second = ended(service.history.of("")[0])
    assert not app.run().exception
    assert second.configs[0].max_new_tokens == 3
    assert app.header[1].value == "Request 2" and "Request 1 · sampling" in texts(app)
    app.button(key="swap").click().run()
    assert app.header[1].value == "Request 1"


def test_a_variant_keeps_what_was_asked_and_takes_a_draft_that_fits(service: Service) -> None:
    shaped = {"method": "sampling", "shaping": {"top_k": 3}, "max_new_tokens": 2}
    record = ask(service, max_tokens=None, decoding=shaped)
    variants = again.variants(record)
    assert {"top_k": 3, "temperature": 0.3}.items() <= variants["cool"]["shaping"].items()
    assert all(settings["max_new_tokens"] == 2 for settings in variants.values())
    assert variants["embedded_draft"]["draft"] == "embedded:draft"
    small = Record(id="x", endpoint="chat", model="small", configs=record.configs)
    assert not any("draft" in settings for settings in again.variants(small).values())


def test_the_data_path_is_recorded_for_the_next_requests_once_asked_for(service: Service) -> None:
    assert ask(service).path is None
    service.watch("", True)
    watched = ask(service)
    functions = [call.function for call in watched.path.walk()]
    assert {"encode_prompt", "Picker.pick", "Emitter.on_step"} <= set(functions)
    # Where the operator's models lie, and how they are loaded, is not for the key's holder.
    assert not {"load", "load_model", "offered", "settings"} & set(functions)
    assert watched.bytes > 600 * len(functions)
    service.watch("", False)
    assert ask(service).path is None
    open_requests()


def test_one_setting_switches_the_endpoint_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "settings", lambda: Settings(api=False))
    off = endpoint.service.__wrapped__()
    monkeypatch.setattr(endpoint, "service", lambda: off)
    client = TestClient(Starlette(routes=endpoint.endpoint_routes()))
    for path in ("/v1/models", "/metrics"):
        refused = client.get(path)
        assert refused.status_code == 403 and "switched off" in refused.json()["error"]["message"]
    app = open_requests()
    assert "switched off" in texts(app) and app.button(key="send").disabled


CHAT = [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("chat", {"messages": CHAT}, ""),
        ("chat", {"messages": [{"role": "developer", "content": "Be kind."}, *CHAT]}, "Be kind."),
        ("responses", {"input": "Hi", "instructions": "Be brief."}, "Be brief."),
        ("responses", {"input": "Hi"}, ""),
        ("responses", {"input": "Hi", "previous_response_id": "resp_1"}, None),
        ("responses", {"input": CHAT}, None),
        ("chat", {"messages": [*CHAT, {"role": "assistant", "content": "Hello"}, *CHAT]}, None),
        ("chat", {"messages": [{"role": "user", "content": [{"type": "text"}]}]}, None),
        ("completions", {"prompt": "Hi"}, None),
    ],
)
def test_a_conversation_of_one_message_can_be_asked_again_elsewhere(
    kind: Any, body: dict[str, Any], said: str | None
) -> None:
    values = again.conversation(Record(id="a", endpoint=kind, model="embedded:target", body=body))
    assert values == ({} if said is None else {"chat": True, "system": said})


def test_a_request_s_run_goes_on_with_another_token_on_decode(service: Service) -> None:
    record = ask(service)
    app = open_requests()
    view = view_of(app)
    view.select(0)
    app.session_state["request-fork"] = True
    app.run()
    step = record.traces[0].token_steps[0]
    other = next(c for c in step.candidates if c.token_id != step.token_id)
    assert app.selectbox(key=f"request_token_{view.number}_0").value == other.token_id
    app.button(key="request_go_on").click().run()
    decode = app.session_state["view"]
    if job := decode.jobs.get("decode"):
        assert job.done.wait(20) and not job.error, job.error
    made = job.result if job else decode.trace
    assert made.prompt_ids == record.traces[0].prompt_ids
    assert made.token_ids[0] == other.token_id and made.token_steps[0].forced_as == "given"
    assert made.config.seed == record.traces[0].config.seed


@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_a_run_that_cannot_go_on_offers_no_other_token(service: Service, beta: float) -> None:
    traces = ask(service).traces
    config = traces[0].config
    shaping = replace(config.shaping, contrastive_beta=beta)
    traces[0] = replace(traces[0], config=replace(config, shaping=shaping))
    app = open_requests()
    popovers = {block.proto.popover.label for block in app.get("popover")}
    assert ("Another token" in popovers) == (not beta)
    assert not app.exception


def test_a_request_shows_its_constraint_and_keeps_it_in_another_way(
    service: Service,
) -> None:
    rule = {"structured_outputs": {"choice": ["the cat", "cat"]}}
    record = ask(service, **rule)
    assert record.state == "finished", record.error
    assert record.rule == "choice" and "constrained by choice" in request_list.description(record)
    assert "Constraint: choice the cat" in texts(open_requests())
    for decoding in again.variants(record).values():
        assert "constraint" not in decoding.get("shaping", {})
    inside = {"shaping": {"constraint": {"kind": "choice", "text": "the cat\ncat"}}}
    by_decoding = ask(service, decoding=inside)
    for decoding in again.variants(by_decoding).values():
        assert decoding["shaping"]["constraint"]["kind"] == "choice"


def test_a_request_s_calls_stand_below_its_text(service: Service) -> None:
    record = ask(service, structured_outputs={"choice": ["the cat"]})
    record.add_call(0, CallText(0, "get_weather", ""))
    record.add_call(0, CallText(0, "get_weather", '{"city": "Oslo"}'))
    app = open_requests()
    assert any(code.value == 'get_weather({"city": "Oslo"})' for code in app.code)
