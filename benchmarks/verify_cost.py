"""Cost of verifying drafts: a target's forward by the number of its tokens, and the parts of a
round by the shape of its draft.

`python -m benchmarks.verify_cost` prints the tables of docs/benchmarks.md. All but the embedded
pair have random weights: their acceptance means nothing and is not shown. A round breaks even if it
emits as many tokens as target-only decoding emits in its time ("break even"); the last column
divides the embedded pair's tokens a round by that.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from statistics import fmean, median
from time import perf_counter
from typing import Any, NamedTuple

import torch
from transformers import AutoTokenizer

from benchmarks.decoding import EMBEDDED, random_llama
from benchmarks.machine import machine
from benchmarks.tree_shapes import PROMPTS
from core import Shaping, Speculative, collect, load_model
from core.decoding.speculative.measurement.baseline import run_alone
from core.decoding.speculative.measurement.metrics import tokens_per_round
from core.models.transformers_model import TransformersModel

COUNTS = (1, 2, 4, 8, 16, 32, 64)
PROMPT_TOKENS, TOKENS = 128, 32
# hidden, layers, heads, key heads, inner, vocabulary; 1B as Llama 3.2 1B, 8B as Llama 3 8B.
SIZES = {
    "5M": (256, 6, 4, 2, 704, 4096),
    "25M": (512, 6, 8, 8, 1408, 4096),
    "100M": (768, 12, 12, 12, 2048, 4096),
    "1B": (2048, 16, 32, 8, 8192, 128_256),
    "8B": (4096, 32, 32, 8, 14_336, 128_256),
}
PAIRS = {"embedded": "", "100M": "5M", "1B": "150M", "8B": "1B"}
SIZES["150M"] = (512, 4, 8, 8, 2048, 128_256)
SHAPES: dict[str, dict[str, Any]] = {
    "chain of 2": {"draft_length": 2},
    "chain of 4": {"draft_length": 4},
    "chain of 8": {"draft_length": 8},
    "tree 2,1,1,1": {"tree_widths": "2,1,1,1"},
    "tree 3,2,1": {"tree_widths": "3,2,1"},
    "dynamic, 8 nodes": {"tree_nodes": 8, "draft_length": 4},
    "dynamic, 16 nodes": {"tree_nodes": 16, "draft_length": 6},
    "dynamic, 60 nodes": {"tree_nodes": 60, "draft_length": 6},
}


class Shape(NamedTuple):
    """Mean seconds of a round's parts, and the nodes that it drafts and verifies."""

    nodes: float
    propose: float
    score: float
    verify: float


