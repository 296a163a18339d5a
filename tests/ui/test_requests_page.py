"""The Requests page without a browser: what clients asked, and what is sent from it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from core.decoding.autoregressive.config import Sampling
from core.decoding.counting import counted
from core.decoding.errors import ConfigError
from core.models.scripted import ScriptedModel
from core.server.api.history import Record
from core.server.api.service import Service
from core.server.api.submit import submit
from core.server.settings import Settings
from pages.ui.hosting import endpoint
from pages.ui.requests import again, calls, controls, request_list
from pages.ui.requests.state import RequestsView
from pages.ui.run.jobs import QUEUE
from pages.ui.shell import models
from tests.ui.conftest import ROOT, open_page
from tests.ui.seen import charts, texts

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
    torch.set_num_threads(1)
    model = Marked(
        {(): [0.1, 0.0, 0.1, 0.1, 0.4, 0.3, 0.0, 0.0], (4,): [0.5, 0, 0, 0, 0, 0, 0.5, 0]},
        context_window=64,
        model_id="embedded:target",
    )
    monkeypatch.setattr(models, "_cached", lambda _: model)
    return fresh(monkeypatch)


def fresh(monkeypatch: pytest.MonkeyPatch, **options: Any) -> Service:
    found = Service(load=models.load, offered=models.options, queue=QUEUE, **options)
    monkeypatch.setattr(endpoint, "service", lambda: found)
    return found


def open_requests() -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=60)
    return open_page(app, "api_requests.py")


def ended(record: Record) -> Record:
    end = time.monotonic() + 20
    while record.active and time.monotonic() < end:
        time.sleep(0.01)
    assert not record.active
    return record


def ask(service: Service, prompt: str = "the cat", owner: str = "", **more: Any) -> Record:
    body = {"model": "embedded:target", "prompt": prompt, "max_tokens": 3, "seed": 1, **more}
    found = submit(service, "completions", body, owner)
    found.start(service, lambda _: None).leave()
    return ended(found.record)


def test_an_empty_page_says_where_to_point_a_client(service: Service) -> None:
    del service
    app = open_requests()
    assert not app.exception
    assert "No request yet" in texts(app) and "/v1" in texts(app)


def test_a_clients_request_is_listed_and_opened_with_its_text_and_settings(
    service: Service,
) -> None:
    record = ask(service)
    app = open_requests()
    assert not app.exception
    assert record.state == "finished", record.error
    assert [header.value for header in app.header] == ["Calls", "Request 1"]
    view: RequestsView = app.session_state["requests_view"]
    assert view.trace is not None
    assert view.trace.with_checks(()) == record.traces[0]
    assert request_list.said(record) == (
        "Request 1, completions, embedded:target, sampling, finished, "
        f"{counted(record.tokens, 'token')}, "
        f"first token after {record.seconds_to_first_token:.2f} s, "
        f"{record.tokens_per_second:.0f} tokens a second after the first, asked: the cat"
    )
    assert any('"seed": 1' in code.value for code in app.code)
    assert charts(app)


def test_a_request_is_sent_from_the_page_and_followed(service: Service) -> None:
    app = open_requests()
    app.button(key="send").click().run()
    assert not app.exception
    record = ended(service.history.of("")[0])
    assert record.endpoint == "responses"
    assert record.state == "finished", record.error
    app.run()
    view: RequestsView = app.session_state["requests_view"]
    assert view.chosen == record.id and view.trace is not None


def test_a_wrong_request_is_said_on_the_page(service: Service) -> None:
    app = open_requests()
    app.text_input(key="decoding").set_value("[1]").run()
    app.button(key="send").click().run()
    assert "JSON object" in texts(app)
    app.text_input(key="decoding").set_value('{"method": "magic"}').run()
    app.button(key="send").click().run()
    ended(service.history.of("")[0])
    assert "magic" in texts(app.run())


def test_what_the_json_names_goes_before_the_fields(service: Service) -> None:
    app = open_requests()
    asked = {"seed": 5, "max_new_tokens": 2, "shaping": {"temperature": 0.3}}
    app.text_input(key="decoding").set_value(json.dumps(asked)).run()
    app.button(key="send").click().run()
    record = ended(service.history.of("")[0])
    assert record.state == "finished", record.error
    config = record.configs[0]
    assert isinstance(config, Sampling)
    assert (config.seed, config.max_new_tokens, config.shaping.temperature) == (5, 2, 0.3)


def test_what_strangers_wrote_is_never_markup(service: Service) -> None:
    ask(service, HOSTILE)
    app = open_requests()
    assert not app.exception
    for element in [*app.markdown, *app.caption]:
        assert "onerror" not in element.value and "evil.example" not in element.value


def test_requests_are_seen_with_the_key_that_made_them(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    del service
    keyed = fresh(monkeypatch, keys=(KEY, "another-key-of-letters"))
    ask(keyed, owner=keyed.owner_of(KEY))
    app = open_requests()
    assert not [header for header in app.header if header.value == "Request 1"]
    app.text_input(key="api_key").set_value("another-key-of-letters").run()
    assert "No request yet" in texts(app)
    app.text_input(key="api_key").set_value("wrong").run()
    assert "This is no key of this server" in texts(app)
    app.text_input(key="api_key").set_value(KEY).run()
    assert app.header[1].value == "Request 1"


def test_calls_are_written_for_python_curl_and_json() -> None:
    body = {"model": "m", "input": "it's", "seed": 4, "decoding": {"method": "greedy"}}
    python = calls.as_python("http://h/v1", "responses", body, key=False)
    compile(python, "call", "exec")
    assert "extra_body={'seed': 4, 'decoding': {'method': 'greedy'}}," in python
    curl = calls.as_curl("http://h/v1", "chat", body, key=True)
    assert "/chat/completions" in curl and "$OPENAI_API_KEY" in curl
    import shlex

    assert json.loads(shlex.split(curl.replace("\\\n", " "))[-1]) == body


def test_decoding_must_be_an_object() -> None:
    with pytest.raises(ConfigError, match="JSON object"):
        controls.decoding_in("{")
    assert controls.decoding_in(" ") == {}


def test_another_servers_answer_is_drawn_and_says_what_it_cannot_tell(service: Service) -> None:
    del service
    entry = {"token": HOSTILE, "logprob": -2.5, "top_logprobs": [{"token": "b", "logprob": -0.1}]}
    answer = {"model": "theirs", "choices": [{"logprobs": {"content": [entry]}}]}
    app = open_requests()
    app.text_area(key="foreign").set_value(json.dumps(answer)).run()
    assert not app.exception
    said = texts(app)
    assert "The rank of 1 of 1 token is not known" in said
    assert "rank 2 or later, not known" in said and "nothing of it was run or checked" in said
    place, every = (frame.value for frame in app.dataframe)
    assert list(place["rank"]) == ["1", "?"]
    assert place["probability"].sum() == pytest.approx(1.0)
    assert list(every["rank"]) == ["≥ 2"]
    assert every["probability"][0] == pytest.approx(0.0821, abs=1e-4)
    app.button(key="close_foreign").click().run()
    assert not app.dataframe
    app.text_area(key="foreign").set_value('{"choices": []}').run()
    assert "holds no log-probabilities" in texts(app)


def test_before_any_request_a_stored_run_is_shown(service: Service) -> None:
    del service
    app = open_requests()
    assert app.header[1].value == "What a request will look like"
    assert app.session_state["requests_view"].source == "example"
    assert charts(app)


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
    assert not app.exception
    assert charts(app)
    assert [button for button in app.button if button.key == "open-Sampling lab"] == []


def test_the_same_request_in_another_way_stands_beside_the_first(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask(service)
    app = open_requests()
    view: RequestsView = app.session_state["requests_view"]
    with monkeypatch.context() as chosen:
        chosen.setattr(again.st, "session_state", {"variant": "Greedy"})
        again._send_variant(view, first)
    second = ended(service.history.of("")[0])
    app.run()
    assert not app.exception
    assert second.configs[0].max_new_tokens == 3
    assert app.header[1].value == "Request 2"
    assert "Request 1 · sampling" in texts(app)
    app.button(key="swap").click().run()
    assert app.header[1].value == "Request 1"


def test_a_variant_keeps_what_was_asked_and_takes_a_draft_that_fits(service: Service) -> None:
    shaped = {"method": "sampling", "shaping": {"top_k": 3}, "max_new_tokens": 2}
    record = ask(service, max_tokens=None, decoding=shaped)
    found = again.variants(record)
    assert found["Temperature 0.3"]["shaping"]["top_k"] == 3
    assert found["Temperature 0.3"]["shaping"]["temperature"] == 0.3
    assert all(one["max_new_tokens"] == 2 for one in found.values())
    assert found["Speculative, the embedded draft"]["draft"] == "embedded:draft"
    other = Record(id="x", endpoint="chat", model="small", configs=record.configs)
    drafts = [one.get("draft") for one in again.variants(other).values()]
    assert drafts == [None] * len(drafts)


def test_the_data_path_is_recorded_for_the_next_requests_once_asked_for(service: Service) -> None:
    assert ask(service).path is None
    app = open_requests()
    service.watch("", True)
    watched = ask(service)
    assert watched.path is not None
    functions = {call.function for call in watched.path.walk()}
    assert {"encode_prompt", "Picker.pick", "Writer.on_step"} <= functions
    # Where the operator's models lie, and how they are loaded, is not for the key's holder.
    assert not {"load", "load_model", "offered", "settings"} & functions
    assert watched.bytes > 600 * sum(1 for _ in watched.path.walk())
    service.watch("", False)
    assert ask(service).path is None
    assert not app.run().exception


def test_one_setting_switches_the_endpoint_off(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    del service
    monkeypatch.undo()
    monkeypatch.setattr(endpoint, "settings", lambda: Settings(api=False))
    off = endpoint.service.__wrapped__()
    monkeypatch.setattr(endpoint, "service", lambda: off)
    client = TestClient(Starlette(routes=endpoint.endpoint_routes()))
    for path in ("/v1/models", "/metrics"):
        refused = client.get(path)
        assert refused.status_code == 403 and "switched off" in refused.json()["error"]["message"]
    app = open_requests()
    assert "switched off" in texts(app)
    assert app.button(key="send").disabled


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
    found = again.conversation(Record("a", kind, "embedded:target", body=body))
    assert found == ({} if said is None else {"chat": True, "system": said})
