"""Patterns of a broken draft that are named in runs of honest and of broken drafts.

`python -m benchmarks.draft_patterns` prints the tables of docs/drafts.md: for each kind of draft
the number of its runs, the tokens that were accepted, and the names that `pattern_of` gives. An
honest draft with a name is a false accusation. `--help` lists the options.
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean
from typing import Any, TypeAlias, get_args

import torch
from torch import Tensor

from benchmarks.broken_drafts import BrokenDraft, LateContext, StaleContext, StarvedContext
from core import ModelError, Shaping, Speculative, Trace, collect, load_model
from core.decoding.speculative.analysis.patterns import PatternName, pattern_of
from core.decoding.speculative.measurement.metrics import acceptance_rate

PROMPTS = (
    *("Once upon a time", "The little dog was sad because", "At night, the stars"),
    'Tom and Lily went to the park. They saw a big tree. Tom said, "',
    "One day, a girl named Sue found a red ball. She",
    "2 + 3 = 5. 4 + 4 = 8. 1 + 2 =",
    "The old sailor walked down to the harbour and",
    "Long ago, in a village by the sea, there lived",
    "A list of colors: red, blue,",
    "What is 17 + 25? Let us count: 17 + 25 is",
    "A list of animals: a cat, a dog,",
    "The queen lost her ring. She looked",
    "Ben had a new kite, but the wind",
    "Q: What is the capital of France? A:",
    "It was raining. Anna opened the door and saw",
    "My grandmother bakes bread every",
    "The bear and the fox were friends. One morning",
    "First we cut the apples. Then we",
    "A list of fruits: apple, pear,",
    "In the deep forest stood a house. Nobody",
)
QUESTIONS = (
    *("Tell me a story about a cat.", "What is 12 + 30?", "Name three colors."),
    *("Write a list of animals.", "Where do fish live?", "Why is the sky blue?"),
    *("Tell me about a brave girl.", "What can I cook with eggs?", "How do birds fly?"),
    "Write two sentences about winter.",
)
TEMPERATURES = (0.0, 0.7, 1.0, 1.5)
TARGET, DRAFT, SMOL = "embedded:target", "embedded:draft", "smollm2"
NAMES = get_args(PatternName)
Prompt: TypeAlias = str | list[int]
MakeDraft: TypeAlias = Callable[[Any, Any, list[int], int], Any]
"""Return the draft of a run by the target, the honest draft, the run's prompt and a number."""


@dataclass(frozen=True)
class Kind:
    """A kind of draft.

    Args:
        draft: makes its draft model; None for a source without one.
        settings: of `Speculative`.
        chat: the target reads a question in its chat template.
    """

    name: str
    draft: MakeDraft | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    chat: bool = False
    target: str = TARGET


def _itself(target: Any, draft: Any, ids: list[int], number: int) -> Any:  # noqa: ARG001
    return draft


def _head(*_: Any) -> Any:
    return _loaded("embedded:head")


def _first_layers(count: int) -> MakeDraft:
    return lambda target, *_: target.layers.first(count)


def _changed(change: Callable[[Tensor, Tensor], Tensor]) -> MakeDraft:
    """Return a maker of drafts whose logits a function of them and of noise `[vocab]` changes."""

    def make(target: Any, draft: Any, ids: list[int], number: int) -> Any:  # noqa: ARG001
        noise = torch.randn(draft.vocab_size, generator=torch.Generator().manual_seed(number))
        return BrokenDraft(draft, change=lambda logits: change(logits, noise))

    return make


def _cached(kind: Any) -> MakeDraft:
    return lambda *given: BrokenDraft(given[1], cache=kind)


def _other_prompt(target: Any, draft: Any, ids: list[int], number: int) -> Any:  # noqa: ARG001
    return BrokenDraft(draft, prompt=target.encode(PROMPTS[(number * 7 + 3) % len(PROMPTS)]))


def _other_long_prompt(target: Any, draft: Any, ids: list[int], number: int) -> Any:  # noqa: ARG001
    texts = [PROMPTS[(number * 7 + 3 + more) % len(PROMPTS)] for more in range(4)]
    return BrokenDraft(draft, prompt=target.encode(" ".join(texts)))


def _no_template(target: Any, draft: Any, ids: list[int], number: int) -> Any:  # noqa: ARG001
    question = QUESTIONS[number % len(QUESTIONS)]
    return BrokenDraft(draft, prompt=target.encode(question))


