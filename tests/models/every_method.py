"""A short run of every method, source of drafts and shape of drafts, with the embedded models."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from core import (
    BeamSearch,
    ContrastiveDecoding,
    ContrastiveSearch,
    Diffusion,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    check,
    collect,
    load_model,
)
from core.decoding.config import MethodConfig

PROMPT = "Once upon a time"
QUESTION = "What is 12 + 7?"
_DRAFTS = {"model": "embedded:draft", "head": "embedded:head", "other_tokenizer": "embedded:draft"}


class Run(NamedTuple):
    """Settings of a run, the names of its models, and its prompt."""

    config: MethodConfig
    second: str | None = None
    target: str = "embedded:target"
    prompt: str = PROMPT


def _speculative(drafter: str, temperature: float, **settings: Any) -> Run:
    config = Speculative(
        max_new_tokens=16,
        drafter=drafter,
        shaping=Shaping(temperature=temperature),
        **settings,
    )
    return Run(config, _DRAFTS.get(drafter))


def _drafts() -> dict[str, Run]:
    shapes: dict[str, dict[str, Any]] = {
        "chain": {},
        "widths": {"tree_widths": "3,2,1"},
        "nodes": {"tree_nodes": 8},
    }
    runs = {}
    for drafter in ("model", "head", "early_exit"):
        for shape, settings in shapes.items():
            for temperature in (0.0, 0.8):
                name = f"{drafter}-{shape}-{temperature:g}"
                runs[name] = _speculative(drafter, temperature, **settings)
    for drafter in ("prompt_lookup", "suffix", "ngram_cache"):
        for shape in ("chain", "nodes"):
            runs[f"{drafter}-{shape}"] = _speculative(drafter, 0.8, **shapes[shape])
    for drafter in ("jacobi", "lookahead", "other_tokenizer"):
        runs[drafter] = _speculative(drafter, 0.8)
    runs["block"] = _speculative("model", 0.8, acceptance="block")
    runs["batch_expansion"] = _speculative("model", 0.8, scoring="batch_expansion")
    return runs


RUNS: dict[str, Run] = {
    "greedy": Run(Greedy(max_new_tokens=20)),
    "greedy-uncached": Run(Greedy(max_new_tokens=8, use_cache=False)),
    "sampling": Run(Sampling(max_new_tokens=20, seed=3, shaping=Shaping(top_p=0.9))),
    "beam": Run(BeamSearch(max_new_tokens=12, num_beams=4)),
    "beam-sample": Run(BeamSearch(max_new_tokens=12, num_beams=4, do_sample=True, seed=2)),
    "contrastive-search": Run(ContrastiveSearch(max_new_tokens=12)),
    "contrastive-decoding": Run(ContrastiveDecoding(max_new_tokens=12), "embedded:draft"),
    "reasoning": Run(Reasoning(max_new_tokens=24, max_thinking_tokens=8), prompt=QUESTION),
    "guided": Run(
        Sampling(
            max_new_tokens=8, shaping=Shaping(guidance_scale=1.5, negative_prompt="The dog saw")
        )
    ),
    **{
        f"diffusion-{order}": Run(
            Diffusion(max_new_tokens=16, block_length=8, order=order), target="embedded:diffusion"
        )
        for order in ("confidence", "entropy")
    },
    **_drafts(),
}


@cache
def _loaded(name: str, device: str, dtype: str) -> Any:
    return load_model(name, device=device, dtype=dtype)


def failed_checks(run: Run, device: str, dtype: str) -> list[Any]:
    """Make a run, and return its checks that fail, those against the model and `generate` too."""
    target = _loaded(run.target, device, dtype)
    second = _loaded(run.second, device, dtype) if run.second else None
    trace = collect(target, run.prompt, run.config, draft=second)
    assert trace.token_ids and trace.dtype == dtype
    return [outcome for outcome in check(trace, target, second) if not outcome.passed]
