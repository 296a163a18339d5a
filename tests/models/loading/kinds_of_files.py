"""Files that are none, or not what they seem; configurations that say too much."""

from __future__ import annotations

import shutil
from pathlib import Path

from transformers import BertConfig, BertLMHeadModel, T5Config, T5ForConditionalGeneration

from tests.models.loading.kinds import (
    CONFIG,
    DEEP,
    INDEX,
    WEIGHTS,
    Kinds,
    another,
    both,
    edit,
    fifo,
    header,
    indexed,
    instead,
    link,
    sparse,
    tensors,
    with_trap,
    write,
)

NOT_REGULAR = "is no regular file"
NO_FOLDER_READ = "can't be read"


def _many_entries(folder: Path) -> None:
    for number in range(10_001):
        (folder / f"{number}").touch()


def _no_entries(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _template_pipe(folder: Path) -> None:
    (folder / "additional_chat_templates").mkdir()
    fifo("additional_chat_templates/x.jinja")(folder)


def _bert(folder: Path) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=300, intermediate_size=16, **sizes)
    BertLMHeadModel(config).save_pretrained(folder)


def _t5(folder: Path) -> None:
    config = T5Config(vocab_size=300, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
    T5ForConditionalGeneration(config).save_pretrained(folder)


FILES: Kinds = {
    "config: a pipe": (fifo(CONFIG), NOT_REGULAR),
    "config: zeros without end": (link(CONFIG, "/dev/zero"), NOT_REGULAR),
    "config: a terminal": (link(CONFIG, "/dev/tty"), NOT_REGULAR),
    "config: a folder": (instead(CONFIG, Path.mkdir), NOT_REGULAR),
    "config: a link to nowhere": (link(CONFIG, "nowhere"), NO_FOLDER_READ),
    "config: a link to itself": (link(CONFIG, CONFIG), NO_FOLDER_READ),
    "config: the process's memory": (link(CONFIG, "/proc/self/mem"), NO_FOLDER_READ),
    "config: empty": (write(CONFIG, ""), "not JSON text"),
    "config: 5 MB of blanks": (write(CONFIG, " " * 5_000_000), "5,000,000 bytes, more than"),
    "config: 10 TB of holes": (sparse(CONFIG, 10**13), "10,000,000,000,000 bytes, more than"),
    "config: no text": (write(CONFIG, b"\xff\xfe\x00"), "not JSON text"),
    "config: 200,000 brackets": (write(CONFIG, "[" * DEEP), "nested too deep"),
    "config: 200,000 objects": (write(CONFIG, '{"a":' * DEEP), "nested too deep"),
    "config: none": (lambda folder: (folder / CONFIG).unlink(), "no config.json"),
    "config: of no type": (write(CONFIG, "{}"), "names no model_type"),
    "config: a list": (write(CONFIG, "[1]"), "no JSON object"),
    "config: a number of 5,000 digits": (
        write(CONFIG, '{"vocab_size": ' + "9" * 5_000 + "}"),
        "not JSON text",
    ),
    "tokenizer: a pipe": (fifo("tokenizer.json"), NOT_REGULAR),
    "tokenizer: zeros without end": (link("tokenizer.json", "/dev/zero"), NOT_REGULAR),
    "tokenizer: 10 TB of holes": (sparse("tokenizer.json", 10**13), "more than the"),
    "tokenizer settings: a pipe": (fifo("tokenizer_config.json"), NOT_REGULAR),
    "generation settings: zeros": (link("generation_config.json", "/dev/zero"), NOT_REGULAR),
    "special tokens: a folder": (instead("special_tokens_map.json", Path.mkdir), NOT_REGULAR),
    "template: a pipe": (fifo("chat_template.jinja"), NOT_REGULAR),
    "template: 2 MB": (write("chat_template.jinja", "x" * 2**21), "2,097,152 bytes, more than"),
    "more templates: a pipe": (_template_pipe, NOT_REGULAR),
    "weights: a pipe": (fifo(WEIGHTS), NOT_REGULAR),
    "weights: zeros without end": (link(WEIGHTS, "/dev/zero"), NOT_REGULAR),
    "weights: a folder": (instead(WEIGHTS, Path.mkdir), NOT_REGULAR),
    "index: a pipe": (both(indexed({}), fifo(INDEX)), NOT_REGULAR),
    "folder: no entries": (_no_entries, "is empty"),
    "folder: 10,001 entries": (_many_entries, "more than 10,000 entries"),
    "an adapter of a model elsewhere": (
        edit("adapter_config.json", base_model_name_or_path="/etc"),
        "which names its model",
    ),
    "settings of generation: nested": (
        write("generation_config.json", "[" * 100_000),
        "generation configuration",
    ),
}

CONFIGS: Kinds = {
    "10,000,000 layers": (edit(CONFIG, num_hidden_layers=10_000_000), "must lie in [0, 1000]"),
    "1,000,000 MTP layers": (
        edit(CONFIG, num_nextn_predict_layers=1_000_000),
        "num_nextn_predict_layers = 1000000; it must lie in [0, 64]",
    ),
    "MTP layers of another name": (edit(CONFIG, num_mtp_layers=65), "num_mtp_layers = 65"),
    "fewer than no layers": (edit(CONFIG, num_hidden_layers=-1), "num_hidden_layers = -1"),
    "a width of 2^40": (edit(CONFIG, hidden_size=2**40), "hidden_size = 1099511627776"),
    "10^12 tokens": (edit(CONFIG, vocab_size=10**12), "vocab_size = 1000000000000"),
    "2^60 positions": (edit(CONFIG, max_position_embeddings=2**60), "max_position_embeddings ="),
    "a number of 300 digits": (edit(CONFIG, bos_token_id=10**300), "of about 301 digits"),
    "a number deep inside": (
        edit(CONFIG, text_config={"x": [{"num_experts": 10**9}]}),
        "num_experts = 1000000000",
    ),
    "layers that fill no memory": (
        edit(CONFIG, hidden_size=2**19, intermediate_size=2**20, num_hidden_layers=1_000),
        "other shapes than",
    ),
    "2^24 positions": (another("gpt2", n_positions=2**24), "other shapes than"),
    "4,096 wide experts": (
        both(
            another("mixtral", num_local_experts=4_096, hidden_size=2**13, intermediate_size=2**14),
            tensors(lambda found: [found.pop(name) for name in list(found)[1:]]),
            header(lambda found: {"x": found.popitem()[1]}),
        ),
        "of memory, and ",
    ),
    "prompts lengthened to 2^30 tokens": (
        edit(CONFIG, chunk_size=2**30),
        "chunk_size = 1073741824",
    ),
    "no heads": (edit(CONFIG, num_attention_heads=0), "can't be used"),
    "a width in words": (edit(CONFIG, hidden_size="wide"), "hidden_size"),
    "layers as a list": (edit(CONFIG, num_hidden_layers=[1, 2]), "num_hidden_layers"),
    "a norm that is no number": (edit(CONFIG, rms_norm_eps=float("nan")), "are no numbers"),
    "an unknown rotation": (edit(CONFIG, rope_parameters={"rope_type": "evil"}), "evil"),
    "100,000 kinds of layer": (
        edit(CONFIG, layer_types=["full_attention"] * 100_000),
        "100,000 entries",
    ),
    "300,000 ends": (edit(CONFIG, eos_token_id=list(range(300_000))), "300,000 entries"),
    "an unknown type of 10,000 letters": (
        edit(CONFIG, model_type="x" * 10_000),
        "architecture that",
    ),
    "a quantization without its library": (
        edit(CONFIG, quantization_config={"quant_method": "gptq", "bits": 4}),
        "isn't installed",
    ),
    "code of its own": (
        both(
            edit(CONFIG, model_type="own", auto_map={"AutoConfig": "code.Own"}),
            with_trap("code.py"),
        ),
        "needs Python code of its own, which is never run here",
    ),
    "a kernel of the hub": (
        edit(CONFIG, attn_implementation="someone/kernel"),
        "needs code of its own",
    ),
    "a reader of whole texts": (_bert, "type bert, which doesn't write text token by token"),
    "a translator": (_t5, "type t5, which doesn't write text token by token"),
    "weights elsewhere": (
        edit(CONFIG, transformers_weights="../outside.safetensors"),
        "which is no safetensors file of the same folder",
    ),
    "a change of other models": (edit(CONFIG, fusion_config={"x": True}), "how other models"),
}
