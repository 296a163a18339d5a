"""Beam search with full traces against `generate`, interleaved, same weights, prompt and length."""

from __future__ import annotations

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.decoding import EMBEDDED, HEADER, SIZES, compare, random_llama
from core import BeamSearch
from core.decoding.config import MethodConfig

BEAMS = (5, 16)
TOKENS = 60
GOAL = 0.85
_RANDOM = ("5M, vocabulary 4k", "5M, vocabulary 152k")


def run(repeats: int = 5) -> None:
    """Print a table: milliseconds a step, medians, the ratio to `generate`, and the goal."""
    print(f"\nBeam search, {torch.get_num_threads()} threads, float32, medians of {repeats} runs")
    print(HEADER.replace("method", "beams"))
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    embedded = AutoModelForCausalLM.from_pretrained(EMBEDDED, dtype=torch.float32).eval()
    shares = [compare("embedded:target", embedded, tokenizer, _configs(), repeats)]
    for name in _RANDOM:
        shares.append(compare(name, random_llama(*SIZES[name]), tokenizer, _configs(), repeats))
    worst = max(share for found in shares for share in found.values())
    verdict = "met" if worst <= GOAL else "missed"
    print(f"Goal, at most {GOAL:.2f} of generate's time a step: {verdict}, {worst:.2f} at worst.")


def _configs() -> dict[str, tuple[MethodConfig, dict[str, object]]]:
    return {
        str(beams): (
            BeamSearch(num_beams=beams, max_new_tokens=TOKENS),
            {"num_beams": beams, "do_sample": False},
        )
        for beams in BEAMS
    }
