"""Weights, tokenizers and chat templates that are damaged, of another model, or hostile."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import torch

from tests.models.isolation.asking import DOUBLING, LOOP
from tests.models.loading.kinds import (
    CONFIG,
    DEEP,
    INDEX,
    WEIGHTS,
    Break,
    Kinds,
    appended,
    both,
    cut,
    edit,
    header,
    indexed,
    pickled,
    sparse,
    tensors,
    with_trap,
    write,
)

NORM = "model.norm.weight"
DAMAGED = "is damaged"


def _vast(found: dict[str, Any]) -> None:
    found[NORM]["shape"] = [2**62]


def _overlapping(found: dict[str, Any]) -> None:
    found[NORM]["data_offsets"] = [0, 128]


def _nested(folder: Path) -> None:
    text = b'{"a":' * 100_000
    (folder / WEIGHTS).write_bytes(struct.pack("<Q", len(text)) + text)


_whole = tensors(lambda found: found.update({NORM: torch.ones(32, dtype=torch.int64)}))


def _fill(value: float) -> Break:
    return tensors(lambda found: found["lm_head.weight"].fill_(value))


WEIGHT_KINDS: Kinds = {
    "an index to outside": (indexed({"x": "../outside.safetensors"}), "no weight file of the same"),
    "an index to /etc": (indexed({"x": "/etc/passwd"}), "no weight file of the same folder"),
    "an index to a pickle": (indexed({"x": "pytorch_model.bin"}), "no weight file of the same"),
    "an index to what isn't there": (indexed({"x": "a.safetensors"}), "which isn't there"),
    "an index of a list": (indexed(["a.safetensors"]), "must name from 1 to"),
    "an index of numbers": (indexed({"x": 1}), "must name from 1 to"),
    "an index of 3,000 files": (
        indexed({str(n): f"{n}.safetensors" for n in range(3_000)}),
        "not 3,000",
    ),
    "an index of brackets": (both(indexed({}), write(INDEX, "[" * DEEP)), "nested too deep"),
    "none": (lambda folder: (folder / WEIGHTS).unlink(), "holds no weights"),
    "no bytes": (write(WEIGHTS, b""), DAMAGED),
    "a header of 2^63 bytes": (write(WEIGHTS, struct.pack("<Q", 2**63)), DAMAGED),
    "zeros only": (sparse(WEIGHTS, 10**12), DAMAGED),
    "half a file": (cut(WEIGHTS), DAMAGED),
    "more than a file": (appended(WEIGHTS, bytes(1_000)), DAMAGED),
    "a vast tensor": (header(_vast), DAMAGED),
    "tensors over each other": (header(_overlapping), DAMAGED),
    "a nested header": (_nested, DAMAGED),
    "whole numbers": (
        _whole,
        "model.norm.weight as I64",
    ),
    "whole numbers under an unknown quantization": (
        both(edit(CONFIG, quantization_config={"quant_method": "evil"}), _whole),
        "model.norm.weight as I64",
    ),
    "no numbers": (_fill(float("nan")), "logits that are no numbers"),
    "infinite numbers": (_fill(float("inf")), "are no numbers"),
    "a tensor missing": (tensors(lambda found: found.pop(NORM)), "the tensor model.norm.weight is"),
    "a bias too many": (
        tensors(lambda found: found.update({"model.layers.0.mlp.up_proj.bias": torch.ones(64)})),
        "the tensor model.layers.0.mlp.up_proj.bias is left over",
    ),
    "a layer too many": (
        edit(CONFIG, num_hidden_layers=1),
        "its config.json: 9 tensors are left over, model.layers.1",
    ),
    "a layer too few": (edit(CONFIG, num_hidden_layers=3), "9 tensors are missing, model.layers.2"),
    "other shapes": (edit(CONFIG, intermediate_size=48), "other shapes than"),
    "pickles only": (pickled, "pickled weights only (pytorch_model.bin)"),
    "a distributed checkpoint": (
        lambda folder: (folder / WEIGHTS).rename(
            folder / "shard-00001-model-00001-of-00001.safetensors"
        ),
        "a distributed checkpoint",
    ),
    "an unknown name": (
        lambda folder: (folder / WEIGHTS).rename(folder / "x.safetensors"),
        "but no model.safetensors",
    ),
}


def _tokenizer(**changes: Any) -> Break:
    return edit("tokenizer.json", **changes)


def _huge_id(folder: Path) -> None:
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["model"]["vocab"]["evil"] = 2**32 - 1
    path.write_text(json.dumps(tokenizer))


def _expanding(folder: Path) -> None:
    """A normalizer by which every letter becomes a thousand, four times over."""
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1_000}
    _tokenizer(normalizer={"type": "Sequence", "normalizers": [step] * 4})(folder)


def _split(pattern: str) -> Break:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    return _tokenizer(pre_tokenizer={**split, "invert": False})


def _none(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


SETTINGS = "tokenizer_config.json"
VAST = "makes vast texts of short ones"
_BYTES = {
    "type": "ByteLevel",
    **dict.fromkeys(("add_prefix_space", "trim_offsets", "use_regex"), False),
}
_REPLACE = {"type": "Replace", "pattern": {"String": "z"}}


def _steps(part: str, steps: list[dict[str, Any]]) -> Break:
    names = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
    return _tokenizer(**{part: {"type": "Sequence", names[part]: steps}})


def _long_token(folder: Path) -> None:
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    model["vocab"]["z" * 20_000] = model["vocab"].pop([*model["vocab"]][-1])
    _tokenizer(model=model | {"merges": []})(folder)


def _around(folder: Path) -> None:
    name = json.loads((folder / "tokenizer.json").read_text())["added_tokens"][0]["content"]
    text = {"Sequence": {"id": "A", "type_id": 0}}
    around = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": name, "type_id": 0}}, text],
        "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {name: {"id": name, "ids": [0] * 5_000, "tokens": [name] * 5_000}},
    }
    _tokenizer(post_processor=around)(folder)


TOKENIZER_KINDS: Kinds = {
    "200,000 brackets": (write("tokenizer.json", "[" * DEEP), "okenizer of"),
    "half a tokenizer": (cut("tokenizer.json"), "The tokenizer of"),
    "no tokenizer": (_none, "The tokenizer of"),
    "an id of 2^32": (_huge_id, "the id 4,294,967,295"),
    "a pattern without end": (_split("(" * 5_000), "The tokenizer of"),
    "letters that explode": (_expanding, "takes too much"),
    "ten characters of one, four times": (
        _steps("normalizer", [_REPLACE | {"content": "z" * 10}] * 4),
        VAST,
    ),
    "two characters of one by a pattern, twelve times": (
        _steps("normalizer", [_REPLACE | {"pattern": {"Regex": "z"}, "content": "zz"}] * 12),
        VAST,
    ),
    "bytes of bytes": (
        _steps("pre_tokenizer", [_BYTES] * 12),
        VAST,
    ),
    "ten characters of one in what is shown": (
        _steps("decoder", [_REPLACE | {"content": "z" * 10}] * 4),
        VAST,
    ),
    "a token of 20,000 letters": (_long_token, VAST),
    "5,000 tokens around every text": (_around, VAST),
    "settings of brackets": (write(SETTINGS, "[" * DEEP), "nested too deep"),
    "settings without end": (
        edit(SETTINGS, tokenizer_file="/dev/zero"),
        "names a tokenizer_file outside its folder",
    ),
    "a class of its own": (
        both(
            edit(SETTINGS, tokenizer_class="Own", auto_map={"AutoTokenizer": ["code.Own", None]}),
            with_trap("code.py"),
        ),
        "",
    ),
}

# A chat template, to what is said of it; its model loads.
TEMPLATES: dict[str, tuple[str, str]] = {
    "a loop": (LOOP, "takes too much time"),
    "a power": ("{{ 9 ** (9 ** 9) }}", "takes too much"),
    "a doubling": (DOUBLING, "takes too much"),
    "a huge text": ("{{ 'a' * 10 ** 10 }}", "takes too much memory"),
    "a huge list": ("{{ [0] * 10 ** 10 }}", "takes too much memory"),
    "a wide field": ("{{ '%9999999999d' % 1 }}", "takes too much memory"),
    "classes": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "unsafe"),
    "globals": ("{{ raise_exception.__globals__['os'] }}", "unsafe"),
    "format": ("{{ '{0.__class__.__mro__}'.format(messages) }}", "unsafe"),
    "a file": ("{% include '/etc/passwd' %}", "refuses these messages"),
    "a macro in itself": ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "refuses these"),
    "brackets": ("{{ " + "(" * 20_000 + " }}", "refuses these messages"),
    "half a template": ("{% for ", "refuses these messages"),
    "a refusal": ("{{ raise_exception('never') }}", "(never)"),
}
