"""Models on servers beside the local engine: step by step, and by the engine; 1, 4 and 16 rows.

Of the servers that are installed, llama.cpp's (requirements-dev.txt) and vLLM (`make engines`),
each with one thread and the whole vocabulary; `--only vLLM` or `--only llama.cpp` takes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import torch

from benchmarks.decoding import MEASURE
from core import ByEngine, load_model
from core.decoding.shaping.config import Shaping
from tests.models.remote import real_servers

ROWS = (1, 4, 16)
TOKENS = 10
PROMPT = "Once upon a time"
# Longer than any run, so that none ends by itself: the story's end is held back.
_HELD_BACK = -100.0


def run(repeats: int = 5) -> None:
    """Print a table: milliseconds a token, medians; of several rows the time that all share."""
    print(f"\nEngines: {TOKENS} tokens after {PROMPT!r}, ms a token of every row, {repeats} runs")
    print(f"{'':<34}" + "".join(f"{rows:>4} row{'s' if rows > 1 else ' '}" for rows in ROWS))
    local = load_model("embedded:target")
    _row("here, step by step", lambda rows: _steps(local, rows), repeats)
    for name, start in _servers():
        with TemporaryDirectory() as folder, start(Path(folder)) as (where, _):
            model = load_model(where)
            _row(f"{name}, step by step", lambda rows, own=model: _steps(own, rows), repeats)
            _row(f"{name}, by the engine", lambda rows, own=model: _engine(own, rows), repeats)


def _servers() -> Iterator[tuple[str, Callable[[Path], AbstractContextManager[Any]]]]:
    if MEASURE.only in "llama.cpp" and real_servers.has_llamacpp():
        yield "llama.cpp", real_servers.llamacpp
    if MEASURE.only in "vLLM" and real_servers.VLLM.exists():
        yield "vLLM", real_servers.vllm
    elif not real_servers.VLLM.exists():
        print("vLLM isn't installed: make engines")


def _row(name: str, once: Callable[[int], float], repeats: int) -> None:
    times = []
    for rows in ROWS:
        once(rows)
        times.append(median(once(rows) for _ in range(repeats)))
    print(f"{name:<34}" + "".join(f"{1000 * seconds:>9.2f}" for seconds in times), flush=True)


def _steps(model: Any, rows: int) -> float:
    """Seconds a token, greedy, of a context with so many rows."""
    context = model.start(model.encode(PROMPT))
    context.reorder([0] * rows)
    logits = context.extend([[267]] * rows)[:, -1]
    started = perf_counter()
    for _ in range(TOKENS):
        logits = context.extend([[int(row.argmax())] for row in logits])[:, -1]
    assert bool(torch.isfinite(logits.amax()))
    return (perf_counter() - started) / TOKENS / rows


def _engine(model: Any, rows: int) -> float:
    """Seconds a token of so many runs at once, each one request."""
    held_back = dict.fromkeys(model.eos_ids, _HELD_BACK)
    shaping = Shaping(logit_bias=held_back)
    ids = model.encode(PROMPT)

    def whole(seed: int) -> int:
        config = ByEngine(max_new_tokens=TOKENS, seed=seed, shaping=shaping)
        return len(list(model.sample(ids, config, TOKENS)))

    started = perf_counter()
    with ThreadPoolExecutor(rows) as pool:
        made = sum(pool.map(whole, range(rows)))
    assert made == TOKENS * rows
    return (perf_counter() - started) / made