HONEST = (
    Kind("chain", _itself),
    Kind("chain, draft at temperature 2", _itself, {"draft_temperature": 2.0}),
    Kind("dynamic tree", _itself, {"tree_nodes": 8}),
    Kind("head", _head, {"drafter": "head"}),
    *(
        Kind(f"early exit after layer {n}", None, {"drafter": "early_exit", "exit_layer": n})
        for n in (1, 2, 4)
    ),
    Kind("first layer as a model", _first_layers(1)),
    Kind("chain, chat", _itself, chat=True),
    Kind("smollm2, 28 of 30 layers, chat", _first_layers(28), chat=True, target=SMOL),
)
BROKEN = (
    Kind("constant logits", _changed(lambda logits, noise: (3 * noise).expand(logits.shape))),
    Kind(
        "one id ahead",
        _changed(lambda logits, noise: logits.index_fill(-1, noise.argmax(), 99.0)),
    ),
    Kind("foreign ids", _changed(lambda logits, noise: logits[..., noise.argsort()])),
    Kind("another prompt", _other_prompt),
    Kind("another long prompt", _other_long_prompt),
    Kind("no template", _no_template, chat=True),
    Kind("last token missing", _cached(LateContext)),
    Kind("cache loses tokens", _cached(StarvedContext)),
    Kind("cache keeps rejected tokens", _cached(StaleContext)),
    Kind("smollm2, no template", _no_template, chat=True, target=SMOL),
)


@cache
def _loaded(name: str) -> Any:
    return load_model(name)


def runs(kind: Kind, options: Namespace) -> Iterator[Trace]:
    """Yield the runs of a kind: all prompts at all temperatures, each with its own seed.

    Raises:
        ModelError: a model isn't installed.
    """
    target = _loaded(kind.target)
    # SmolLM2 has no smaller model of its tokens here: it drafts for itself.
    honest = _loaded(DRAFT) if kind.target == TARGET else target
    questions: Sequence[str] = QUESTIONS if kind.chat else PROMPTS
    for number, text in enumerate(questions[: options.prompts]):
        for at, temperature in enumerate(options.temperatures):
            ids = _ids(target, text, chat=kind.chat)
            config = Speculative(
                max_new_tokens=options.tokens,
                shaping=Shaping(temperature=temperature),
                seed=options.seed + len(options.temperatures) * number + at,
                **kind.settings,
            )
            draft = kind.draft(target, honest, ids, number) if kind.draft else None
            yield collect(target, ids, config, draft=draft)


def _ids(target: Any, text: str, *, chat: bool) -> list[int]:
    ids: list[int] = (
        target.encode_chat([{"role": "user", "content": text}]) if chat else target.encode(text)
    )
    return ids


def row(kind: Kind, traces: Sequence[Trace]) -> tuple[str, ...]:
    """Return the cells of the table."""
    names = Counter(found.name for trace in traces if (found := pattern_of(trace)))
    rates = [rate for trace in traces if (rate := acceptance_rate(trace.rounds)) is not None]
    counts = (str(names[name]) if names[name] else "" for name in NAMES)
    accepted = f"{fmean(rates):.0%}" if rates else "-"
    return (kind.name, str(len(traces)), accepted, str(names.total()), *counts)


def main(arguments: list[str] | None = None) -> None:
    """Print a table of honest drafts and one of broken ones."""
    options = _parser().parse_args(arguments)
    for title, kinds in (("Honest", HONEST), ("Broken", BROKEN)):
        print(f"\n{title} drafts, {options.tokens} tokens, seed {options.seed}:\n")
        head = ("draft", "runs", "accepted", "named", *(name.replace("_", " ") for name in NAMES))
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for kind in kinds:
            if options.kinds and kind.name not in options.kinds:
                continue
            try:
                print(f"| {' | '.join(row(kind, list(runs(kind, options))))} |", flush=True)
            except ModelError as error:
                print(f"{kind.name} was not measured: {error}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.draft_patterns", description=__doc__
    )
    names = [kind.name for kind in (*HONEST, *BROKEN)]
    parser.add_argument("kinds", nargs="*", choices=[*names, []], help="default: all")
    parser.add_argument("--tokens", type=int, default=48, help="of a run")
    parser.add_argument("--prompts", type=int, default=len(PROMPTS), help="at most so many")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument(
        "--temperatures", type=float, nargs="+", default=list(TEMPERATURES), metavar="T"
    )
    return parser


if __name__ == "__main__":
    main()
