"""Formats of an answer's text: OpenAI's and vLLM's parameters, whole and streamed."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import jsonschema
import openai
import pytest
from pydantic import BaseModel, Field

from core.server.api.routes import takes_long
from tests.server.api.served import Served, served
from tests.server.api.test_client import last_trace
from tests.server.api.test_refusals import error_of

MODEL = "embedded:target"
ASK: Any = [{"role": "user", "content": "What is 3 + 4?"}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sum": {"type": "integer", "minimum": 0, "maximum": 99}, "sure": {"enum": [1]}},
    "required": ["sum", "sure"],
    "additionalProperties": False,
}
FLAT: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"enum": [1]}, "b": {"type": "boolean"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


class Sum(BaseModel):
    total: int = Field(ge=0, le=99)
    right: bool


def _answer(endpoint: Served, path: str, **more: Any) -> dict[str, Any]:
    prompt = {"/v1/completions": {"prompt": "Hi"}, "/v1/responses": {"input": "Hi"}}
    body = {"model": MODEL, **prompt.get(path, {"messages": ASK}), **more}
    answer = endpoint.post(path, body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _content(endpoint: Served, **more: Any) -> str:
    text = _answer(endpoint, "/v1/chat/completions", **more)["choices"][0]["message"]["content"]
    return str(text)


def test_a_chat_keeps_to_its_schema_and_says_so_in_its_settings(endpoint: Served) -> None:
    held = {"name": "sum", "schema": SCHEMA, "strict": True}
    more = {"response_format": {"type": "json_schema", "json_schema": held}}
    for seed in range(3):
        jsonschema.validate(json.loads(_content(endpoint, seed=seed, **more)), SCHEMA)
    answer = _answer(endpoint, "/v1/chat/completions", **more)
    constraint = answer["decoding"]["shaping"]["constraint"]
    assert constraint["kind"] == "json" and json.loads(constraint["text"]) == SCHEMA
    assert answer["choices"][0]["finish_reason"] == "stop"
    trace_constraint = last_trace(endpoint).config.shaping.constraint
    assert trace_constraint is not None and trace_constraint.kind == "json"


def test_a_stream_adds_up_to_the_whole_answer(client: openai.OpenAI) -> None:
    held: Any = {"type": "json_schema", "json_schema": {"name": "sum", "schema": SCHEMA}}
    body: Any = {"model": MODEL, "messages": ASK, "seed": 4, "response_format": held}
    whole = client.chat.completions.create(**body).choices[0].message.content
    chunks = client.chat.completions.create(**body, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole


def test_openai_s_parse_gives_objects(client: openai.OpenAI) -> None:
    chat = client.chat.completions.parse(model=MODEL, messages=ASK, response_format=Sum)
    assert isinstance(chat.choices[0].message.parsed, Sum)
    response = client.responses.parse(model=MODEL, input="What is 3 + 4?", text_format=Sum)
    assert isinstance(response.output_parsed, Sum)
    text = response.text
    assert text is not None and text.format is not None and text.format.type == "json_schema"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions", "/v1/responses"])
def test_vllm_s_rules_act_in_every_api(endpoint: Served, path: str) -> None:
    answer = _answer(endpoint, path, structured_outputs={"choice": ["yes", "no"]})
    text = {
        "/v1/chat/completions": lambda: answer["choices"][0]["message"]["content"],
        "/v1/completions": lambda: answer["choices"][0]["text"],
        "/v1/responses": lambda: answer["output"][0]["content"][0]["text"],
    }[path]()
    assert text in ("yes", "no")


@pytest.mark.parametrize(
    ("rule", "pattern"),
    [
        ({"regex": "[0-9]{3}-[ab]"}, "[0-9]{3}-[ab]"),
        ({"grammar": 'start: "a" /[0-9]{2}/'}, "a[0-9]{2}"),
        ({"grammar": 'root ::= "b" [0-9]'}, "b[0-9]"),
        ({"json": json.dumps(FLAT), "disable_any_whitespace": True}, r'\{"a":1,"b":(true|false)\}'),
        ({"json": FLAT, "whitespace_pattern": "[ ]{2}"}, r'\{(  )?"a"(  )?:[ 1,]+"b"[ :]+\w+ *\}'),
    ],
)
def test_each_rule_of_vllm_s_holds(endpoint: Served, rule: Any, pattern: str) -> None:
    for seed in range(2):
        assert re.fullmatch(pattern, _content(endpoint, structured_outputs=rule, seed=seed))


def test_a_grammar_of_many_blank_lines_is_read_fast(endpoint: Served) -> None:
    begin = time.monotonic()
    assert _content(endpoint, structured_outputs={"grammar": "\n" * 20_000 + ' start: "a"'}) == "a"
    assert _content(endpoint, structured_outputs={"grammar": 'root ::= "a"' + "\n" * 9_000}) == "a"
    body = {"messages": ASK, "structured_outputs": {"grammar": "root ::= " + "\n" * 90_000 + "a"}}
    error = error_of(endpoint.post("/v1/chat/completions", {"model": MODEL, **body}))
    assert "at most 10,000 characters of GBNF" in error["message"]
    assert time.monotonic() - begin < 4


def test_a_body_with_a_grammar_is_known_however_its_name_is_written() -> None:
    assert takes_long(b'{"tools": []}') and takes_long(rb'{"\u0074ools": []}')
    assert not takes_long(b'{"prompt": "Hi"}')


def test_an_answer_says_where_its_rule_could_not_act(
    endpoint: Served, models: dict[str, Any]
) -> None:
    rule = {"structured_outputs": {"regex": "[ab]{40}"}}
    path, ask = "/v1/chat/completions", {"messages": ASK, "model": MODEL, "max_tokens": 3}
    (note,) = _answer(endpoint, path, max_tokens=3, **rule)["notes"]
    assert note == "The run ended by the bound on its tokens before its text was complete."
    response = _answer(endpoint, "/v1/responses", max_output_tokens=3, **rule)
    assert response["notes"] == [note]
    stream = endpoint.post(path, {**ask, **rule, "stream": True}).text
    assert json.loads(stream.split("data: ")[-2])["notes"] == [note]
    banned = {"structured_outputs": {"choice": ["no"]}, "bad_words": ["no"], "temperature": 0}
    (note,) = _answer(endpoint, path, **banned)["notes"]
    assert "gave way" in note
    # The ban leaves "n", and then only "o" may follow; the bias makes the model write "n".
    free = {**banned, "structured_outputs": {"choice": ["yes", "no"]}}
    free["logit_bias"] = {str(models[MODEL].encode("n")[0]): 50}
    for where, text in ((path, "no"), ("/v1/responses", "no")):
        answer = _answer(endpoint, where, **free)
        assert text in json.dumps(answer.get("output") or answer["choices"])
        assert answer["notes"] == [note.replace("token 1", "token 2")]
    assert "notes" not in _answer(endpoint, path, structured_outputs={"choice": ["no"]})


def test_any_json_object_is_one(endpoint: Served, models: dict[str, Any]) -> None:
    # The model likes the closing brace best, so that the object ends.
    bias = {str(models[MODEL].encode("}")[0]): 30}
    body = {"response_format": {"type": "json_object"}, "logit_bias": bias, "max_tokens": 200}
    text = _content(endpoint, **body)
    assert isinstance(json.loads(text), dict)


def test_a_rule_of_decoding_and_a_parameter_say_the_same_thing(endpoint: Served) -> None:
    rule = {"structured_outputs": {"choice": ["a"]}}
    inside = {"decoding": {"shaping": {"constraint": {"kind": "regex", "text": "a"}}}}
    both = {"response_format": {"type": "json_object"}}
    for more, param in ((inside, "structured_outputs"), (both, "response_format")):
        body = {"model": MODEL, "messages": ASK, **rule, **more}
        assert error_of(endpoint.post("/v1/chat/completions", body))["param"] == param


def test_a_response_repeats_its_format(endpoint: Served) -> None:
    format_ = {"type": "json_schema", "name": "sum", "schema": SCHEMA}
    answer = _answer(endpoint, "/v1/responses", text={"format": format_})
    assert answer["text"]["format"] == {**format_, "strict": False, "description": None}
    jsonschema.validate(json.loads(answer["output"][0]["content"][0]["text"]), SCHEMA)


def test_a_text_that_reads_like_special_tokens_is_text_of_a_format(endpoint: Served) -> None:
    text = "<think>a</think>b"
    assert _content(endpoint, structured_outputs={"choice": [text]}) == text
    held = {"properties": {"<|end|>": {"enum": [1]}}, "required": ["<|end|>"]}
    held |= {"type": "object", "additionalProperties": False}
    rule = {"json": held}
    assert json.loads(_content(endpoint, structured_outputs=rule)) == {"<|end|>": 1}


def test_a_format_acts_on_the_answer_after_a_thinking(endpoint: Served) -> None:
    held = {"type": "json_schema", "json_schema": {"name": "sum", "schema": SCHEMA}}
    answer = _answer(
        endpoint, "/v1/chat/completions", response_format=held, reasoning_effort="low", seed=1
    )
    message = answer["choices"][0]["message"]
    assert message["reasoning"]
    jsonschema.validate(json.loads(message["content"]), SCHEMA)


class _Opened:
    """The embedded model with a template that opens the thinking."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def encode_chat(self, messages: Any, opened: bool = True) -> list[int]:
        return [*self.model.encode_chat(messages, opened), *self.model.encode("<think>")]


def test_a_thinking_that_the_template_opens_is_closed_before_a_format(
    models: dict[str, Any],
) -> None:
    model = _Opened(models[MODEL])
    with served(lambda where, should_stop: model) as server:  # noqa: ARG005
        assert _content(server, structured_outputs={"choice": ["yes", "no"]}) in ("yes", "no")
        assert server.service.history.of("")[0].traces[0].rendered_prompt.endswith("</think>")  # type: ignore[union-attr]
