"""Refusals of the endpoint: by name, in OpenAI's error schema, and never silent."""

from __future__ import annotations

import json
import socket
from typing import Any
from unittest.mock import Mock

import httpx2
import pytest

from core.server.api import routes
from core.server.api.http import MAX_BODY
from core.server.api.run import runner
from tests.server.api.served import Served

MODEL = "embedded:target"
CHAT: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
TEXT: dict[str, Any] = {"model": MODEL, "prompt": "Hi", "max_tokens": 2}
RESPONSE: dict[str, Any] = {"model": MODEL, "input": "Hi"}
PATHS = {
    "/v1/chat/completions": CHAT,
    "/v1/completions": TEXT,
    "/v1/responses": RESPONSE,
}


def error_of(answer: httpx2.Response, status: int = 400) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    return error


# llguidance has no `uniqueItems`.
BAD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "array", "uniqueItems": True}},
}
CHAT_REFUSED: list[tuple[str, Any]] = [
    ("tools", [{"type": "function", "function": {"name": "f"}}]),
    ("tools", [{"type": "custom", "custom": {"name": "f"}}]),
    ("tools", [{"type": "function", "function": {"name": "two words"}}]),
    ("tools", [{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]),
    ("tools", [{"type": "function", "function": {"name": "f"}}] * 2),
    ("tools", [{"type": "function", "function": {"name": "f", "parameters": BAD_SCHEMA}}]),
    ("tools", "f"),
    ("tool_choice", "required"),
    ("tool_choice", "any"),
    ("tool_choice", {"type": "function", "function": {"name": "f"}}),
    ("tool_choice", {"type": "custom", "custom": {"name": "f"}}),
    ("parallel_tool_calls", "yes"),
    ("response_format", {"type": "json_object", "schema": {}}),
    ("response_format", {"type": "json_schema"}),
    ("response_format", {"type": "grammar"}),
    ("response_format", {"type": "json_schema", "json_schema": {"name": "f"}}),
    (
        "response_format",
        {"type": "json_schema", "json_schema": {"name": "f", "schema": BAD_SCHEMA}},
    ),
    ("structured_outputs", {"regex": "["}),
    ("structured_outputs", {"regex": "a", "choice": ["a"]}),
    ("structured_outputs", {}),
    ("structured_outputs", {"choice": []}),
    ("structured_outputs", {"choice": [5]}),
    ("structured_outputs", {"json": "{"}),
    ("structured_outputs", {"json": BAD_SCHEMA}),
    ("structured_outputs", {"grammar": "start: /[/"}),
    ("structured_outputs", {"grammar": "root ::= ("}),
    ("guided_json", {"type": "object"}),
    ("frequency_penalty", 2.5),
    ("presence_penalty", -3),
    ("audio", {"voice": "a"}),
    ("modalities", ["text", "audio"]),
    ("prediction", {"type": "content", "content": "x"}),
    ("web_search_options", {}),
    ("service_tier", "flex"),
    ("store", True),
    ("verbosity", "low"),
    ("functions", [{"name": "f"}]),
    ("reasoning_effort", "minimal"),
    ("top_logprobs", 3),
    ("stream_options", {"include_usage": True}),
    ("n", 100),
    ("n", 1.5),
    ("temperature", -1),
    ("temperature", "hot"),
    ("temperature", True),
    ("top_p", 2),
    ("seed", -1),
    ("max_tokens", -3),
    ("max_tokens", 10**30),
    ("stop", [""]),
    ("stop", 5),
    ("logit_bias", {"the": 1}),
    ("logit_bias", {"5": 101}),
    ("logprobs", "yes"),
    ("logprobs_mode", "cooked"),
    ("decoding", {"method": "magic"}),
    ("decoding", {"method": "beam", "num_beams": 10**6}),
    ("decoding", {"nonsense": 1}),
    ("decoding", {"method": "sampling", "shaping": {"xtc_threshold": 0.2}}),
    ("decoding", []),
    ("messages", "Hi"),
    ("messages", []),
    ("model", 5),
    ("model", ""),
]


RESPONSE_REFUSED: list[tuple[str, Any, str]] = [
    ("background", True, "background"),
    ("conversation", "c", "conversation"),
    ("include", ["file_search_call.results"], "include"),
    ("truncation", "auto", "truncation"),
    ("text", {"format": {"type": "json_schema", "name": "f", "schema": BAD_SCHEMA}}, "text"),
    ("text", {"format": {"type": "json_schema", "name": "f"}}, "text.format.schema"),
    ("text", {"verbosity": "low"}, "text.verbosity"),
    ("tools", [{"type": "web_search"}], "tools"),
    ("tools", [{"type": "function", "name": ""}], "tools"),
    ("tool_choice", {"type": "function", "name": "f"}, "tool_choice"),
    ("max_tool_calls", 3, "max_tool_calls"),
    ("prompt", {"id": "p"}, "prompt"),
    ("reasoning", {"effort": "xhigh"}, "reasoning.effort"),
    ("reasoning", {"summary": "detailed"}, "reasoning.summary"),
    ("metadata", {"a": 5}, "metadata"),
    ("input", [{"type": "computer_call_output", "call_id": "c", "output": ""}], "input[0].type"),
    ("input", [{"type": "function_call_output", "output": ""}], "input[0].call_id"),
    (
        "input",
        [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"}],
        "input[0]",
    ),
    ("input", None, "input"),
]
TEXT_REFUSED: list[tuple[str, Any]] = [
    ("best_of", 3),
    ("suffix", "x"),
    ("max_tokens", 0),
    ("prompt", [[]]),
    ("prompt", [1.5]),
]
REFUSED = [
    *(("/v1/chat/completions", name, value, name) for name, value in CHAT_REFUSED),
    *(("/v1/completions", name, value, name) for name, value in TEXT_REFUSED),
    *(("/v1/responses", *case) for case in RESPONSE_REFUSED),
]


@pytest.mark.parametrize(("path", "name", "value", "param"), REFUSED)
def test_a_request_is_refused_by_the_name_of_its_field(
    endpoint: Served, path: str, name: str, value: Any, param: str
) -> None:
    named = error_of(endpoint.post(path, {**PATHS[path], name: value}))["param"]
    assert param in (named, named.partition(".")[0])


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"response_format": {"type": "json_schema", "schema": {}}}, "json_schema is missing"),
        ({"tools": [5]}, "tools[0] must be an object, got 5"),
        ({"tool_choice": {"type": "function"}}, "names a function as"),
        ({"tool_choice": {"type": "function", "function": "add"}}, "names a function as"),
        ({"tool_choice": {"type": "function", "name": "add"}}, "names a function as"),
        ({"functions": []}, "give tools"),
        ({"function_call": "auto"}, "give tool_choice"),
        ({"structured_outputs": {"grammar": 'a: "b"'}}, "start"),
        ({"structured_outputs": {"json": _nested(300)}}, "nested too deeply"),
        ({"grammar": "root ::= [0-9]"}, "structured_outputs with grammar"),
        ({"json_schema": {}}, "structured_outputs with json"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "a b!", "schema": {}},
                }
            },
            "up to 64 letters",
        ),
        *(
            (
                {"tools": [{"type": "function", "function": {"name": "f", **more}}]},
                f"tools[0].function.{next(iter(more))} must be",
            )
            for more in ({"strict": "yes"}, {"description": 5})
        ),
    ],
)
def test_a_refusal_says_what_to_write_instead(
    endpoint: Served, more: dict[str, Any], words: str
) -> None:
    assert words in error_of(endpoint.post("/v1/chat/completions", {**CHAT, **more}))["message"]


