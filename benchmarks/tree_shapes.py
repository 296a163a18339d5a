"""Shapes of drafts for the embedded pair: tokens a target forward, and time a token.

`python -m benchmarks.tree_shapes` prints the table of docs/benchmarks.md.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from core import Shaping, Speculative, collect, load_model

PROMPTS = ("The old sailor walked down to the harbour and", "Once upon a time", "The dog saw")
REPEATS = 5
SHAPES: dict[str, dict[str, Any]] = {
    "chain of 4": {"draft_length": 4},
    "chain of 4, block": {"draft_length": 4, "acceptance": "block"},
    "chain of 8": {"draft_length": 8},
    "tree 2,1,1,1": {"tree_widths": "2,1,1,1"},
    "tree 3,2,1": {"tree_widths": "3,2,1"},
    "tree 3,2,1, drawn": {"tree_widths": "3,2,1", "tree_picks": "without_replacement"},
    "dynamic, 8 nodes": {"tree_nodes": 8, "draft_length": 4},
    "dynamic, 16 nodes": {"tree_nodes": 16, "draft_length": 6},
}


def main() -> None:
    """Print tokens a round and milliseconds a token of each shape at two temperatures."""
    target, draft = load_model("embedded:target"), load_model("embedded:draft")
    for temperature in (0.0, 1.0):
        print(f"| temperature {temperature:g} | tokens a forward | ms a token |\n|---|---|---|")
        for name, settings in SHAPES.items():
            times, tokens, rounds = list[float](), 0, 0
            for seed in range(REPEATS):
                seconds, emitted = 0.0, 0
                for prompt in PROMPTS:
                    config = Speculative(
                        max_new_tokens=64,
                        seed=seed,
                        shaping=Shaping(temperature=temperature),
                        **settings,
                    )
                    run = collect(target, prompt, config, draft=draft)
                    seconds += sum(step.seconds.total for step in run.rounds)
                    emitted, rounds = emitted + len(run.token_ids), rounds + len(run.rounds)
                times.append(1000 * seconds / emitted)
                tokens += emitted
            print(f"| {name} | {tokens / rounds:.2f} | {median(times):.2f} |")


if __name__ == "__main__":
    main()
