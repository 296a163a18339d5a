"""Beam search with full traces against `generate`, interleaved, same weights, prompt and length."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from benchmarks.decoding import EMBEDDED, PROMPT_TOKENS, interleaved, random_llama
from core import BeamSearch, collect
from core.models.transformers_model import TransformersModel

BEAMS = (5, 16)
TOKENS = 60
SIZES = {
    "5M, vocabulary 4k": (256, 6, 4, 2, 704, 4096),
    "5M, vocabulary 152k": (256, 6, 4, 2, 704, 152_000),
}


def run(repeats: int = 5) -> None:
    """Print a table: milliseconds a step, medians, and the ratio to `generate`."""
    print(f"\nBeam search, {torch.get_num_threads()} threads, float32, medians of {repeats} runs")
    print("| model | beams | generate | generate, our layout | engine, full trace | ratio |")
    print("|---|---|---|---|---|---|")
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    embedded = AutoModelForCausalLM.from_pretrained(EMBEDDED, dtype=torch.float32).eval()
    _compare("embedded:target", embedded, tokenizer, repeats)
    for name, shape in SIZES.items():
        _compare(name, random_llama(*shape), tokenizer, repeats)


def _compare(name: str, plain: Any, tokenizer: Any, repeats: int) -> None:
    ours = TransformersModel(copy.deepcopy(plain), tokenizer, model_id=name)
    ours.eos_ids = frozenset()
    generator = torch.Generator().manual_seed(1)
    top = min(ours.vocab_size, 2000)
    prompt = torch.randint(10, top, (PROMPT_TOKENS,), generator=generator).tolist()
    for beams in BEAMS:
        config = BeamSearch(num_beams=beams, max_new_tokens=TOKENS)
        runs: dict[str, Callable[[], object]] = {
            "generate": _generate(plain, prompt, config),
            "same layout": _generate(ours.hf_model, prompt, config),
            "engine": lambda config=config: collect(ours, prompt, config),  # type: ignore[misc]
        }
        times = interleaved(runs, repeats)
        base, same, engine = (value / TOKENS * 1e3 for value in times.values())
        print(
            f"| {name} | {beams} | {base:.2f} ms | {same:.2f} ms | {engine:.2f} ms | "
            f"**{engine / base:.2f}** ({engine / same:.2f} of the second) |",
            flush=True,
        )


def _generate(model: Any, prompt: list[int], config: BeamSearch) -> Callable[[], object]:
    settings = GenerationConfig(
        max_new_tokens=config.max_new_tokens,
        num_beams=config.num_beams,
        return_dict_in_generate=True,
        output_scores=True,
        eos_token_id=None,
        pad_token_id=0,
    )
    ids = torch.tensor([prompt])
    mask = torch.ones_like(ids)

    def generate() -> object:
        model.generation_config.eos_token_id = None
        return model.generate(ids, attention_mask=mask, generation_config=settings)

    return generate
