"""Each architecture of the fused step beside `generate`, with random weights (about 5 million)."""

from __future__ import annotations

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from benchmarks.decoding import EMBEDDED, HEADER, compare
from core import Greedy

KINDS = (
    *("llama", "mistral", "qwen2", "qwen3", "phi3", "smollm3", "olmo2", "olmo3", "gemma", "gemma2"),
    *("gemma3_text", "granite", "nemotron", "starcoder2", "stablelm", "phi", "gpt_neox", "gpt2"),
)
TOKENS = 60
_SHAPE = {
    "hidden_size": 256,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "intermediate_size": 704,
    "vocab_size": 4096,
    "max_position_embeddings": 1024,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": None,
}


def run(repeats: int = 5) -> None:
    """Print a table: milliseconds a token, medians, and the ratio to `generate`."""
    print(f"\nArchitectures, {torch.get_num_threads()} threads, float32, medians of {repeats} runs")
    print(HEADER)
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    for kind in KINDS:
        torch.manual_seed(0)
        config = AutoConfig.for_model(kind, **_SHAPE)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        greedy = {"greedy": (Greedy(max_new_tokens=TOKENS), {"do_sample": False})}
        compare(kind, model, tokenizer, greedy, repeats)
