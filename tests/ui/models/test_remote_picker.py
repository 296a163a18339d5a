"""Models on servers in the picker: the operator's names, typed addresses, the key's field."""

from __future__ import annotations

import pytest

from core import ModelError
from core.export.web.run_page import PAPER
from core.models.remote import keys
from pages.ui.resources import models
from pages.ui.speculative import save
from tests.models.remote.servers import Script, serving
from tests.ui.conftest import Open, open_page
from tests.ui.seen import charts, markup, settle, texts

KEY = "sk-0123456789abcdefghij"
WHERE = "vllm:http://127.0.0.1:9/?tokenizer=embedded:target#target"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_GIVEN", {})


def test_a_shared_server_asks_its_operator_s_servers_only(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DECODING_EXPLORER_HOSTS", "explorer.example.org")
    with serving() as (url, _):
        place = f"vllm:{url}?tokenizer=embedded:target#target"
        monkeypatch.setenv("DECODING_EXPLORER_MODELS", f"big={place}")
        assert models.load("big").model_id == "big"
    app = open_app(model=WHERE, run="1")
    assert models.NOT_OFFERED in texts(app)
    assert app.selectbox(key="model").options[-1] == "big"
    assert not app.session_state["view"].jobs
    with pytest.raises(ModelError, match="doesn't offer"):
        models.load(WHERE)
    app = open_app(model="big")
    assert "server_key" not in {field.key for field in app.text_input}
    models.MODELS.empty()
    with pytest.raises(ModelError) as error:
        models.load("big")
    assert str(error.value) == models.NOT_LOADED.format(where="big")


def test_a_link_to_a_server_calls_nothing(open_app: Open) -> None:
    with serving() as (url, script):
        app = open_app(model=f"vllm:{url}#target", run="1")
        assert script.asked == []
    assert "On a server" in markup(app)
    offered = [option.content for option in app.button_group(key="method").proto.options]
    assert "By the engine" in offered and "Contrastive search" not in offered, (
        "no hidden states there"
    )
    assert not app.session_state["view"].jobs
    app = open_page("api_requests.py", {"as-code": True}, model=f"vllm:{url}#target")
    assert f"DECODING_EXPLORER_MODELS=large=vllm:{url}#target" in texts(app)


def test_the_server_s_own_speculation_is_a_tab_where_the_target_is_on_one(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, metrics = "The server's speculation", {"per_step_drafted": [4], "per_step_accepted": [3]}
    assert "start-server" not in {button.key for button in open_app("speculative.py").button}
    with serving(Script(speculation=metrics)) as (url, _):
        place = f"vllm:{url}?tokenizer=embedded:target#target"
        monkeypatch.setenv("DECODING_EXPLORER_MODELS", f"big={place}")
        app = open_app("speculative.py", model="big", spec_tokens="3", **{"spec-look": look})
        app = app.button(key="start-server").click().run()
        app = settle(app, "speculative")
    view = app.session_state["speculative"]
    assert view.failures["server"] == "" and view.server.speculation.rounds == ((4, 3),)
    assert "server-speculation" in charts(app) and url not in view.server.caption
    assert "server-speculation" in {part.name for part in save.parts(view, view.trace, PAPER)}


def test_a_typed_key_is_kept_by_its_server_and_shown_nowhere(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Script(key=KEY)) as (url, _):
        place = f"vllm:{url}?tokenizer=embedded:target#target"
        monkeypatch.setenv("DECODING_EXPLORER_MODELS", f"big={place}")
        app = open_app(model="big")
        with pytest.raises(ModelError, match="wants a key"):
            models.load("big")
        field = app.text_input(key="server_key")
        assert field.proto.type == field.proto.PASSWORD
        app = field.input(KEY).run()
        assert keys.key_for(url) == KEY and models.has_key("big")
        model = models.load("big")
    assert model.model_id == "big" and models.hint("big") == model.described
    shown = (texts(app), markup(app), app.query_params, app.text_input(key="server_key").value)
    assert KEY not in str(shown)
