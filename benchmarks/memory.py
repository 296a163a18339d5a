"""What a 500-token trace takes, in memory and as a file, whatever the vocabulary."""

from __future__ import annotations

import gc
import json
import tracemalloc
from typing import Any

from transformers import AutoTokenizer

from benchmarks.decoding import EMBEDDED, FILTERED, random_llama
from core import Sampling, collect
from core.models.transformers_model import TransformersModel

TOKENS = 500


def run() -> None:
    """Print a table: megabytes of the trace and of its file for three vocabularies."""
    print(f"\nA {TOKENS}-token trace (sampling, top-k 50, top-p 0.9, 20 candidates a step)")
    print("| vocabulary | in memory | as a file |")
    print("|---|---|---|")
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    for vocab in (4_096, 32_000, 152_000):
        hf_model = random_llama(32, 1, 2, 2, 64, vocab)
        model = TransformersModel(hf_model, tokenizer, model_id="random")
        model.eos_ids = frozenset()
        in_memory, in_file = _measure(model)
        print(f"| {vocab:,} | {in_memory / 1e6:.2f} MB | {in_file / 1e6:.2f} MB |", flush=True)


def _measure(model: Any) -> tuple[int, int]:
    config = Sampling(max_new_tokens=TOKENS, shaping=FILTERED)
    collect(model, [5, 6, 7], Sampling(max_new_tokens=2, shaping=FILTERED))
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    trace = collect(model, [5, 6, 7], config)
    gc.collect()
    in_memory = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    text = json.dumps(trace.to_dict(), ensure_ascii=False, separators=(",", ":"))
    return in_memory, len(text.encode())
