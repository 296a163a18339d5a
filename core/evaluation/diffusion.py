"""Right answers of a diffusion model by the forwards that it spends on an answer.

python -m core.evaluation.diffusion assets/traces/diffusion-budget.json
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from ..decoding.diffusion.config import Diffusion
from ..decoding.diffusion.types import DiffusionBudget, ForwardsPoint
from ..decoding.errors import TraceError
from ..decoding.files import own_json, save_file
from ..decoding.record.layout import RecordLayout
from ..decoding.serial import require_header
from ..decoding.shaping.config import Shaping
from ..language import Message

MODEL = "embedded:diffusion"
QUESTIONS, SEED, MOST_TOKENS = 60, 1, 96
STEPS = (2, 3, 4, 5)  # of a chain of sums


def ways() -> Iterator[Diffusion]:
    """Yield the settings that are measured: each order at several numbers of tokens a step."""
    shared: dict[str, Any] = {
        "max_new_tokens": MOST_TOKENS,
        "block_length": MOST_TOKENS,
        "shaping": Shaping(temperature=0.0),
    }
    for order in ("confidence", "margin", "random", "left_to_right"):
        for tokens in (1, 2, 4, 8, 16):
            yield Diffusion(order=order, tokens_per_step=tokens, **shared)
    for bound in (0.01, 0.1, 0.5, 2.0, 8.0):
        yield Diffusion(order="entropy", entropy_bound=bound, **shared)


def is_right(reply: str, answer: str) -> bool:
    """Return whether the last number of a reply is the answer."""
    numbers = re.findall(r"\d+", reply)
    return bool(numbers) and numbers[-1] == answer


def measure(config: Diffusion) -> ForwardsPoint:
    """Ask all questions with one way of filling."""
    from ..decoding.decode import collect
    from ..models.registry import load_model
    from .questions.asking import prompt_ids_of
    from .questions.problems import make_problems

    model = load_model(MODEL)
    right = forwards = 0
    for problem in make_problems(QUESTIONS, seed=SEED, steps=STEPS).problems:
        trace = collect(model, prompt_ids_of(model, problem), config)
        right += is_right(trace.text, problem.answer)
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
    data = own_json(path, Message("The file {path}", path=path), TraceError)
    require_header(data, DiffusionBudget)
    return _layout().read(data)


def main() -> None:
    """Measure all ways and write the file."""
    from ..models.registry import load_model

    parser = ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--processes", type=int, default=1, help="ways measured at once")
    args = parser.parse_args()
    model, started, points = load_model(MODEL), perf_counter(), []
    with get_context("spawn").Pool(args.processes) as pool:
        for point in pool.imap(measure, ways()):
            points.append(point)
            print(point, flush=True)
    words = f"{QUESTIONS} held-out chains of 2 to 5 sums · {MOST_TOKENS} positions in one block"
    seconds = round(perf_counter() - started)
    budget = DiffusionBudget(model.model_id, model.revision, words, seconds, tuple(points))
    save_file(args.out, json.dumps(_layout().plain(budget), indent=1) + "\n")


if __name__ == "__main__":
    main()
