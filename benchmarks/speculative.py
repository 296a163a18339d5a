"""Speculative decoding with full traces against transformers' assisted generation and against the
target alone, interleaved: the embedded pair, same prompts, same length.

Assisted generation runs on the models as transformers loads them and on the engine's own copies,
whose large weights are laid out for single tokens.
"""

from __future__ import annotations

import copy
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from benchmarks.decoding import interleaved
from core import Shaping, Speculative, collect
from core.decoding.speculative.measurement.baseline import run_alone, target_only
from core.decoding.speculative.measurement.metrics import acceptance_rate, tokens_per_round
from core.decoding.speculative.measurement.report import speculative_token_seconds
from core.models.transformers_model import TransformersModel

FOLDER = Path(__file__).parent.parent / "assets" / "models"
TOKENS = 100
DRAFT_LENGTH = 4
PROMPTS = (
    "Once upon a time there was a small dog who",
    "A list of colors: red, blue,",
    "Long ago, in a village by the sea, there lived",
)
CONFIGS = {
    "greedy": Speculative(
        max_new_tokens=TOKENS, draft_length=DRAFT_LENGTH, shaping=Shaping(temperature=0.0)
    ),
    "sampling 0.8": Speculative(
        max_new_tokens=TOKENS, draft_length=DRAFT_LENGTH, shaping=Shaping(temperature=0.8)
    ),
    "sampling 0.8, top-k 50, top-p 0.9": Speculative(
        max_new_tokens=TOKENS,
        draft_length=DRAFT_LENGTH,
        shaping=Shaping(temperature=0.8, top_k=50, top_p=0.9),
    ),
}


def run(repeats: int = 5) -> None:
    """Print a table: milliseconds a token, medians, and the ratio to assisted generation."""
    print(
        f"\nSpeculative decoding, embedded pair, draft length {DRAFT_LENGTH}, "
        f"{torch.get_num_threads()} threads, float32, medians of {repeats} runs of "
        f"{len(PROMPTS)} prompts"
    )
    print(
        "| method | assisted | assisted, our layout | engine, full trace | ratio | target alone, "
        "full trace | speed-up | accepted | tokens a forward |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    tokenizer = AutoTokenizer.from_pretrained(FOLDER / "target")
    plain = [_load(name) for name in ("target", "draft")]
    ours = [
        TransformersModel(copy.deepcopy(model), tokenizer, model_id=f"embedded:{name}")
        for model, name in zip(plain, ("target", "draft"), strict=True)
    ]
    for model in ours:
        model.eos_ids = frozenset()
    for label, config in CONFIGS.items():
        _compare(label, config, plain, ours, repeats)


def _load(name: str) -> Any:
    return AutoModelForCausalLM.from_pretrained(FOLDER / name, dtype=torch.float32).eval()


def _compare(
    label: str, config: Speculative, plain: list[Any], ours: list[Any], repeats: int
) -> None:
    target, draft = ours
    prompts = [target.encode(prompt) for prompt in PROMPTS]
    times = interleaved(
        {
            "assisted": _assisted(plain, prompts, config),
            "same layout": _assisted([m.hf_model for m in ours], prompts, config),
            "engine": lambda: [collect(target, ids, config, draft=draft) for ids in prompts],
            "alone": lambda: [collect(target, ids, target_only(config)) for ids in prompts],
        },
        repeats,
    )
    emitted = TOKENS * len(prompts)
    base, same, engine, alone = (seconds / emitted * 1e3 for seconds in times.values())
    traces = [collect(target, ids, config, draft=draft) for ids in prompts]
    rounds = [step for trace in traces for step in trace.rounds]
    solo = [run for ids in prompts if (run := run_alone(target, ids, config)) is not None]
    decoding = statistics.median(run.token_seconds for run in solo) / statistics.median(
        map(speculative_token_seconds, traces)
    )
    print(
        f"| {label} | {base:.2f} ms | {same:.2f} ms | {engine:.2f} ms | "
        f"**{engine / base:.2f}** ({engine / same:.2f} of the second) | {alone:.2f} ms | "
        f"{alone / engine:.2f} ({decoding:.2f} without recording) | "
        f"{acceptance_rate(rounds) or 0:.0%} | {tokens_per_round(rounds) or 0:.2f} |",
        flush=True,
    )


def _assisted(
    models: list[Any], prompts: list[list[int]], config: Speculative
) -> Callable[[], object]:
    target, draft = models
    shaping = config.shaping
    sampled = shaping.temperature > 0
    knobs: dict[str, Any] = {}
    if sampled:
        knobs = {
            "temperature": shaping.temperature,
            "top_k": shaping.top_k,
            "top_p": shaping.top_p,
        }
    settings = GenerationConfig(
        max_new_tokens=TOKENS,
        do_sample=sampled,
        eos_token_id=None,
        pad_token_id=0,
        **knobs,
    )
    for model in models:
        model.generation_config.eos_token_id = None
    draft.generation_config.num_assistant_tokens = config.draft_length
    draft.generation_config.num_assistant_tokens_schedule = "constant"
    draft.generation_config.assistant_confidence_threshold = 0.0

    def generate() -> object:
        torch.manual_seed(config.seed)
        outputs = []
        for prompt in prompts:
            ids = torch.tensor([prompt])
            mask = torch.ones_like(ids)
            outputs.append(
                target.generate(
                    ids, attention_mask=mask, generation_config=settings, assistant_model=draft
                )
            )
        return outputs

    return generate
