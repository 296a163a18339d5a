"""Every wrong folder, name or setting gives one sentence; good ones load."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertLMHeadModel,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

from core.decoding.errors import LoadingStoppedError, ModelError
from core.models import registry
from core.models.loading import hub, inspection, load, memory
from core.models.registry import list_embedded, load_model
from tests.models.builders import random_model, tiny_tokenizer


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "good"
    random_model("llama").save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    """A copy of a good model, to be broken."""
    return Path(shutil.copytree(good, tmp_path / "broken"))


hub_answers = hub.hub_answers


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "hub_answers", lambda: False)


def refusal(where: str | Path, **options: str) -> str:
    """The one sentence that `load_model` refuses with."""
    with pytest.raises(ModelError) as caught:
        load_model(where, **options)
    text = str(caught.value)
    assert "\n" not in text and "Traceback" not in text and len(text) < 450
    assert text.endswith((".", ")."))
    assert caught.value.__cause__ is None
    return text


def edit_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_good_folder_loads_as_path_and_as_text(good: Path) -> None:
    for where in (good, str(good)):
        model = load_model(where)
        assert model.model_id == str(good)
        assert model.vocab_size == 300 and model.eos_ids == {0} and model.context_window == 256
        assert len(model.revision) == 12
        assert model.hf_model.dtype is torch.float32
        assert model.start(model.encode("the fox")).logits.shape == (1, 300)


def test_a_relative_folder_loads(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(good.parent)
    assert load_model("good").revision == load_model("./good").revision


def test_the_revision_follows_the_weights(good: Path, folder: Path) -> None:
    assert load_model(folder).revision == load_model(good).revision
    random_model("llama", seed=1).save_pretrained(folder)
    assert load_model(folder).revision != load_model(good).revision


def test_a_tied_head_is_not_missing(folder: Path) -> None:
    random_model("llama", tie_word_embeddings=True).save_pretrained(folder)
    assert load_model(folder).vocab_size == 300


def test_weights_come_in_the_dtype_asked_for(good: Path) -> None:
    assert load_model(good, dtype="bfloat16").hf_model.dtype is torch.bfloat16
    assert load_model(good, dtype=torch.float16).hf_model.dtype is torch.float16
    assert "one of float32, bfloat16, float16, got 'int8'" in refusal(good, dtype="int8")


@pytest.mark.parametrize("device", ["meta", "nonsense", "cuda:99"])
def test_devices_that_are_not_there_are_refused(good: Path, device: str) -> None:
    assert f"'{device}' can't be used" in refusal(good, device=device)


def test_loading_prints_nothing(good: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_model(good)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("", "No model was named"),
        ("  ", "No model was named"),
        ("embedded:nothing", "no embedded model 'nothing'"),
        ("embedded:../../etc", "no embedded model"),
        ("/nowhere/at/all", "no folder /nowhere/at/all"),
        ("./nowhere", "no folder nowhere"),
        ("~nosuchuser/x", "no folder ~nosuchuser/x"),
        ("~/nowhere/x", "no folder ~/nowhere/x"),
        ("two words", "neither a folder nor a hub id"),
        ("nul\0byte", "neither a folder nor a hub id"),
        ("x" * 9000, "neither a folder nor a hub id"),
        ("bad--name", "neither a local folder nor a public hub model"),
        ("nobody-here/no-such-model", "hub can't be reached"),
        ("no-such-model", "hub can't be reached"),
    ],
)
def test_names_that_lead_nowhere(where: str, says: str) -> None:
    assert says in refusal(where)


def no_files(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(random_model("llama").state_dict(), folder / "pytorch_model.bin")


def half_the_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def bert(folder: Path) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=300, intermediate_size=16, **sizes)
    BertLMHeadModel(config).save_pretrained(folder)


def t5(folder: Path) -> None:
    config = T5Config(vocab_size=300, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
    T5ForConditionalGeneration(config).save_pretrained(folder)


def no_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def not_numbers(folder: Path) -> None:
    model = random_model("llama")
    model.lm_head.weight.data[5] = float("nan")
    model.save_pretrained(folder)


BREAKS: list[tuple[Callable[[Path], object], str]] = [
    (no_files, "is empty"),
    (lambda f: (f / "config.json").unlink(), "no config.json"),
    (lambda f: (f / "config.json").write_text('{"a":'), "not JSON text"),
    (lambda f: (f / "config.json").write_bytes(b"\xff\xfe"), "not JSON text"),
    (lambda f: (f / "config.json").write_text("[1]"), "no JSON object"),
    (lambda f: (f / "config.json").write_text("{}"), "names no model_type"),
    (lambda f: edit_config(f, model_type="zzz"), "architecture that the installed transformers"),
    (
        lambda f: edit_config(f, model_type="own", auto_map={"AutoConfig": "a.B"}),
        "needs Python code of its own, which is never run here",
    ),
    (lambda f: edit_config(f, hidden_size="wide"), "hidden_size"),
    (lambda f: edit_config(f, intermediate_size=48), "other shapes than its config.json"),
    (lambda f: edit_config(f, num_hidden_layers=3), "9 tensors are missing, model.layers.2"),
    (
        lambda f: edit_config(f, num_hidden_layers=1),
        "of another model than its config.json: 9 tensors are left over, model.layers.1",
    ),
    (lambda f: (f / "model.safetensors").unlink(), "holds no weights"),
    (lambda f: (f / "model.safetensors").write_bytes(b"no weights"), "is damaged"),
    (half_the_weights, "is damaged"),
    (not_numbers, "logits that are no numbers"),
    (pickled, "pickled weights only (pytorch_model.bin)"),
    (bert, "type bert, which doesn't write text token by token"),
    (t5, "type t5, which doesn't write text token by token"),
    (no_tokenizer, "The tokenizer of"),
    (lambda f: (f / "tokenizer.json").write_text("{"), "The tokenizer of"),
    (
        lambda f: random_model("llama", vocab=250).save_pretrained(f),
        "has 300 tokens, more than the model's 250 embeddings",
    ),
]


@pytest.mark.parametrize(("broken", "says"), BREAKS, ids=[says for _, says in BREAKS])
def test_a_folder_that_can_not_be_used(
    folder: Path, broken: Callable[[Path], object], says: str
) -> None:
    broken(folder)
    text = refusal(folder)
    assert says in text
    assert str(folder) in text


def test_a_tokenizer_that_encodes_to_nothing_is_refused(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Empty:
        def __len__(self) -> int:
            return 1

    monkeypatch.setattr(inspection.AutoTokenizer, "from_pretrained", lambda *_, **__: Empty())
    with pytest.raises(ModelError, match="has no vocabulary"):
        inspection.load_tokenizer(good, "good")


def test_a_file_is_not_a_folder(good: Path) -> None:
    assert "is a file; give the folder" in refusal(good / "config.json")


def test_pickled_weights_are_never_opened(folder: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (open, (str(tmp_path / "sprung"),))

    (folder / "model.safetensors").unlink()
    torch.save({"x": Trap()}, folder / "pytorch_model.bin")
    refusal(folder)
    assert not (tmp_path / "sprung").exists()


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


def test_hub_models_are_of_one_commit_and_run_no_code_of_their_own(
    hub_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, tuple[Path, dict[str, object]]] = {}
    for kind in (inspection.AutoConfig, inspection.AutoTokenizer, load.AutoModelForCausalLM):
        read = kind.from_pretrained

        def from_pretrained(
            where: Path,
            *,
            name: str = kind.__name__,
            read: Callable[..., object] = read,
            **options: object,
        ) -> object:
            asked.setdefault(name, (where, options))
            return read(where, **options)

        monkeypatch.setattr(kind, "from_pretrained", from_pretrained)
    model = load_model("owner/name")
    assert (model.model_id, model.revision) == ("owner/name", COMMIT)
    assert [where for where, _ in asked.values()] == [hub_folder] * 3
    assert all(options["trust_remote_code"] is False for _, options in asked.values())
    assert all(options["local_files_only"] is True for _, options in asked.values())
    assert asked["AutoModelForCausalLM"][1]["use_safetensors"] is True


def test_hub_models_are_looked_at_as_folders_are(hub_folder: Path) -> None:
    edit_config(hub_folder, num_hidden_layers=10_000_000)
    assert "num_hidden_layers = 10000000" in refusal("owner/name")
    edit_config(hub_folder, num_hidden_layers=2)
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


def test_an_embedded_model_is_found_by_name(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "EMBEDDED_FOLDER", good.parent)
    assert list_embedded() == ["good"]
    assert load_model("embedded:good").model_id == "embedded:good"
    assert "embedded:good" in refusal("embedded:bad")
    monkeypatch.setattr(registry, "EMBEDDED_FOLDER", good / "none")
    assert list_embedded() == []
    assert "no model is embedded here" in refusal("embedded:bad")


def test_listing_embedded_models_loads_no_torch() -> None:
    code = (
        "import sys; from core.models.registry import list_embedded; list_embedded();"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_models_that_load_at_the_same_time_are_whole(good: Path) -> None:
    names = ["embedded:target", str(good), str(good) + "/", str(good) + "//"] * 3
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(load_model, names))
    for first, model in zip(loaded[:4] * 3, loaded, strict=True):
        assert torch.equal(model.start([1, 2, 3]).logits, first.start([1, 2, 3]).logits)
    assert nn.init.normal_.__module__ == "torch.nn.init"


def test_a_model_is_read_while_another_one_is_being_read(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = Event(), Event()
    read = PreTrainedModel._load_pretrained_model

    def slow(model: PreTrainedModel, state: object, files: list[str], config: object) -> object:
        if str(good) in str(files[0]):
            reading.set()
            assert go_on.wait(60)
        return read(model, state, files, config)

    monkeypatch.setattr(PreTrainedModel, "_load_pretrained_model", staticmethod(slow))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(load_model, good)
        assert reading.wait(60)
        load_model("embedded:target")
        assert not first.done()
        go_on.set()
        first.result(60)


def test_who_waits_for_a_model_can_stop(good: Path) -> None:
    with registry._alone(str(good), lambda: False), pytest.raises(LoadingStoppedError):
        load_model(good, should_stop=lambda: True)


def test_a_model_needs_the_memory_that_is_free(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 100_000)
    assert "needs 0 MB of memory, and 0 MB are free" in refusal(good)


def test_who_has_no_room_beside_others_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 100)
    with memory.reserved("a", 60, lambda: False):
        with memory.reserved("b", 40, lambda: False):
            pass
        with pytest.raises(LoadingStoppedError), memory.reserved("c", 60, lambda: True):
            pass
        with pytest.raises(ModelError), memory.reserved("d", 101, lambda: False):
            pass
