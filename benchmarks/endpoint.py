"""A streamed chat over HTTP beside the engine alone, and beside `transformers serve`.

Seconds from a request's sending to its first token, and between tokens (the mean behind the first).
Each server is a process of its own with one torch thread, and so is the engine; they take turns, so
that what else the machine does falls on all of them. It falls least on processor time: of a whole
answer, and of one that ends with its first token.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from time import perf_counter, sleep
from typing import Any, NamedTuple

import httpx2
from transformers.utils.import_utils import is_serve_available

from benchmarks.app import ROOT, free_port
from benchmarks.sessions import processor_seconds

TOKENS = 60
_START = 120.0
_MESSAGES = [{"role": "user", "content": "Tell me a story about a brave fox."}]
_TARGET = str(ROOT / "assets" / "models" / "target")
_ENGINE = """
import sys, json
from time import perf_counter
from core import Greedy, TokenStep, collect, load_model
model = load_model("embedded:target")
messages = json.loads(sys.argv[1])
for line in sys.stdin:
    times, began = [], perf_counter()
    def on_step(step):
        if isinstance(step, TokenStep): times.append(perf_counter() - began)
    ids = model.encode_chat(messages)
    collect(model, ids, Greedy(max_new_tokens=int(line)), on_step=on_step)
    print(json.dumps(times), flush=True)
"""
_THEIRS = "from transformers.cli.transformers import main; main()"
Command = Sequence[str]


class Asked(NamedTuple):
    """What answers, and its process."""

    ask: Callable[[int], Times]
    pid: int

    def processor_time(self, tokens: int, repeats: int) -> float:
        """Seconds of an answer of so many tokens, the mean."""
        used = -processor_seconds(self.pid)
        for _ in range(repeats):
            self.ask(tokens)
        return (used + processor_seconds(self.pid)) / repeats


class Times(NamedTuple):
    """Of one answer, in seconds."""

    first: float
    between: float


def run(repeats: int) -> None:
    """Print a row for the engine and for each server: medians, and the least and the most."""
    print(f"\nA streamed chat of {TOKENS} tokens, greedy, embedded model, one torch thread")
    with ExitStack() as processes:
        asked = {"engine alone": processes.enter_context(_engine())}
        asked["this endpoint"] = processes.enter_context(_served(_own, "embedded:target"))
        if is_serve_available():
            asked["transformers serve"] = processes.enter_context(_served(_theirs, _TARGET))
        for one in asked.values():
            one.ask(TOKENS)  # The first answer loads the model, or warms it up.
        times: dict[str, list[Times]] = {name: [] for name in asked}
        for _ in range(repeats):
            for name, one in asked.items():
                times[name].append(one.ask(TOKENS))
        for name, found in times.items():
            used = [asked[name].processor_time(tokens, repeats) for tokens in (TOKENS, 1)]
            _row(name, found, *used)
    if "transformers serve" not in asked:
        print("transformers serve: not here (pip install 'transformers[serving]')")


def _row(name: str, times: Sequence[Times], whole: float, one_token: float) -> None:
    first, between = (_spread([1000 * s for s in seconds]) for seconds in zip(*times, strict=True))
    said = f"first token {first} ms, between tokens {between} ms"
    print(f"{name}: {said}")
    used = f"{1000 * whole:.0f} ms, of one of a single token {1000 * one_token:.1f} ms"
    print(f"{'':<{len(name)}}  processor time of an answer {used}", flush=True)


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _times(stamps: Sequence[float]) -> Times:
    return Times(stamps[0], (stamps[-1] - stamps[0]) / max(1, len(stamps) - 1))


@contextmanager
def _process(command: Command, **options: Any) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, text=True, **options
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def _engine() -> Iterator[Asked]:
    command = [sys.executable, "-c", _ENGINE, json.dumps(_MESSAGES)]
    pipe = subprocess.PIPE
    with _process(command, stdin=pipe, stdout=pipe) as process:

        def ask(tokens: int) -> Times:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{tokens}\n")
            process.stdin.flush()
            return _times(json.loads(process.stdout.readline()))

        yield Asked(ask, process.pid)


def _own(port: int) -> Command:
    return [sys.executable, "-m", "core", "serve", "--port", str(port)]


def _theirs(port: int) -> Command:
    options = ["serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    return [sys.executable, "-c", _THEIRS, *options, "--dtype", "float32"]


@contextmanager
def _served(command: Callable[[int], Command], model: str) -> Iterator[Asked]:
    port = free_port()
    url = f"http://127.0.0.1:{port}/v1"
    with (
        _process(command(port), stdout=subprocess.DEVNULL) as process,
        # One connection, as the official client keeps one.
        httpx2.Client(base_url=url, timeout=_START) as client,
    ):
        _wait(client, process)
        yield Asked(partial(_ask, client, model), process.pid)


def _wait(client: httpx2.Client, process: subprocess.Popen[str]) -> None:
    """Until the server answers anything at all."""
    end = perf_counter() + _START
    while process.poll() is None and perf_counter() < end:
        try:
            client.get("/models")
            return
        except httpx2.HTTPError:
            sleep(0.1)
    raise TimeoutError(f"{process.args!r} did not start.")


def _ask(client: httpx2.Client, model: str, tokens: int) -> Times:
    """One streamed answer; when each token came."""
    body = {
        "model": model,
        "messages": _MESSAGES,
        "max_tokens": tokens,
        "temperature": 0,
        "stream": True,
    }
    began, stamps = perf_counter(), []
    with client.stream("POST", "/chat/completions", json=body) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: {") and _text_of(json.loads(line[6:])):
                stamps.append(perf_counter() - began)
    return _times(stamps)


def _text_of(chunk: dict[str, Any]) -> str:
    choices = chunk.get("choices") or [{}]
    return str(choices[0].get("delta", {}).get("content") or "")
