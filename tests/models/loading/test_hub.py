"""Downloads from the hub: one commit, bounded size, the same checks as for folders."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from core.decoding.errors import ModelError
from core.models.loading import hub, load
from core.models.registry import load_model
from tests.models.loading.kinds import CONFIG, edit
from tests.models.loading.refusal import refusal

hub_answers = hub.hub_answers


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        (OSError("You are trying to access a gated repo.\nMake sure"), "gated model"),
        (OSError("x is not a local folder and is not a valid model identifier"), "check the spel"),
        (OSError("There was a specific connection error when trying to load"), "can't be reached"),
        (OSError("does not appear to have a file named model.safetensors and thus cannot be "
                 "loaded with `safetensors`"), "no safetensors weights"),
        (ImportError("requires accelerate"), "a library that isn't installed"),
        (torch.OutOfMemoryError("CUDA out of memory"), "doesn't fit into memory"),
        (OSError("404 Client Error. Revision Not Found for url"), "no such version of owner/name"),
        (KeyError(), "can't be used (KeyError)"),
        (MemoryError("not enough memory: you tried"), "doesn't fit into memory"),
    ],
)  # fmt: skip
def test_what_the_hub_says_is_told_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, says: str, tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(hub, "snapshot_download", fail)
    with pytest.raises(ModelError) as caught:
        hub.fetch("owner/name", True, str(tmp_path))
    text = str(caught.value)
    assert says in text and "\n" not in text and text.endswith((".", ")."))


COMMIT = "a" * 40


@pytest.fixture
def hub_folder(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of owner/name as the hub's client keeps them, to be broken."""
    monkeypatch.setattr(load.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    cached = tmp_path / "hub" / "models--owner--name"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(COMMIT)
    return Path(shutil.copytree(good, cached / "snapshots" / COMMIT))


OLDER = "b" * 40


def test_a_revision_is_a_branch_a_tag_or_a_commit_of_the_cache(hub_folder: Path) -> None:
    """Without the hub: what the cache folder's `refs` say, and the commits that lie there."""
    shutil.copytree(hub_folder, hub_folder.parent / OLDER)
    (hub_folder.parents[1] / "refs" / "v1.0").write_text(OLDER)
    for suffix, commit in (("", COMMIT), ("@main", COMMIT), ("@v1.0", OLDER), (f"@{OLDER}", OLDER)):
        model = load_model(f"owner/name{suffix}")
        assert (model.model_id, model.revision) == (f"owner/name{suffix}", commit)
    assert "the hub can't be reached" in refusal("owner/name@v2")
    assert "neither a folder nor a hub id" in refusal("owner/name@..")


def test_hub_models_are_looked_at_as_folders_are(hub_folder: Path) -> None:
    edit(CONFIG, num_hidden_layers=10_000_000)(hub_folder)
    assert "num_hidden_layers = 10000000" in refusal("owner/name")
    edit(CONFIG, num_hidden_layers=2)(hub_folder)
    (hub_folder / "model.safetensors").unlink()
    os.mkfifo(hub_folder / "model.safetensors")
    assert "is no regular file" in refusal("owner/name")


def listed(sizes: dict[str, int], folder: Path) -> Callable[..., object]:
    """A stand-in for the hub's client: a listing of these files; downloads note their patterns."""

    def snapshot_download(_: str, **options: object) -> object:
        if options.get("dry_run"):
            return [SimpleNamespace(filename=name, file_size=size, commit_hash=COMMIT,
                                    is_cached=False) for name, size in sizes.items()]  # fmt: skip
        assert options["revision"] == COMMIT
        (folder / "asked").open("a").write(" ".join(options["allow_patterns"]) + "\n")  # type: ignore[arg-type]
        return str(folder)

    return snapshot_download


def test_only_what_a_load_reads_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = ("config.json", "tokenizer.json", "model.safetensors.index.json", "a.safetensors")
    left = ("run.py", "consolidated.safetensors", "onnx/model.json", "x.bin")
    sizes = dict.fromkeys((*read, *left), 9)
    index = {"weight_map": {"x": "a.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    monkeypatch.setattr(hub, "snapshot_download", listed(sizes, tmp_path))
    assert hub.fetch("owner/name", True, str(tmp_path)) == str(tmp_path)
    first, second = (tmp_path / "asked").read_text().splitlines()
    assert first.split() == list(read[:3])
    assert second == read[3]


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"config.json": 10**10}, "config.json of owner/name has 10,000,000,000 bytes"),
        ({"config.json": 9, "model.safetensors": 10**17}, "are free on the disk"),
        ({"config.json": 9, "pytorch_model.bin": 9}, "no safetensors weights"),
    ],
)
def test_what_is_too_large_is_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: dict[str, int], says: str
) -> None:
    monkeypatch.setattr(hub, "snapshot_download", listed(sizes, tmp_path))
    with pytest.raises(ModelError, match=says):
        hub.fetch("owner/name", True, str(tmp_path))


def test_the_hub_is_asked_once_whether_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert hub_answers()
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        assert not hub_answers()
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert not hub_answers()
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    assert hub_answers()
