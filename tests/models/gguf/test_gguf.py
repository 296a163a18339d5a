"""A GGUF file gives transformers' own logits, is converted once, and is named in the trace."""

from __future__ import annotations

import hashlib
import os
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGMLQuantizationType, dequantize, quantize
from transformers import AutoModelForCausalLM

from core import Greedy, Shaping, check, collect
from core.decoding.errors import LoadingStoppedError, ModelError
from core.models.gguf import source
from core.models.gguf.cache import cache_root, cached_bytes, empty_cache
from core.models.gguf.ends import end_ids
from core.models.gguf.original import Original, model_named, original_of
from core.models.registry import load_model
from tests.depth import mostly_slow
from tests.models.builders import tiny_tokenizer
from tests.models.gguf.files import KINDS, TEMPLATE, gguf_llama, write_gguf, write_gguf_of

IDS = torch.arange(24)[None]


@torch.inference_mode()
def _logits(model: Any) -> torch.Tensor:
    return model(IDS).logits


@pytest.mark.parametrize("kind", mostly_slow(KINDS, {"F32", "Q4_1"}))
def test_a_file_gives_the_logits_of_transformers_and_of_the_model_that_it_was_made_from(
    kind: str, tmp_path: Path
) -> None:
    file = write_gguf(tmp_path / f"{kind}.gguf", kind)
    read = AutoModelForCausalLM.from_pretrained(
        tmp_path, gguf_file=file.name, dtype=torch.float32
    ).eval()
    logits = _logits(load_model(file).hf_model)
    assert torch.equal(logits, _logits(read))
    model, quantization = gguf_llama(), KINDS[kind][0]
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data = _rounded(weight.data, quantization)
    assert torch.equal(logits, _logits(model))


def _rounded(weight: torch.Tensor, kind: GGMLQuantizationType) -> torch.Tensor:
    """Return the weights after quantization to this kind and back."""
    return torch.from_numpy(dequantize(quantize(weight.numpy(), kind), kind).copy())


def test_the_trace_names_file_quantization_and_digest(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "small.gguf", "Q8_0")
    model = load_model(tmp_path)  # The folder that it is alone in.
    trace = collect(model, "the fox", Greedy(max_new_tokens=5))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert trace.model_revision == f"small.gguf Q8_0 {digest[:12]}"
    assert trace.dtype == "float32"
    assert all(outcome.passed for outcome in check(trace, model))
    assert model.encode_chat([{"role": "user", "content": "fox"}])


def test_every_end_that_a_file_names_ends_a_run(tmp_path: Path) -> None:
    model = load_model(write_gguf(tmp_path / "ends.gguf", ends={"eot": 5, "eom": 7}))
    assert model.eos_ids == {0, 5, 7}
    trace = collect(model, "the fox", Greedy(shaping=Shaping(logit_bias=((5, 100.0),))))
    assert (trace.token_ids, trace.finish_reason) == ((5,), "eos")
    assert all(outcome.passed for outcome in check(trace, model))


def test_ends_are_known_by_their_texts_as_llama_cpp_knows_them() -> None:
    vocabulary = {"<|im_end|>": 1, "<|endoftext|>": 2, "the": 3, "<|end|>": 4}
    assert end_ids({9}, vocabulary) == [1, 2, 4, 9]
    assert end_ids({5}, {"<|end|>": 4, "<|return|>": 5, "<|call|>": 6}) == [5, 6]
    assert end_ids({1}, {"</s>": 2, "<|tool_response>": 3}) == [1, 3]


def test_the_second_load_converts_nothing(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[str] = []
    first = load_model(good, on_progress=reports.append)
    assert any("parameters take" in text and "are free" in text for text in reports)
    assert any(text.startswith("Converting: ") for text in reports)
    assert cached_bytes()[0] == 1
    monkeypatch.setattr(source, "_convert", None)
    second = load_model(good)
    assert torch.equal(_logits(first.hf_model), _logits(second.hf_model))


def test_a_file_that_was_installed_anew_keeps_its_conversion(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load_model(good)
    copy = Path(shutil.copyfile(good, tmp_path / "copy.gguf"))
    os.utime(copy, (1, 1))
    monkeypatch.setattr(source, "_convert", None)
    second = load_model(copy)
    assert torch.equal(_logits(second.hf_model), _logits(first.hf_model))
    assert second.revision == first.revision.replace("good.gguf", "copy.gguf")
    assert cached_bytes()[0] == 1


def test_another_file_of_the_same_name_is_converted_anew(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "model.gguf")
    first = load_model(file)
    second = load_model(write_gguf(file, seed=1))
    assert first.revision != second.revision
    assert not torch.equal(_logits(first.hf_model), _logits(second.hf_model))


def test_half_a_conversion_is_never_used(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    convert = source._convert

    def break_off(arguments: dict[str, Any], *rest: Any) -> None:
        convert(arguments, *rest)
        (Path(arguments["out"]) / "model.safetensors").write_bytes(b"half")
        raise LoadingStoppedError

    monkeypatch.setattr(source, "_convert", break_off)
    with pytest.raises(LoadingStoppedError):
        load_model(good)
    assert cached_bytes() == (0, 0) and not list(cache_root().iterdir())
    monkeypatch.undo()


def test_a_conversion_is_stopped(good: Path) -> None:
    reports: list[str] = []
    with pytest.raises(LoadingStoppedError):
        load_model(good, on_progress=reports.append, should_stop=lambda: len(reports) > 1)
    assert cached_bytes() == (0, 0)


def test_bfloat16_on_demand(good: Path) -> None:
    model = load_model(good, dtype="bfloat16")
    assert model.dtype == "bfloat16"
    wide, narrow = load_model(good).hf_model, model.hf_model
    for name, weight in wide.state_dict().items():
        assert torch.equal(weight.to(torch.bfloat16), narrow.state_dict()[name])


def test_the_cache_is_emptied(good: Path) -> None:
    load_model(good)
    conversions, size = cached_bytes()
    assert conversions == 1 and size > 300_000
    assert empty_cache() == size
    assert cached_bytes() == (0, 0)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://huggingface.co/Owner/Name-1B", "Owner/Name-1B"),
        ("https://huggingface.co/Owner/Name.git", "Owner/Name"),
        (" Owner/Name ", "Owner/Name"),
        ("embedded:target", "embedded:target"),
        ("embedded:other", ""),
        ("/etc/models", ""),
        ("../up/there", ""),
        ("https://example.org/Owner/Name", ""),
        ("Owner/Name/extra", ""),
    ],
)
def test_a_header_names_a_model_of_the_hub_and_never_a_path(text: str, name: str) -> None:
    assert model_named(text) == name


def test_the_source_counts_before_base_models_and_several_of_these_name_none(
    tmp_path: Path,
) -> None:
    bases = {f"general.base_model.{at}.repo_url": f"base/m{at}" for at in range(2)}

    def original(**texts: str) -> Original:
        model = gguf_llama()
        tokenizer = deepcopy(tiny_tokenizer(300))
        tokenizer.chat_template = TEMPLATE
        file = write_gguf_of(tmp_path / "x.gguf", model, tokenizer, texts=texts)
        return original_of(file, "x.gguf")

    one = {"general.base_model.0.repo_url": "https://huggingface.co/base/m"}
    assert original(**one) == ("base/m", "x.gguf names as its base model")
    source = {"general.source.repo_url": "https://huggingface.co/made/from", **bases}
    assert original(**source).where == "made/from"
    for texts in (bases, {}, {"general.source.url": "x" * 300}):
        with pytest.raises(ModelError, match="doesn't name the model that it was made from"):
            original(**texts)
