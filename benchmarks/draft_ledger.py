"""Ledger of every kind of draft: times of a round's parts, acceptance, and the speed-up expected by
Leviathan et al. 2023 against the measured one.

`python -m benchmarks.draft_ledger` prints the tables of docs/drafts.md; with names of kinds it
prints their rows alone. Speculative and target-only runs take turns. `--help` lists the options.
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from statistics import fmean
from typing import Any, NamedTuple

import torch

from benchmarks.machine import machine
from core import ModelError, Shaping, Speculative, load_model
from core.decoding.counting import counted
from core.decoding.speculative.measurement.measure import compare
from core.decoding.speculative.measurement.metrics import (
    acceptance_rate,
    alpha,
    expected_speedup,
    system_efficiency,
    tokens_per_round,
)
from core.decoding.speculative.measurement.report import Comparison
from core.models.places import DEFAULT_DRAFTS

PROMPTS = (
    "Once upon a time there was a small dog who",
    "A list of colors: red, blue,",
    "What is 17 + 25? Let us count: 17 + 25 is",
)
TOKENS, REPEATS, TEMPERATURES = 64, 3, (0.0, 1.0)
KINDS: dict[str, dict[str, Any]] = {
    "chain": {},
    "chain, block": {"acceptance": "block"},
    "tree 3,2,1": {"tree_widths": "3,2,1"},
    "dynamic tree": {"tree_nodes": 8},
    "head": {"drafter": "head"},
    "head, dynamic tree": {"drafter": "head", "tree_nodes": 8},
    "early exit": {"drafter": "early_exit", "exit_layer": 4},
    "early exit, dynamic tree": {"drafter": "early_exit", "exit_layer": 4, "tree_nodes": 8},
    "prompt lookup": {"drafter": "prompt_lookup"},
    "prompt lookup, tree": {"drafter": "prompt_lookup", "tree_nodes": 8},
    "suffix": {"drafter": "suffix"},
    "suffix, tree": {"drafter": "suffix", "tree_nodes": 8},
    "n-gram counts": {"drafter": "ngram_cache"},
    "n-gram counts, tree": {"drafter": "ngram_cache", "tree_nodes": 8},
    "Jacobi": {"drafter": "jacobi"},
    "lookahead": {"drafter": "lookahead"},
    "other tokenizer": {"drafter": "other_tokenizer"},
}
# The embedded models share their tokens: this kind's target has others.
TARGETS = {"other_tokenizer": "smollm2"}
COLUMNS = (
    *("kind", "propose, ms", "score, ms", "verify, ms", "acceptance", "system efficiency"),
    *("tokens a round", "expected speed-up", "measured speed-up"),
)


class Measured(NamedTuple):
    """Comparisons of a kind, one for each prompt."""

    comparisons: list[Comparison]

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        rounds = [step for each in self.comparisons for step in each.speculative.rounds]
        parts = (
            fmean(getattr(step.seconds, part) for step in rounds)
            for part in ("propose", "score", "verify")
        )
        # Each against the target-only runs that it took turns with.
        expected = [value for each in self.comparisons if (value := predicted(each)) is not None]
        rates = acceptance_rate(rounds), system_efficiency(rounds)
        return (
            *(f"{1000 * seconds:.2f}" for seconds in parts),
            *("-" if rate is None else f"{rate:.0%}" for rate in rates),
            f"{tokens_per_round(rounds) or 0:.2f}",
            f"{fmean(expected):.2f}" if expected else "-",
            f"{fmean(each.speedup for each in self.comparisons):.2f}",
        )


def predicted(comparison: Comparison) -> float | None:
    """Return the expected speed-up of a comparison; None if nothing was drafted."""
    trace = comparison.speculative
    assert isinstance(trace.config, Speculative)
    mean = alpha(trace.rounds, trace.config.acceptance)
    return None if mean is None else expected_speedup(mean, trace.rounds, comparison.costs)


def measured(settings: dict[str, Any], temperature: float, options: Namespace) -> Measured:
    """Return the comparisons of a kind.

    Raises:
        ModelError: a model isn't installed, or doesn't fit on the device.
    """
    drafter = settings.get("drafter", "model")
    target = _loaded(TARGETS.get(drafter, "embedded:target"), options)
    draft = _loaded(DEFAULT_DRAFTS[drafter], options) if drafter in DEFAULT_DRAFTS else None
    config = Speculative(
        max_new_tokens=options.tokens, shaping=Shaping(temperature=temperature), **settings
    )
    each = (compare(target, prompt, config, draft, repeats=options.repeats) for prompt in PROMPTS)
    return Measured([comparison for comparison in each if comparison is not None])


def _loaded(where: str, options: Namespace) -> Any:
    return load_model(where, dtype=options.dtype, device=options.device)


def main(arguments: list[str] | None = None) -> None:
    """Print a table for each temperature."""
    options = _parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    runs = counted(options.repeats, "run")
    print(f"{machine(options.device)}, {options.tokens} tokens, {runs} a prompt")
    for temperature in options.temperatures:
        print(f"\nTemperature {temperature:g}:\n")
        print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
        for name, settings in KINDS.items():
            if options.kinds and name not in options.kinds:
                continue
            try:
                cells = measured(settings, temperature, options).row()
            except ModelError as error:
                print(f"{name} was not measured: {error}", file=sys.stderr)
                continue
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.draft_ledger", description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="default: all")
    parser.add_argument("--device", default=None, help="cpu when left out; cuda, cuda:1, mps")
    parser.add_argument("--dtype", default=None, help="of the weights, such as bfloat16")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of a run")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="runs of each prompt")
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0: its own choice")
    parser.add_argument(
        "--temperatures", type=float, nargs="+", default=list(TEMPERATURES), metavar="T"
    )
    return parser


if __name__ == "__main__":
    main()
