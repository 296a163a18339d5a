"""Addresses of servers and their keys: a key goes to its own server, and nowhere else."""

from __future__ import annotations

import json

import pytest

from core import ConfigError, Greedy, ModelError, collect, load_model
from core.models.remote import keys
from core.models.remote.address import is_remote, origin_of, read_address
from core.server.settings import settings, variable
from tests.models.remote.servers import Script, serving

KEY = "sk-0123456789abcdefghij"


def test_an_address_is_read_in_parts() -> None:
    address = read_address("vllm:http://Host:8000/base/v1/?tokenizer=/some/folder#Qwen/Qwen3-8B")
    assert (address.kind, address.url) == ("vllm", "http://host:8000/base")
    assert (address.model, address.tokenizer) == ("Qwen/Qwen3-8B", "/some/folder")
    assert read_address("llamacpp:http://127.0.0.1:8080").is_local
    assert read_address("openai:https://[::1]:443#m").origin == "https://[::1]"
    assert origin_of("http://a:80/x") == "http://a"


@pytest.mark.parametrize(
    "text", ["owner/name", "/a:b", "embedded:target", "vllm:", "vllm:/x", "C:\\x"]
)
def test_what_is_no_address_is_none(text: str) -> None:
    assert not is_remote(text)


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ("vllm:http://host:8000", "names no model"),
        ("vllm:http://#m", "is named"),
        ("vllm:http://host:99999#m", "is named"),
        ("vllm:http://host:1?top#m", "is named"),
        ("vllm:http://host:1?top=x#m", "got 'top'"),
        ("vllm:http://host:1?key=x#m", "got 'key'"),
        ("vllm:http://me:secret@host:1#m", "no name and no password"),
        ("vllm:http://host:1#m\n", "is named"),
        ("vllm:http://" + "h" * 2_000 + "#m", "is named"),
    ],
)
def test_a_wrong_address_gets_one_sentence(where: str, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence) as error:
        read_address(where)
    assert "secret" not in str(error.value)


def test_type_and_device_are_the_server_s() -> None:
    with pytest.raises(ModelError, match="leave out dtype"):
        load_model("vllm:http://127.0.0.1:1#m", dtype="bfloat16")


def test_a_key_goes_to_its_own_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Script(key=KEY)) as (url, script), serving() as (second_url, stranger):
        where = f"{url}?tokenizer=embedded:target#target"
        with pytest.raises(ModelError, match="wants a key"):
            load_model(f"vllm:{where}")
        monkeypatch.setenv(keys.VARIABLE, f"http://127.0.0.1:1={KEY[::-1]}, {url}={KEY}")
        trace = collect(load_model(f"vllm:{where}"), "Once", Greedy(max_new_tokens=2))
        load_model(f"vllm:{second_url}?tokenizer=embedded:target#target")
        monkeypatch.setenv(keys.VARIABLE, f"{url}={KEY[::-1]}")
        with pytest.raises(ModelError, match="another key") as error:
            load_model(f"vllm:{where}")
    assert KEY not in json.dumps(trace.to_dict()) and KEY[::-1] not in str(error.value)
    assert all("authorization" not in map(str.lower, sent) for _, sent, _ in stranger.asked)
    assert all(KEY not in f"{path}{body}" for path, _, body in script.asked)


def test_a_typed_key_comes_before_the_environment_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_GIVEN", {})
    monkeypatch.setenv(keys.VARIABLE, "https://a.example=one")
    keys.give_key("https://a.example", "two")
    assert keys.key_for("https://a.example") == "two"
    keys.give_key("https://a.example", "")
    assert keys.key_for("https://a.example") == "one"
    with pytest.raises(ConfigError) as error:
        keys.give_key("https://a.example", "three four")
    assert "three" not in str(error.value)


def test_the_operator_s_list_names_servers_and_their_keys() -> None:
    assert variable("model_keys") == keys.VARIABLE
    read = settings(
        {
            "DECODING_EXPLORER_MODELS": "big=vllm:http://gpu:8000?tokenizer=/srv/big#org/big",
            "DECODING_EXPLORER_MODEL_KEYS": f"http://gpu:8000={KEY}",
        }
    )
    assert read.models["big"] == "vllm:http://gpu:8000?tokenizer=/srv/big#org/big"
    assert read.model_keys["http://gpu:8000"] == KEY and KEY not in repr(read)
    for name, text in (
        ("MODELS", "big=vllm:http://gpu:8000"),
        ("MODELS", "vllm:http://gpu:8000#m"),
        ("MODEL_KEYS", KEY),
        ("MODEL_KEYS", f"gpu={KEY}"),
    ):
        with pytest.raises(ConfigError) as error:
            settings({f"DECODING_EXPLORER_{name}": text})
        assert KEY not in str(error.value)