def main(arguments: list[str] | None = None) -> None:
    """Print both tables of each pair."""
    options = _options(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    emitted = {name: _emitted(settings) for name, settings in SHAPES.items()}
    for name in options.pairs:
        target, draft = _pair(name, options)
        print(f"\n{name}, {target.dtype}, {machine(options.device)}\n")
        _print_forwards(target, options)
        alone = _target_seconds(target)
        print(f"\nTarget alone: {1000 * alone:.2f} ms a token\n")
        print("| draft | nodes | propose, ms | score, ms | verify, ms | break even | speed-up |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for shape, settings in SHAPES.items():
            cost = _shape(target, draft, settings)
            even = (cost.propose + cost.score + cost.verify) / alone
            parts = " | ".join(f"{1000 * part:.2f}" for part in cost[1:])
            speedup = f"{emitted[shape] / even:.2f} at {emitted[shape]:.2f}"
            print(f"| {shape} | {cost.nodes:.1f} | {parts} | {even:.2f} | {speedup} |", flush=True)
        del target, draft
        if options.device.startswith("cuda"):
            torch.cuda.empty_cache()


def _options(arguments: list[str] | None) -> Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verify_cost", description=__doc__)
    parser.add_argument("--pairs", nargs="*", default=["embedded", "100M"], choices=[*PAIRS])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--threads", type=int, default=0, help="of torch")
    parser.add_argument("--repeats", type=int, default=20, help="forwards that the median is of")
    return parser.parse_args(arguments)


def _pair(name: str, options: Namespace) -> tuple[TransformersModel, TransformersModel]:
    if not PAIRS[name]:
        of = {"device": options.device, "dtype": options.dtype}
        target, draft = load_model("embedded:target", **of), load_model("embedded:draft", **of)
        assert isinstance(target, TransformersModel) and isinstance(draft, TransformersModel)
        return target, draft
    return random_model(name, options), random_model(PAIRS[name], options)


def random_model(size: str, options: Namespace) -> TransformersModel:
    """Return a Llama with random weights, made on the device, without an end-of-sequence token."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, options.dtype))
    try:
        with torch.device(options.device):
            weights = random_llama(*SIZES[size])
    finally:
        torch.set_default_dtype(before)
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    model = TransformersModel(weights, tokenizer, model_id=f"random {size}")
    model.eos_ids = frozenset()
    return model


def _print_forwards(model: TransformersModel, options: Namespace) -> None:
    """Print a forward's time by the number of new tokens: as a chain and as a tree."""
    graphs = options.device.startswith("cuda")
    print("| tokens | chain, ms | ratio | tree, ms | modules alone, ms | CUDA graph, ms | ratio |")
    print("|---|---|---|---|---|---|---|", flush=True)
    context = model.start(_ids(PROMPT_TOKENS))
    first: tuple[float, float] | None = None
    for count in COUNTS:
        ids = _ids(count)

        def chain(ids: list[int] = ids) -> None:
            context.extend(ids)
            context.rollback(len(ids))

        # A root, as the engine's unread token, and its children.
        parents = [-1, *([0] * (count - 1))]

        def tree(ids: list[int] = ids, parents: list[int] = parents) -> None:
            context.extend_tree(ids, parents)
            context.keep([])

        times = [_seconds(run, options) for run in (chain, tree, _modules(model, ids))]
        graph = _seconds(_graph(model, ids), options) if graphs else None
        first = first or (times[0], graph or 1.0)
        cells = (
            *(str(count), f"{1000 * times[0]:.2f}", f"{times[0] / first[0]:.2f}"),
            *(f"{1000 * seconds:.2f}" for seconds in times[1:]),
            *(("-", "-") if graph is None else (f"{1000 * graph:.2f}", f"{graph / first[1]:.2f}")),
        )
        print(f"| {' | '.join(cells)} |", flush=True)


def _modules(model: TransformersModel, ids: list[int]) -> Callable[[], None]:
    """transformers' forward of so many tokens without context; logits stay on the device."""
    table = torch.tensor([ids], device=model.device)

    @torch.inference_mode()
    def run() -> None:
        model.hf_model(input_ids=table, use_cache=False)
        if model.device.type == "cuda":
            torch.cuda.synchronize()

    return run


def _graph(model: TransformersModel, ids: list[int]) -> Callable[[], None]:
    """The same forward as a CUDA graph: what is left without Python and launches."""
    table = torch.tensor([ids], device=model.device)
    with torch.inference_mode():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model.hf_model(input_ids=table, use_cache=False)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model.hf_model(input_ids=table, use_cache=False)

    def replay() -> None:
        graph.replay()
        torch.cuda.synchronize()

    return replay


def _seconds(run: Callable[[], None], options: Namespace) -> float:
    for _ in range(3):
        run()
    times = []
    for _ in range(options.repeats):
        started = perf_counter()
        run()
        times.append(perf_counter() - started)
    return median(times)


def _target_seconds(model: TransformersModel) -> float:
    """Return the median seconds of a token of target-only decoding, of three runs after a first."""
    config = _config({})
    runs = [run_alone(model, _ids(PROMPT_TOKENS), config) for _ in range(4)]
    return median(run.token_seconds for run in runs[1:] if run is not None)


def _shape(target: TransformersModel, draft: TransformersModel, settings: dict[str, Any]) -> Shape:
    """Return the means over the full-length rounds of two runs after a first."""
    runs = [collect(target, _ids(PROMPT_TOKENS), _config(settings), draft=draft) for _ in range(3)]
    rounds = [step for run in runs[1:] for step in run.rounds]
    deepest = max(step.depth for step in rounds)
    full = [step for step in rounds if step.depth == deepest]
    return Shape(
        fmean(len(step.drafted) for step in full),
        *(
            fmean(getattr(step.seconds, part) for step in full)
            for part in ("propose", "score", "verify")
        ),
    )


def _emitted(settings: dict[str, Any]) -> float:
    """Return the embedded pair's tokens a round at temperature 0, the same on every machine."""
    target, draft = load_model("embedded:target"), load_model("embedded:draft")
    config = replace(_config(settings), max_new_tokens=64)
    runs = [collect(target, prompt, config, draft=draft) for prompt in PROMPTS]
    return tokens_per_round([step for run in runs for step in run.rounds]) or 0.0


def _config(settings: dict[str, Any]) -> Speculative:
    return Speculative(max_new_tokens=TOKENS, shaping=Shaping(temperature=0.0), **settings)


def _ids(count: int) -> list[int]:
    """Return so many ids of the embedded vocabulary, drawn from a seed."""
    generator = torch.Generator().manual_seed(1)
    return [int(value) for value in torch.randint(10, 4000, (count,), generator=generator)]


if __name__ == "__main__":
    main()
