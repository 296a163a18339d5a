"""Bodies as clients send them, and what those clients read of the answers."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from core import load_model
from core.decoding.reasoning.split import split_reply
from tests.server.api.served import Served, served
from tests.server.api.test_refusals import error_of

MODEL = "embedded:target"
ASK = [{"role": "user", "content": "What is 3 + 4?"}]
# Taken from the clients' sources: what each sends beside the model and the prompt by default.
TEXT_BODIES: dict[str, dict[str, Any]] = {
    "vllm bench serve": {
        "repetition_penalty": 1.0,
        "max_tokens": 4,
        "logprobs": None,
        "stream": True,
        "temperature": 0.0,
        "top_k": -1,
        "ignore_eos": True,
        "stream_options": {"include_usage": True},
    },
    "guidellm": {
        "max_tokens": 4,
        "stop": None,
        "ignore_eos": True,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    },
    "litellm, vLLM's defaults": {
        "max_tokens": 4,
        "frequency_penalty": 0,
        "presence_penalty": 0.0,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "length_penalty": 1.0,
        "use_beam_search": False,
        "min_tokens": 0,
        "stop_token_ids": [],
        "skip_special_tokens": True,
        "spaces_between_special_tokens": True,
        "include_stop_str_in_output": False,
        "add_special_tokens": True,
        "priority": 0,
    },
    "lm-eval local-completions": {
        "prompt": [[49, 82], [49, 82, 12]],
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": 1,
        "seed": 1234,
        "echo": True,
    },
}


def _events(answer: httpx2.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def _text(endpoint: Served, **more: Any) -> dict[str, Any]:
    body = {"model": MODEL, "prompt": "Once upon a time", "temperature": 0, "max_tokens": 6}
    return _asked(endpoint, "/v1/completions", {**body, **more})


def _asked(endpoint: Served, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = endpoint.post(path, body)
    assert answer.status_code == 200, answer.text
    parsed: dict[str, Any] = answer.json()
    return parsed


def _chat(endpoint: Served, **more: Any) -> dict[str, Any]:
    body = {"model": MODEL, "messages": ASK, "temperature": 0, "max_tokens": 40}
    return _asked(endpoint, "/v1/chat/completions", {**body, **more})


@pytest.mark.parametrize("client", TEXT_BODIES)
def test_what_a_client_sends_by_default_is_taken(endpoint: Served, client: str) -> None:
    body = {"model": MODEL, "prompt": "Once upon a time", **TEXT_BODIES[client]}
    answer = endpoint.post("/v1/completions", body)
    if body.get("stream"):
        assert _events(answer)[-1]["usage"]["completion_tokens"] == 4
    else:
        assert answer.status_code == 200, answer.text


def test_top_level_names_set_the_run_as_those_of_decoding_do(endpoint: Served) -> None:
    shaping = {"top_k": 9, "min_p": 0.02, "repetition_penalty": 1.1}
    shaping |= {"frequency_penalty": 0.5, "presence_penalty": -0.25}
    shaping |= {"xtc_probability": 0.3, "xtc_threshold": 0.2, "typical_p": 0.95, "top_h": 0.9}
    shaping |= {"dynatemp_high": 1.5, "dynatemp_low": 0.7, "top_a": 0.01, "tail_free": 0.99}
    flat = _text(endpoint, **shaping, min_tokens=3, temperature=0.9, seed=5)
    shaping["temperature"] = 0.9
    decoding = {"method": "sampling", "seed": 5, "min_new_tokens": 3, "shaping": shaping}
    body = {"model": MODEL, "prompt": "Once upon a time", "max_tokens": 6, "decoding": decoding}
    inside = endpoint.post("/v1/completions", body).json()
    assert flat["decoding"] == inside["decoding"]
    assert flat["choices"] == inside["choices"]


def test_values_at_which_other_servers_samplers_are_off_change_nothing(endpoint: Served) -> None:
    off = {"top_n_sigma": -1, "xtc_probability": 0, "xtc_threshold": 0.1, "typical_p": 1}
    off |= {"dynatemp_exponent": 1, "smoothing_factor": 0, "top_a": 0, "top_k": -1}
    off |= {"dry_multiplier": 0, "dry_base": 1.75, "dry_allowed_length": 2, "bad_words": []}
    off |= {"dry_penalty_last_n": -1, "dry_sequence_breakers": ["\n", ":", '"', "*"]}
    off |= {"mirostat": 0, "mirostat_tau": 5, "mirostat_eta": 0.1}
    off |= {"adaptive_target": -1, "adaptive_decay": 0.9}
    assert _text(endpoint, seed=5, **off)["decoding"] == _text(endpoint, seed=5)["decoding"]


def test_bad_words_are_banned_with_and_without_a_space_before(endpoint: Served) -> None:
    model = load_model(MODEL)
    answer = _text(endpoint, seed=5, bad_words=["the", " a"])
    banned = [tuple(model.encode(text)) for text in ("the", " the", "a", " a")]
    assert {*map(tuple, answer["decoding"]["shaping"]["bad_words"])} == {*banned}
    assert not {*answer["choices"][0]["text"].split()} & {"the", "a"}


def test_a_limit_beyond_the_window_is_the_room_that_the_window_has(endpoint: Served) -> None:
    answer = _text(endpoint, max_tokens=5_000, stop=" ")
    room = 1024 - answer["usage"]["prompt_tokens"]
    assert answer["decoding"]["max_new_tokens"] == room > answer["usage"]["completion_tokens"]


def test_ignored_ends_give_exactly_so_many_tokens(endpoint: Served) -> None:
    answer = _chat(endpoint, ignore_eos=True)
    assert (
        answer["usage"]["completion_tokens"] == 40 > _chat(endpoint)["usage"]["completion_tokens"]
    )
    assert answer["choices"][0]["finish_reason"] == "length"


def test_a_stop_token_is_taken_where_it_is_the_model_s_own(endpoint: Served) -> None:
    assert _text(endpoint, stop_token_ids=[4])
    body = {"model": MODEL, "prompt": "Hi", "stop_token_ids": [300]}
    assert error_of(endpoint.post("/v1/completions", body))["param"] == "stop_token_ids"


def test_special_tokens_and_the_stop_string_are_written_where_they_are_wanted(
    endpoint: Served,
) -> None:
    message = _chat(endpoint, skip_special_tokens=False)["choices"][0]["message"]
    assert message["reasoning"] == "<think>3 + 4 = 7.</think>"
    with_stop = _text(endpoint, stop=[" little"], include_stop_str_in_output=True)["choices"][0][
        "text"
    ]
    cut = _text(endpoint, stop=[" little"])["choices"][0]["text"]
    assert with_stop == f"{cut} little"


def test_token_ids_and_the_prompt_s_log_probabilities_are_given(
    endpoint: Served, models: dict[str, Any]
) -> None:
    choice = _text(endpoint, return_token_ids=True, prompt_logprobs=2)["choices"][0]
    ids = models[MODEL].encode("Once upon a time")
    assert choice["prompt_token_ids"] == ids and len(choice["token_ids"]) == 6
    first, *others = choice["prompt_logprobs"]
    assert first is None and len(others) == len(ids) - 1
    for token_id, entries in zip(ids[1:], others, strict=True):
        entry_of_token = entries[str(token_id)]
        assert (
            sum(entry["logprob"] > entry_of_token["logprob"] for entry in entries.values())
            < entry_of_token["rank"]
        )
        assert len(entries) in (2, 3) and entry_of_token["decoded_token"]
    chat = _chat(endpoint, return_token_ids=True, prompt_logprobs=0)
    assert chat["prompt_token_ids"] == models[MODEL].encode_chat(ASK)
    assert len(chat["prompt_logprobs"]) == len(chat["prompt_token_ids"])
    body = {"model": MODEL, "prompt": "Hi", "stream": True, "prompt_logprobs": 1}
    assert error_of(endpoint.post("/v1/completions", body))["param"] == "prompt_logprobs"


def test_every_chunk_says_the_usage_so_far(endpoint: Served) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    body = {"model": MODEL, "messages": ASK, "temperature": 0, "stream": True}
    chunks = _events(endpoint.post("/v1/chat/completions", {**body, "stream_options": options}))
    counts = [chunk["usage"]["completion_tokens"] for chunk in chunks]
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] > 10


METHODS: list[dict[str, Any]] = [
    {"method": "greedy"},
    {"method": "beam", "num_beams": 2},
    {"method": "speculative", "draft": "embedded:draft", "shaping": {"temperature": 0}},
]


@pytest.mark.parametrize("decoding", METHODS, ids=lambda delta: str(delta["method"]))
def test_thinking_is_no_part_of_a_message(
    endpoint: Served, models: dict[str, Any], decoding: dict[str, Any]
) -> None:
    body = {"model": MODEL, "messages": ASK, "max_tokens": 40, "decoding": decoding}
    answer = endpoint.post("/v1/chat/completions", {**body, "return_token_ids": True}).json()
    choice = answer["choices"][0]
    thinking, reply = split_reply(models[MODEL], [], choice["token_ids"])
    message = choice["message"]
    assert message["content"] == reply == "The answer is 7."
    assert message["reasoning_content"] == message["reasoning"] == thinking == "3 + 4 = 7."
    assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == 8
    # A mark and three tokens.
    cut = endpoint.post("/v1/chat/completions", {**body, "max_tokens": 4}).json()["usage"]
    assert cut["completion_tokens_details"]["reasoning_tokens"] == 3
    chunks = _events(endpoint.post("/v1/chat/completions", {**body, "stream": True}))
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content") or "" for delta in deltas) == reply
    assert "".join(delta.get("reasoning", "") for delta in deltas) == thinking


def test_effort_none_closes_the_thinking_at_once(endpoint: Served) -> None:
    answer = _chat(endpoint, reasoning_effort="none")
    assert "reasoning" not in answer["choices"][0]["message"]
    assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == 0
    assert answer["usage"]["prompt_tokens"] == _chat(endpoint)["usage"]["prompt_tokens"] + 2


def test_a_long_prompt_is_refused_in_the_words_that_clients_look_for(endpoint: Served) -> None:
    body = {"model": MODEL, "messages": [{"role": "user", "content": "a b " * 700}]}
    error = error_of(endpoint.post("/v1/chat/completions", body))
    assert (error["code"], error["param"]) == ("context_length_exceeded", "messages")
    assert "This model's maximum context length is 1024 tokens" in error["message"]
    assert "has 14" in error["message"]


@pytest.mark.parametrize(
    ("more", "param", "words"),
    [
        ({"max_tokens": 0}, "max_tokens", "max_tokens must lie"),
        ({"max_completion_tokens": 0}, "max_completion_tokens", "max_completion_tokens"),
        ({"max_tokens": 2, "min_tokens": 5}, "min_tokens", "min_tokens must lie"),
        ({"logit_bias": {"99999": 1}}, "logit_bias", "logit bias"),
        ({"n": 3, "decoding": {"method": "beam", "num_beams": 2}}, "n", "n must lie"),
        ({"num_beams": 2}, "num_beams", "decoding.num_beams of the method beam"),
        ({"suppress_tokens": [2]}, "suppress_tokens", "decoding.shaping.suppress_tokens"),
        ({"bad_words": ["a", ""]}, "bad_words", "list of strings that aren't empty"),
        ({"bad_words": "a"}, "bad_words", "array"),
        ({"dry_base": 2.0}, "decoding", "dry_base does nothing without dry_multiplier"),
        ({"mirostat": 3}, "mirostat", "mirostat must lie in [0, 2]"),
        (
            {"mirostat": 2, "decoding": {"method": "beam", "do_sample": True}},
            "mirostat",
            "several paths",
        ),
        ({"max_output_tokens": 4}, "max_output_tokens", "max_tokens"),
        ({"decoding": {"top_k": 4}}, "decoding", "shaping.top_k"),
        ({"decoding": {"max_tokens": 4}}, "decoding", "max_new_tokens"),
        ({"messages": None, "prompt": "Hi"}, "messages", "/v1/completions"),
    ],
)
def test_an_error_names_the_field_and_where_it_belongs(
    endpoint: Served, more: dict[str, Any], param: str, words: str
) -> None:
    body = {"model": MODEL, "messages": ASK, **more}
    error = error_of(endpoint.post("/v1/chat/completions", body))
    assert error["param"] == param and words in error["message"]


def test_a_completion_s_candidates_hold_the_token_itself(endpoint: Served) -> None:
    more = {"logprobs": 1, "echo": True, "temperature": 3.0, "seed": 1, "max_tokens": 12}
    lists = _text(endpoint, **more, return_tokens_as_token_ids=True)["choices"][0]["logprobs"]
    pairs = list(zip(lists["tokens"], lists["top_logprobs"], strict=True))[1:]
    assert all(token in top for token, top in pairs)
    assert {len(top) for _, top in pairs} == {1, 2}


def test_what_watches_a_server_needs_no_key_and_what_tells_of_it_does(
    models: dict[str, Any],
) -> None:
    with served(lambda where, should_stop: models[where], keys=("k" * 16,)) as closed:  # noqa: ARG005
        for path, status in (("/health", 200), ("/ping", 200), ("/version", 401)):
            assert httpx2.get(f"{closed.url}{path}").status_code == status


def test_the_tokenizer_is_asked_without_a_model(endpoint: Served) -> None:
    info = httpx2.get(f"{endpoint.url}/tokenizer_info").json()
    assert info["eos_token"] == "<|endoftext|>" and "message" in info["chat_template"]
    ids = endpoint.post("/tokenize", {"prompt": info["eos_token"], "add_special_tokens": False})
    assert ids.json()["tokens"] == [0]
    assert endpoint.post("/detokenize", {"tokens": [49, 82]}).json() == {"prompt": "Hi"}


def test_each_answer_carries_an_id_and_the_client_s_own_where_it_can(endpoint: Served) -> None:
    body = {"model": MODEL, "prompt": "Hi", "max_tokens": 1}
    answer = endpoint.post("/v1/completions", body, headers={"x-request-id": "run-7.b"})
    assert answer.headers["x-request-id"] == "run-7.b"
    assert endpoint.service.history.of("")[0].request_id == "run-7.b"
    for unfit in ("two words", "x" * 129, "<b>"):
        refused = httpx2.get(f"{endpoint.url}/v1/nothing", headers={"x-request-id": unfit})
        assert refused.headers["x-request-id"] not in ("", unfit)
    foreign = {"model": MODEL, "prompt": "Hi"}
    for header in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
        answer = endpoint.post("/v1/completions", foreign, headers={**header, "x-request-id": "r1"})
        assert answer.headers.get_list("x-request-id") == ["r1"]
    assert httpx2.request("TRACE", f"{endpoint.url}/metrics").headers["x-request-id"]
