"""What recording a data path costs a run: off, and on, in turns."""

from __future__ import annotations

import statistics
from functools import partial
from time import perf_counter

from core import Greedy, Sampling, Shaping, collect, load_model
from core.decoding.config import MethodConfig
from core.traces.data_path.recorder import record

TOKENS = 40
CONFIGS: dict[str, MethodConfig] = {
    "greedy": Greedy(max_new_tokens=TOKENS),
    "sampling 0.8, top-p 0.95": Sampling(
        max_new_tokens=TOKENS, shaping=Shaping(temperature=0.8, top_p=0.95), seed=16
    ),
}


def run(repeats: int = 5) -> None:
    """Print a table: milliseconds of a run, medians, and the ratio of on to off."""
    model = load_model("embedded:target")
    print(f"\nRecording, embedded:target, {TOKENS} tokens, medians of {repeats} runs in turns")
    print("| method | off | on | ratio | calls |")
    print("|---|---|---|---|---|")
    for name, config in CONFIGS.items():
        off: list[float] = []
        on: list[float] = []
        make = partial(collect, model, "Once upon a time", config)
        for turn in range(repeats + 1):
            started = perf_counter()
            make()
            plain = perf_counter() - started
            with record() as recorder:
                started = perf_counter()
                make()
                recorded = perf_counter() - started
            if turn:  # A first pair pays for what only first calls do.
                off.append(1e3 * plain)
                on.append(1e3 * recorded)
        calls = sum(1 for _ in recorder.path.walk())
        before, after = statistics.median(off), statistics.median(on)
        ratio = f"**{after / before:.2f}**"
        print(f"| {name} | {before:.0f} ms | {after:.0f} ms | {ratio} | {calls:,} |")
