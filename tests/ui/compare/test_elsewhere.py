"""Two ready-made pairs: here and on a server, and a GGUF file and its original."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from core.models import recent
from core.models.places import embedded_folder
from pages.ui.compare import elsewhere
from pages.ui.compare.state import LEFT, RIGHT
from pages.ui.hosting import endpoint
from pages.ui.platform import session
from tests.models.gguf.files import write_gguf_of
from tests.server.api.served import Served, served
from tests.ui import seen
from tests.ui.compare.test_compare_page import opened, settle, side_of
from tests.ui.seen import data_of

TARGET = "embedded:target"
ASKED = {"a_prompt": "Once upon a time", "a_tokens": "6"}


@pytest.fixture(autouse=True)
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest sends a typed model, as a browser does; by itself it knows a menu's options alone."""
    index_of = Selectbox.index.fget

    def index(box: Selectbox[str]) -> int | None:
        if box.value is not None and box.value not in box.options:
            box.options.append(box.value)
        return index_of(box)  # type: ignore[no-any-return, misc]

    monkeypatch.setattr(Selectbox, "index", property(index))


@pytest.fixture
def own(read_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """The app's own endpoint, at the address that the browser shows."""
    with served(lambda where, should_stop: read_once(where)) as server:  # noqa: ARG005
        monkeypatch.setattr(session, "browser_url", lambda: f"{server.url}/compare?a_tokens=6")
        yield server


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The app's endpoint doesn't answer."""
    monkeypatch.setattr(endpoint.service(), "closed", endpoint.OFF)


def press(app: AppTest, name: str) -> AppTest:
    return app.button(key=f"pair_{name}").click().run()


def focused(app: AppTest) -> str:
    """The key of the field that the browser is to focus."""
    return next(str(data["focus"]) for _, data in data_of(app, "browser"))


def test_one_press_runs_the_request_here_and_at_the_app_s_own_endpoint(own: Served) -> None:
    app = settle(press(opened(**ASKED), "server"))
    left, right = side_of(app, LEFT), side_of(app, RIGHT)
    assert (left.source, right.source) == ("run", "run"), (left.failure, right.failure)
    assert left.trace.model_id == TARGET
    assert right.trace.model_id == f"vllm:{own.url}?tokenizer={TARGET}#{TARGET}"
    assert left.trace.token_ids == right.trace.token_ids and len(left.trace.token_ids) == 6
    assert left.trace.config == right.trace.config
    words = seen.texts(app)
    assert "All 6 tokens are equal" in words and "no more than rounding does" in words
    assert "float32, guessed from the server’s answers" in words
    assert app.query_params["b_model"] == right.trace.model_id


def test_a_server_that_was_used_lately_comes_before_the_app_s_own_endpoint(own: Served) -> None:
    elsewhere_is = "openai:http://127.0.0.1:9#large"
    recent.remember(f"vllm:http://127.0.0.1:8501?tokenizer={TARGET}#{TARGET}")
    recent.remember("/some/folder")
    recent.remember(elsewhere_is)
    assert list(elsewhere.servers(TARGET)) == [
        elsewhere_is,
        f"vllm:{own.url}?tokenizer={TARGET}#{TARGET}",
    ]


@pytest.mark.usefixtures("own")
def test_a_shared_server_asks_only_servers_of_its_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECODING_EXPLORER_HOSTS", "explorer.example.org")
    recent.remember("openai:http://127.0.0.1:9#large")
    assert list(elsewhere.servers(TARGET)) == []
    app = press(opened(**ASKED), "server")
    assert "offers no model on another server" in side_of(app, RIGHT).failure
    monkeypatch.setenv("DECODING_EXPLORER_MODELS", "big=vllm:http://127.0.0.1:9#large")
    assert list(elsewhere.servers(TARGET)) == ["big"]


@pytest.mark.usefixtures("closed")
def test_without_a_server_the_press_opens_the_set_up_at_the_address() -> None:
    app = press(opened(**ASKED), "server")
    assert f"No server is known that has '{TARGET}'" in side_of(app, RIGHT).failure
    assert app.session_state["b_own"] is True and focused(app) == "b_model"
    assert not side_of(app, LEFT).jobs and not side_of(app, RIGHT).jobs
    assert focused(app.run()) == ""


def test_a_server_on_side_a_stands_right_of_the_model_that_its_address_names(own: Served) -> None:
    server = f"vllm:{own.url}?tokenizer={TARGET}#{TARGET}"
    assert elsewhere.here_and_server(server) == (TARGET, server)
    with pytest.raises(elsewhere.NeedsModelError, match="choose the same one on this machine"):
        elsewhere.here_and_server(f"vllm:{own.url}#other")


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded target in Q8_0, beside its checkpoint."""
    from core import load_model

    model: Any = load_model(TARGET)
    folder = tmp_path_factory.mktemp("made") / "target"
    shutil.copytree(embedded_folder("target"), folder)
    return write_gguf_of(folder / "small.gguf", model.hf_model, model.tokenizer, "Q8_0")


def test_one_press_runs_a_gguf_file_and_the_checkpoint_beside_it(quantized: Path) -> None:
    app = settle(press(opened(a_model=str(quantized), **ASKED), "gguf"))
    left, right = side_of(app, LEFT), side_of(app, RIGHT)
    assert (left.source, right.source) == ("run", "run"), (left.failure, right.failure)
    assert left.trace.model_revision.startswith("small.gguf Q8_0")
    assert right.trace.model_id == str(quantized.parent)
    assert left.trace.dtype == right.trace.dtype == "float32"
    assert left.trace.prompt_ids == right.trace.prompt_ids
    assert " nats, more than rounding does" in seen.texts(app)
    assert app.query_params["pair"] == "gguf"


def test_the_header_names_the_original_of_a_file_alone(
    quantized: Path, tmp_path: Path, read_once: Callable[..., Any]
) -> None:
    """The chosen model is no GGUF file: the one that was used lately is."""
    model = read_once(TARGET)
    source = {"general.source.url": TARGET}
    file = write_gguf_of(tmp_path / "alone.gguf", model.hf_model, model.tokenizer, "F32", source)
    recent.remember(str(quantized))
    recent.remember(str(file))
    app = settle(press(opened(**ASKED), "gguf"))
    left, right = side_of(app, LEFT).trace, side_of(app, RIGHT).trace
    assert (left.model_id, right.model_id) == (str(file), TARGET)
    assert left.token_ids == right.token_ids
    assert "Their recorded log-probabilities are equal too." in seen.texts(app)


def test_an_original_that_must_be_downloaded_waits_for_a_press(
    tmp_path: Path, read_once: Callable[..., Any]
) -> None:
    model = read_once(TARGET)
    base = {"general.base_model.0.repo_url": "https://huggingface.co/nobody/has-this-one"}
    file = write_gguf_of(tmp_path / "alone.gguf", model.hf_model, model.tokenizer, "F32", base)
    app = settle(press(opened(a_model=str(file), **ASKED), "gguf"))
    left, right = side_of(app, LEFT), side_of(app, RIGHT)
    assert left.source == "run" and right.source == "example" and not right.jobs
    assert "names as its base model 'nobody/has-this-one'" in right.failure
    assert app.session_state["b_model"] == "nobody/has-this-one"
    assert app.session_state["b_own"] is True


def test_without_a_gguf_file_or_its_original_a_sentence_says_what_to_give(
    tmp_path: Path, read_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "is_installed", lambda _: False)
    app = settle(press(opened(**ASKED), "gguf"))
    assert "type the path of one as the model of side A" in side_of(app, LEFT).failure
    assert app.session_state["a_own"] is True
    model = read_once(TARGET)
    file = write_gguf_of(tmp_path / "alone.gguf", model.hf_model, model.tokenizer)
    app = settle(press(opened(a_model=str(file), **ASKED), "gguf"))
    assert "doesn't name the model that it was made from" in side_of(app, RIGHT).failure
    assert not side_of(app, LEFT).jobs
