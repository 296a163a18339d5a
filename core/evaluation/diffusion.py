"""Right answers of a diffusion model by the forwards that it spends on an answer.

python -m core.evaluation.diffusion assets/traces/diffusion-budget.json
"""

from __future__ import annotations

import json
import random
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from core.decoding.diffusion.config import Diffusion
from core.decoding.diffusion.types import DiffusionBudget, ForwardsPoint
from core.decoding.errors import TraceError
from core.decoding.files import own_json, save_file
from core.decoding.record.layout import RecordLayout
from core.decoding.serial import require_header
from core.decoding.shaping.config import Shaping

QUESTIONS, SEED, MOST_TOKENS, BLOCK = 60, 1, 32, 32


def ways() -> Iterator[Diffusion]:
    """Yield the settings that are measured: each order at several numbers of tokens a step."""
    shared: dict[str, Any] = {
        "max_new_tokens": MOST_TOKENS,
        "block_length": BLOCK,
        "shaping": Shaping(temperature=0.0),
    }
    for order in ("confidence", "margin", "random", "left_to_right"):
        for tokens in (1, 4, 8, 16, 32):
            yield Diffusion(order=order, tokens_per_step=tokens, **shared)
    for bound in (0.01, 0.1, 1.0, 4.0, 20.0):
        yield Diffusion(order="entropy", entropy_bound=bound, **shared)


def questions() -> list[tuple[str, str]]:
    """Return sums of two numbers with their answers."""
    numbers = random.Random(SEED)
    pairs = [(numbers.randint(2, 99), numbers.randint(2, 99)) for _ in range(QUESTIONS)]
    return [(f"What is {one} + {two}?", str(one + two)) for one, two in pairs]


def is_right(reply: str, answer: str) -> bool:
    """Return whether the last number of a reply is the answer."""
    numbers = re.findall(r"\d+", reply)
    return bool(numbers) and numbers[-1] == answer


def measure(model: Any, config: Diffusion) -> ForwardsPoint:
    """Ask all questions with one way of filling."""
    from core.decoding.decode import collect

    right = forwards = 0
    for question, answer in questions():
        ids = model.encode_chat([{"role": "user", "content": question}])
        trace = collect(model, ids, config)
        right += is_right(trace.text, answer)
        forwards += len(trace.steps)
    bounded = config.order == "entropy"
    return ForwardsPoint(
        config.order,
        0 if bounded else config.tokens_per_step,
        config.entropy_bound if bounded else 0.0,
        forwards / QUESTIONS,
        right,
        QUESTIONS,
    )


@cache
def _layout() -> RecordLayout[DiffusionBudget]:
    return RecordLayout(DiffusionBudget)


def load_budget(path: str | Path) -> DiffusionBudget:
    """Return a stored measurement.

    Raises:
        TraceError: the file can't be read, or holds none.
    """
    data = own_json(path, f"The file {path}", TraceError)
    require_header(data, DiffusionBudget)
    return _layout().read(data)


def main() -> None:
    """Measure all ways and write the file."""
    from core.models.registry import load_model

    parser = ArgumentParser(description=__doc__)
    parser.add_argument("out")
    out = parser.parse_args().out
    model, started = load_model("embedded:diffusion"), perf_counter()
    points = []
    for config in ways():
        points.append(measure(model, config))
        print(points[-1], flush=True)
    words = f"{QUESTIONS} sums of two numbers · {MOST_TOKENS} positions in one block · greedy"
    seconds = round(perf_counter() - started)
    budget = DiffusionBudget(model.model_id, model.revision, words, seconds, tuple(points))
    save_file(out, json.dumps(_layout().plain(budget), indent=1) + "\n")


if __name__ == "__main__":
    main()
