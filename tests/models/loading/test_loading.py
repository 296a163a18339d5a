"""Good folders load; names and settings that can't be used give one sentence."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import PreTrainedModel, core_model_loading

from core.decoding.autoregressive.config import Greedy
from core.decoding.decode import collect
from core.decoding.errors import ConfigError, LoadingStoppedError, ModelError, PromptError
from core.decoding.reasoning.config import Reasoning
from core.decoding.shaping.config import Shaping
from core.evaluation.scoring.reference import score_reference
from core.models import places
from core.models.loading import inspection, load, memory
from core.models.loading.folder import MIB, weights_digest
from core.models.loading.surplus import surplus_of_another_model
from core.models.places import list_embedded
from core.models.registry import load_model
from tests.models.builders import random_model
from tests.models.loading.refusal import refusal


def test_a_good_folder_loads_as_path_and_as_text(good: Path) -> None:
    for where in (good, str(good)):
        model = load_model(where)
        assert model.model_id == str(good)
        assert model.vocab_size == 300 and model.eos_ids == {0} and model.context_window == 256
        assert len(model.revision) == 12
        assert model.hf_model.dtype is torch.float32
        assert model.start(model.encode("the fox")).logits.shape == (1, 300)


def test_the_revision_follows_the_weights(good: Path, folder: Path) -> None:
    assert load_model(folder).revision == load_model(good).revision
    random_model("llama", seed=1).save_pretrained(folder)
    assert load_model(folder).revision != load_model(good).revision


def test_the_digest_of_weights_holds_their_end(tmp_path: Path) -> None:
    digests = set()
    for end in b"ab":
        (tmp_path / "model.safetensors").write_bytes(bytes(3 * MIB) + bytes([end]))
        digests.add(weights_digest(tmp_path))
    assert len(digests) == 2


def test_a_tied_head_is_not_missing(folder: Path) -> None:
    random_model("llama", tie_word_embeddings=True).save_pretrained(folder)
    assert load_model(folder).vocab_size == 300


def test_tensors_that_are_no_part_of_the_model_are_left_out_by_name(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    for at in range(2):
        weights[f"model.layers.{at}.attn.masked_bias"] = torch.tensor(-1e4)
    weights["v_head.summary.weight"] = torch.ones(1, 32)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    note = "left out: model.layers.*.attn.masked_bias, v_head.summary.weight."
    assert load_model(folder).described.endswith(note)
    # Of one more layer, whether its name has the prefix of the whole model or not.
    layers = {f"{prefix}layers.7.mlp.up_proj.weight" for prefix in ("", "model.")}
    assert surplus_of_another_model(random_model("llama"), {*layers, "v_head.weight"}) == layers


def test_a_token_without_an_embedding_is_refused_where_it_is_used(folder: Path) -> None:
    random_model("llama", vocab=290).save_pretrained(folder)
    model = load_model(folder)
    assert "no embedding for: 10." in model.described
    assert collect(model, "the fox", Greedy(max_new_tokens=2)).token_ids
    last = model.token_text(299)
    for prompt in ([299], last):
        with pytest.raises(PromptError, match=re.escape(f"leave {last!r} out of the prompt")):
            collect(model, prompt, Greedy(max_new_tokens=2))
    with pytest.raises(ConfigError, match="names token #299"):
        collect(model, "the fox", Greedy(shaping=Shaping(logit_bias=((299, 1.0),))))
    with pytest.raises(ConfigError, match="no embedding"):
        collect(model, "the fox", Reasoning(think_start=last, think_end=last))
    assert score_reference(model, "the fox", last) is None


def test_weights_come_in_the_dtype_asked_for(good: Path) -> None:
    assert load_model(good, dtype="bfloat16").hf_model.dtype is torch.bfloat16
    assert load_model(good, dtype=torch.float16).hf_model.dtype is torch.float16
    assert "one of float32, bfloat16, float16, got 'int8'" in refusal(good, dtype="int8")


@pytest.mark.parametrize("device", ["meta", "nonsense", "cuda:99"])
def test_devices_that_are_not_there_are_refused(good: Path, device: str) -> None:
    assert f"'{device}' can't be used" in refusal(good, device=device)


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
    assert "is a file, but no GGUF file; give" in refusal(good / "config.json")


def test_an_embedded_model_is_found_by_name(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "EMBEDDED_FOLDER", good.parent)
    assert list_embedded() == ["good"]
    assert load_model("embedded:good").model_id == "embedded:good"
    assert "embedded:good" in refusal("embedded:bad")
    monkeypatch.setattr(places, "EMBEDDED_FOLDER", good / "none")
    assert list_embedded() == []
    assert "no model is embedded here" in refusal("embedded:bad")


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


def test_the_reading_of_weights_stops_between_two_tensors(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    copy = core_model_loading._materialize_copy

    def slow(tensor: object, *options: object) -> object:
        copied = copy(tensor, *options)
        read.append(copied)
        return copied

    monkeypatch.setattr(core_model_loading, "_materialize_copy", slow)
    with pytest.raises(LoadingStoppedError):
        load_model(good, should_stop=lambda: len(read) >= 2)
    assert 2 <= len(read) <= 2 + core_model_loading.GLOBAL_WORKERS  # Each worker may be at one.
    load_model(good)  # Nothing of it is left.


def test_files_that_change_while_they_are_checked_are_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = load._inspect

    def check_and_swap(where: Path, *rest: Any) -> int:
        needed = check(where, *rest)
        (where / "config.json").unlink()
        (where / "config.json").symlink_to("/dev/zero")
        return needed

    monkeypatch.setattr(load, "_inspect", check_and_swap)
    assert "changed while they were checked" in refusal(folder)


def test_a_prompt_that_the_tokenizer_breaks_at_is_one_sentence(folder: Path) -> None:
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    tokenizer["pre_tokenizer"] = {**split, "pattern": {"Regex": "(a+)+$"}}
    path.write_text(json.dumps(tokenizer))
    model = load_model(folder)
    model.tokenizer.chat_template = "{{ messages[0].content }}"
    text = "a" * 40 + "!"
    for act in (lambda: model.encode(text), lambda: model.encode_chat([{"content": text}])):
        with pytest.raises(PromptError, match="can't read this prompt"):
            act()


def test_a_model_needs_the_memory_that_is_free(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 100_000)
    assert "needs 190 kB of memory, and 100 kB are free" in refusal(good)


def test_a_limit_of_address_space_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ulimit -v`, as a shell or a batch system sets it."""
    resource = pytest.importorskip("resource")
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 10**9
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert 0 < memory.free_bytes() <= 10**9 / 2
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**6, 10**6))
    assert memory.free_bytes() == 0


def test_who_has_no_room_beside_others_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 100)
    with memory.reserved("a", 60, lambda: False):
        with memory.reserved("b", 40, lambda: False):
            pass
        with pytest.raises(LoadingStoppedError), memory.reserved("c", 60, lambda: True):
            pass
        with pytest.raises(ModelError), memory.reserved("d", 101, lambda: False):
            pass
