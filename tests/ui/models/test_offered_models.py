"""The picker: open on one's own machine, the operator's list on a shared server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.decoding.errors import ModelError
from core.models import recent
from pages.ui.resources import models
from tests.ui.conftest import Open
from tests.ui.seen import texts

TARGET = Path("assets/models/target")


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A server for others, which offers a folder by a name and a hub id; returns the folder."""
    folder = tmp_path / "offered"
    shutil.copytree(TARGET, folder)
    monkeypatch.setenv("DECODING_EXPLORER_HOSTS", "explorer.example.org")
    monkeypatch.setenv("DECODING_EXPLORER_MODELS", f"small={folder}, owner/name")
    return folder


def refusal(where: str) -> str:
    with pytest.raises(ModelError) as error:
        models.load(where)
    return str(error.value)


@pytest.mark.usefixtures("shared")
def test_a_shared_server_offers_its_list_only(open_app: Open) -> None:
    """Neither the models that were used last nor one in a package."""
    recent.remember("/home/own/model.gguf")
    menu = open_app().selectbox(key="model")
    assert menu.options == ["embedded:target", "embedded:draft", "small", "owner/name"]
    assert not menu.proto.accept_new_options
    assert models.unknown("smollm2") == models.NOT_OFFERED


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("where", ["/etc/shadow", "stranger/model", "~", "embedded:other"])
def test_a_link_to_a_model_outside_the_list_is_refused_and_runs_nothing(
    open_app: Open, where: str
) -> None:
    app = open_app(model=where, run="1")
    assert models.NOT_OFFERED in texts(app)
    assert "decode" not in app.session_state["view"].jobs
    assert app.selectbox(key="model").value == models.DEFAULT_MODEL


@pytest.mark.usefixtures("shared")
def test_a_model_that_was_forced_into_the_session_is_refused(tmp_path: Path) -> None:
    names = ["/etc/shadow", "~", "~root", "..", str(tmp_path), "stranger/model", "/dev/zero"]
    assert {refusal(where) for where in names} == {models.NOT_OFFERED}


def test_an_offered_folder_is_known_by_its_name(shared: Path) -> None:
    assert models.load("small").model_id == "small"
    (shared / "config.json").write_text("[]")
    models.MODELS.empty()
    assert refusal("small") == models.NOT_LOADED.format(where="small")


def test_one_answer_for_whatever_a_path_leads_to(tmp_path: Path) -> None:
    empty, file, folder, gguf = (tmp_path / name for name in ("empty", "file", "other", "x.gguf"))
    empty.mkdir()
    folder.mkdir()
    for path, text in ((file, "text"), (folder / "config.json", "no json"), (gguf, "PK")):
        path.write_text(text)
    names = [
        str(path) for path in (tmp_path / "no", tmp_path / "no.gguf", empty, file, gguf, folder)
    ]
    for where in [*names, "~", "~nosuchuser/model", "/" + "x" * 5000, "./none\0"]:
        assert refusal(where) == models.NO_MODEL_THERE.format(where=where)
    assert recent.last_used() == []


def test_one_s_own_machine_stays_open(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECODING_EXPLORER_MODELS", "owner/name")
    menu = open_app(model="/some/folder").selectbox(key="model")
    assert menu.proto.accept_new_options
    assert menu.value == "/some/folder" and "owner/name" in menu.options