def test_pictures_in_messages_and_results_of_no_call_are_refused(endpoint: Served) -> None:
    picture = [{"type": "image_url", "image_url": {"url": "data:,"}}]
    for message in ({"role": "user", "content": picture}, {"role": "tool", "content": "x"}):
        body = {"model": MODEL, "messages": [message]}
        assert error_of(endpoint.post("/v1/chat/completions", body))["param"].startswith("messages")


@pytest.mark.parametrize("path", PATHS)
def test_an_unknown_parameter_or_model_is_refused(endpoint: Served, path: str) -> None:
    body = PATHS[path]
    error = error_of(endpoint.post(path, {**body, "temprature": 1}))
    assert (error["param"], error["code"]) == ("temprature", "unknown_parameter")
    error = error_of(endpoint.post(path, {**body, "model": "/etc"}), 404)
    assert error["code"] == "model_not_found"


def test_what_is_said_twice_or_has_no_effect_is_refused(endpoint: Served) -> None:
    beam = {"method": "beam", "num_beams": 2}
    for more, param in (
        ({"temperature": 0.5, "decoding": {"shaping": {"temperature": 0.5}}}, "temperature"),
        ({"max_tokens": 5, "decoding": {"max_new_tokens": 5}}, "max_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, "max_completion_tokens"),
        ({"temperature": 0.5, "decoding": beam}, "temperature"),
        ({"top_p": 0.5, "decoding": {"method": "greedy"}}, "top_p"),
        ({"stop": ["a"] * 65}, "stop"),
        ({"decoding": {"method": "speculative", "draft": "/etc"}}, "decoding"),
    ):
        answer = endpoint.post("/v1/chat/completions", {**CHAT, **more})
        assert error_of(answer, answer.status_code)["param"] == param


def test_a_prompts_tokens_have_no_final_log_probabilities(endpoint: Served) -> None:
    body = {**TEXT, "echo": True, "logprobs": 1, "logprobs_mode": "final"}
    assert error_of(endpoint.post("/v1/completions", body))["param"] == "logprobs_mode"


def test_a_prompt_that_does_not_fit_is_refused(endpoint: Served) -> None:
    error = error_of(endpoint.post("/v1/completions", {**TEXT, "prompt": "word " * 2000}))
    assert "context window" in error["message"]
    error = error_of(endpoint.post("/v1/completions", {**TEXT, "prompt": [4096]}))
    assert "vocabulary" in error["message"]


def test_more_log_probabilities_than_an_answer_holds_are_refused(
    endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token that came out is one beside the most probable ones."""
    monkeypatch.setattr(runner, "MAX_ENTRIES", 6)
    assert endpoint.post("/v1/completions", {**TEXT, "logprobs": 2}).status_code == 200
    error = error_of(endpoint.post("/v1/completions", {**TEXT, "logprobs": 3}))
    assert "fewer" in error["message"]


def test_a_body_must_be_a_json_object_of_bounded_size(endpoint: Served) -> None:
    url = f"{endpoint.url}/v1/completions"
    kind = {"content-type": "application/json"}
    assert error_of(httpx2.post(url, content=b"{}", headers={"content-type": "text/plain"}), 415)
    assert error_of(httpx2.post(url, content=b"{}"), 415)
    for content in (b"", b"[]", b"{", b'{"model": NaN}', b"[" * 100_000, b"\xff"):
        assert error_of(httpx2.post(url, content=content, headers=kind))
    deep = b'{"a": ' + b"[" * 3_000 + b"]" * 3_000 + b"}"
    error = error_of(httpx2.post(url, content=deep, headers=kind))
    assert error["message"] == "The body is nested too deeply."
    huge = b'{"prompt": "' + b"a" * MAX_BODY + b'"}'
    assert error_of(httpx2.post(url, content=huge, headers=kind), 413)
    pieces = (huge[at : at + 65536] for at in range(0, len(huge), 65536))
    assert error_of(httpx2.post(url, content=pieces, headers=kind), 413)


def test_another_host_or_another_sites_page_is_refused(endpoint: Served) -> None:
    for path, body in PATHS.items():
        assert error_of(endpoint.post(path, body, headers={"host": "evil.example"}), 421)
        foreign = {"origin": "https://evil.example"}
        assert error_of(endpoint.post(path, body, headers=foreign), 403)
        assert "access-control-allow-origin" not in endpoint.post(path, body).headers


@pytest.mark.parametrize("path", [*PATHS, "/tokenize", "/detokenize"])
def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(
    endpoint: Served, path: str
) -> None:
    body = PATHS.get(path, TEXT)
    for more in ({"\ud800": 1}, {"model": "\ud800"}, {"prompt": "a\udfffb"}, {"user": ["\ud800"]}):
        content = json.dumps({**body, **more}).encode()
        for raw in (content, content.replace(b"\\ud800", b"\xed\xa0\x80")):
            headers = {"content-type": "application/json"}
            answer = httpx2.post(f"{endpoint.url}{path}", content=raw, headers=headers)
            assert "surrogate" in error_of(answer)["message"]


def test_what_the_router_refuses_and_a_crash_have_the_shape_too(
    endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("/tokenize", "/tokenizer_info", "/metrics"):
        assert error_of(httpx2.request("PUT", endpoint.url + path), 405)
    assert error_of(httpx2.request("TRACE", f"{endpoint.url}/v1/models"), 405)
    monkeypatch.setattr(routes, "read_body", Mock(side_effect=ValueError("secret")))
    error = error_of(endpoint.post("/v1/completions", TEXT), 500)
    assert error["type"] == "server_error" and "secret" not in error["message"]


@pytest.mark.parametrize("head", ["content-type: application/json", "content-type: text/plain"])
def test_a_body_without_end_is_cut_off_after_its_refusal(endpoint: Served, head: str) -> None:
    port = int(endpoint.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        host = f"POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{head}\r\n"
        client.sendall(f"{host}transfer-encoding: chunked\r\n\r\n".encode())
        chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            client.sendall(chunk * (100 * MAX_BODY // 0x10000))


def test_what_is_not_there_is_said_in_json(endpoint: Served) -> None:
    for path in ("/v1/embeddings", "/v1"):
        assert error_of(endpoint.post(path, {}), 404)["code"] == "unknown_url"
    assert error_of(httpx2.get(f"{endpoint.url}/v1/completions"), 404)
    assert error_of(httpx2.get(f"{endpoint.url}/v1/responses/resp_1"), 404)
