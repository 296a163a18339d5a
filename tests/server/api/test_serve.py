"""The endpoint without the pages: who it may be bound for."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from core.cli.main import main
from core.decoding.errors import ConfigError
from core.server.api import local_models
from core.server.api import serve as serving
from core.server.api.serve import endpoint
from core.server.settings import Settings


def test_another_address_or_name_needs_a_key() -> None:
    for address, settings in (
        ("0.0.0.0", Settings()),
        ("", Settings()),
        ("127.0.0.1", Settings(hosts=("api.example.org",))),
    ):
        with pytest.raises(ConfigError, match="has no key"):
            endpoint(address, settings)
    assert endpoint("127.0.0.1", Settings())
    assert endpoint("0.0.0.0", Settings(api_keys=("a-key-of-many-letters",)))


def test_a_port_that_cannot_be_had_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 1
    output = capsys.readouterr()
    assert (
        output.out == "" and "Address already in use." in output.err and output.err.count("\n") == 1
    )


def test_an_idle_connection_outlives_a_client_s_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connection pools of clients and proxies keep idle connections for up to 60 s."""
    kept = list[int]()

    def run(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        kept.append(server.config.timeout_keep_alive)
        for listening in sockets:
            listening.close()

    monkeypatch.setattr(uvicorn.Server, "run", run)
    serving.serve("127.0.0.1", 0, Settings())
    assert kept[0] > 60


def test_a_model_that_several_wait_for_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = list[str]()

    def load(where: str, **_: Any) -> Any:
        loaded.append(where)
        time.sleep(0.05)
        return SimpleNamespace(model_id=where)

    monkeypatch.setattr(local_models, "load_model", load)
    models = local_models.LocalModels({"small": "/srv/small"})
    with ThreadPoolExecutor(4) as pool:
        models_loaded = list(pool.map(models.load, ["small"] * 4))
    assert loaded == ["/srv/small"] and all(model is models_loaded[0] for model in models_loaded)
    assert models_loaded[0].model_id == "small"
    for name in ("one", "two", "small"):
        models.load(name)
    assert loaded == ["/srv/small", "one", "two", "/srv/small"]


def test_a_model_that_is_named_is_loaded_at_once_and_offered_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = list[str]()

    def load(where: str, **_: Any) -> Any:
        loaded.append(where)
        return SimpleNamespace(model_id=where)

    served = list[Any]()
    monkeypatch.setattr(local_models, "load_model", load)
    monkeypatch.setattr(serving, "_listen", lambda *_: [socket.create_server(("127.0.0.1", 0))])
    monkeypatch.setattr(serving.uvicorn, "Server", lambda config: served.append(config) or _Ended())
    key = "a-key-of-many-letters"
    assert main(["serve", "--model", "embedded:draft", "--api-key", key]) == 0
    assert loaded == ["embedded:draft"]
    client = TestClient(served[0].app, base_url="http://127.0.0.1")
    assert client.get("/v1/models").status_code == 401
    listed = client.get("/v1/models", headers={"authorization": f"Bearer {key}"}).json()
    assert [model["id"] for model in listed["data"]] == ["embedded:draft"]


class _Ended:
    def run(self, sockets: list[socket.socket]) -> None:
        for listener in sockets:
            listener.close()


@pytest.mark.parametrize("empty", ["", " , "])
def test_an_empty_key_opens_no_endpoint(empty: str, capsys: pytest.CaptureFixture[str]) -> None:
    # As of a variable of the shell that isn't set.
    assert main(["serve", "--api-key", "a-key-of-many-letters", "--api-key", empty]) == 2
    assert "--api-key is empty" in capsys.readouterr().err


def test_a_short_key_is_refused_without_saying_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--api-key", "secret"]) == 2
    errors = capsys.readouterr().err
    assert "--api-key holds keys of 16 to 200" in errors and "secret" not in errors
