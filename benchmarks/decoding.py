"""Decoding with full traces against `generate`, interleaved, same weights, prompt and length.

`generate` runs twice: on the model as transformers loads it, and on the engine's own copy, whose
large weights are laid out for single tokens (the engine's loading step does that; `generate`
gains from it too). The floor is the products of a step's row with the model's matrices, and nothing
else. A ratio is the median of those of the turns: what else a machine does meets both in a turn.
"""

from __future__ import annotations

import copy
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
)

from benchmarks.machine import machine
from core import Greedy, Sampling, Shaping, collect
from core.decoding.config import MethodConfig
from core.models.fused.body import product
from core.models.transformers_model import TransformersModel

EMBEDDED = Path(__file__).parent.parent / "assets" / "models" / "target"
PROMPT_TOKENS = 32
SIZES = {
    "5M, vocabulary 4k": (256, 6, 4, 2, 704, 4096),
    "5M, vocabulary 152k": (256, 6, 4, 2, 704, 152_000),
    "100M, vocabulary 4k": (768, 12, 12, 12, 2048, 4096),
    "100M, vocabulary 152k": (768, 12, 12, 12, 2048, 152_000),
}
# As Llama 3.2 1B; on a GPU only.
LARGE = {"1B, vocabulary 128k": (2048, 16, 32, 8, 8192, 128_256)}


@dataclass
class Measure:
    """What is measured: the clock, the rows of tables whose name holds a word, and where."""

    clock: Callable[[], float] = perf_counter
    only: str = ""
    device: str = "cpu"
    dtype: str = "float32"

    def wait(self) -> None:
        """Wait until a GPU has done what it was given."""
        if self.device != "cpu":
            torch.cuda.synchronize()


MEASURE = Measure()
FILTERED = Shaping(temperature=0.8, top_k=50, top_p=0.9)


HEADER = """\
| model | method | generate | generate, our layout | floor | engine, full trace | ratio |
|---|---|---|---|---|---|---|"""


def random_llama(hidden: int, layers: int, heads: int, kv: int, inner: int, vocab: int) -> Any:
    """A Llama with random weights and no end-of-sequence token."""
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv,
        intermediate_size=inner,
        vocab_size=vocab,
        tie_word_embeddings=True,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=None,
    )
    return LlamaForCausalLM(config).eval()


def run(repeats: int = 5) -> None:
    """Print a table: milliseconds a token, medians, and the ratio to `generate`."""
    on_gpu, dtype = MEASURE.device != "cpu", getattr(torch, MEASURE.dtype)
    print(f"\nDecoding, {machine(MEASURE.device)}, {MEASURE.dtype}, medians of {repeats} runs")
    print(HEADER)
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    embedded = AutoModelForCausalLM.from_pretrained(EMBEDDED, dtype=dtype).eval()
    compare("embedded:target", embedded.to(MEASURE.device), tokenizer, _configs(100), repeats)
    for name, shape in {**SIZES, **(LARGE if on_gpu else {})}.items():
        if MEASURE.only not in name:
            continue
        tokens = 32 if name.startswith("100M") else 100
        with torch.device(MEASURE.device):
            model = random_llama(*shape).to(dtype)
        compare(name, model, tokenizer, _configs(tokens), repeats)


def _configs(tokens: int) -> dict[str, tuple[MethodConfig, dict[str, object]]]:
    drawn = Sampling(max_new_tokens=tokens, shaping=FILTERED, draw="multinomial")
    knobs = {"do_sample": True, "temperature": 0.8, "top_k": 50, "top_p": 0.9}
    return {
        "greedy": (Greedy(max_new_tokens=tokens), {"do_sample": False}),
        "sampling 0.8, top-k 50, top-p 0.9": (drawn, knobs),
    }


def generate_call(
    model: Any, prompt: list[int], config: MethodConfig, **knobs: object
) -> Callable[[], object]:
    """transformers' own run of as many tokens, with all that it can record.

    Args:
        knobs: of `GenerationConfig`: how it decodes.
    """
    settings = GenerationConfig(
        max_new_tokens=config.max_new_tokens,
        return_dict_in_generate=True,
        output_scores=True,
        eos_token_id=None,
        pad_token_id=0,
        **knobs,
    )
    ids = torch.tensor([prompt], device=MEASURE.device)
    mask = torch.ones_like(ids)

    def generate() -> object:
        model.generation_config.eos_token_id = None
        torch.manual_seed(0)
        output = model.generate(ids, attention_mask=mask, generation_config=settings)
        MEASURE.wait()
        return output

    return generate


def products_call(model: TransformersModel, tokens: int) -> Callable[[], object]:
    """The matrix products of as many steps of one row; none without a fused step."""
    matrices = [] if model._fused is None else model._fused.body.matrices()
    pairs = [(matrix.new_empty(1, len(matrix)).normal_(), matrix) for matrix in matrices]

    @torch.inference_mode()
    def products() -> None:
        for _ in range(tokens):
            for row, matrix in pairs:
                product(row, matrix)
        MEASURE.wait()

    return products


def compare(
    name: str,
    plain: Any,
    tokenizer: Any,
    configs: Mapping[str, tuple[MethodConfig, dict[str, object]]],
    repeats: int,
) -> dict[str, float]:
    """Print a line for each config; the engine's share of `generate`'s time for each.

    Args:
        configs: what each line is called, the engine's config, and how `generate` is asked for
            the same.
    """
    if MEASURE.only not in name:
        return {}
    ours = TransformersModel(copy.deepcopy(plain), tokenizer, model_id=name)
    ours.eos_ids = frozenset()
    generator = torch.Generator().manual_seed(1)
    top = min(ours.vocab_size, 2000)
    prompt = torch.randint(10, top, (PROMPT_TOKENS,), generator=generator).tolist()
    shares = {}
    for label, (config, knobs) in configs.items():
        runs: dict[str, Callable[[], object]] = {
            "generate": generate_call(plain, prompt, config, **knobs),
            "same layout": generate_call(ours.hf_model, prompt, config, **knobs),
            "floor": products_call(ours, config.max_new_tokens),
            "engine": partial(collect, ours, prompt, config),
        }
        if ours._fused is None:
            del runs["floor"]
        times = by_turn(runs, repeats)
        cells = " | ".join(
            f"{statistics.median(times[own]) / config.max_new_tokens * 1e3:.2f} ms"
            if own in times
            else "-"
            for own in ("generate", "same layout", "floor", "engine")
        )
        ratios = {
            (own, base): statistics.median(
                a / b for a, b in zip(times[own], times[base], strict=True)
            )
            for own, base in (("engine", "generate"), ("engine", "same layout"),
                              ("floor", "generate"))
            if own in times
        }  # fmt: skip
        shares[label] = ratios["engine", "generate"]
        said = f"**{shares[label]:.2f}** ({ratios['engine', 'same layout']:.2f} of the second"
        said += f"; floor {ratios['floor', 'generate']:.2f})" if "floor" in times else ")"
        print(f"| {name} | {label} | {cells} | {said} |", flush=True)
    return shares


def interleaved(runs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each, run in turn after one warm-up of each."""
    return {name: statistics.median(own) for name, own in by_turn(runs, repeats).items()}


def by_turn(runs: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each by turn, after one warm-up of each."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for call in runs.values():
        call()
    for _ in range(repeats):
        for name, call in runs.items():
            started = MEASURE.clock()
            call()
            times[name].append(MEASURE.clock() - started)
    return times
