"""A streamed chat over HTTP beside the engine alone, and beside `transformers serve`.

Seconds from a request's sending to its first token, and between tokens (the mean behind the first).
Each server is a process of its own with one torch thread, and so is the engine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any, NamedTuple

import httpx2

from benchmarks.app import ROOT, free_port

TOKENS = 60
_START = 120.0
_MESSAGES = [{"role": "user", "content": "Tell me a story about a brave fox."}]
_TARGET = str(ROOT / "assets" / "models" / "target")
_ENGINE = """
import sys, json
from time import perf_counter
from core import Greedy, TokenStep, collect, load_model
model = load_model("embedded:target")
ids = model.encode_chat(json.loads(sys.argv[1]))
for _ in range(int(sys.argv[3]) + 1):
    times, began = [], perf_counter()
    def on_step(step):
        if isinstance(step, TokenStep): times.append(perf_counter() - began)
    collect(model, ids, Greedy(max_new_tokens=int(sys.argv[2])), on_step=on_step)
    print(json.dumps(times))
"""


class Times(NamedTuple):
    """Of one answer, in seconds."""

    first: float
    between: float


def run(repeats: int) -> None:
    """Print a row for the engine and for each server."""
    print(f"\nA streamed chat of {TOKENS} tokens, greedy, embedded model, one torch thread")
    _row("engine alone", _engine(repeats))
    _row("this endpoint", _served(_own, "embedded:target", repeats))
    if (theirs := _served(_theirs, _TARGET, repeats)) is None:
        print("transformers serve: not here (pip install 'transformers[serving]')")
    else:
        _row("transformers serve", theirs)


def _row(name: str, times: Sequence[Times] | None) -> None:
    assert times
    first = statistics.median(one.first for one in times)
    between = statistics.median(one.between for one in times)
    print(f"{name}: first token {1000 * first:.1f} ms, between tokens {1000 * between:.2f} ms")


def _times(stamps: Sequence[float]) -> Times:
    return Times(stamps[0], (stamps[-1] - stamps[0]) / max(1, len(stamps) - 1))


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def _engine(repeats: int) -> list[Times]:
    arguments = [json.dumps(_MESSAGES), str(TOKENS), str(repeats)]
    command = [sys.executable, "-c", _ENGINE, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=_environment(), check=True, capture_output=True, text=True
    )
    # The first answer warms up.
    return [_times(json.loads(line)) for line in done.stdout.splitlines()[1:]]


def _own(port: int) -> list[str]:
    return [sys.executable, "-m", "core", "serve", "--port", str(port)]


def _theirs(port: int) -> list[str]:
    code = "from transformers.cli.transformers import main; main()"
    options = ["serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    return [sys.executable, "-c", code, *options, "--dtype", "float32"]


def _served(command: Any, model: str, repeats: int) -> list[Times] | None:
    port = free_port()
    with _process(command(port)) as process:
        url = f"http://127.0.0.1:{port}/v1"
        if not _answers(url, process):
            return None
        _ask(url, model)
        return [_ask(url, model) for _ in range(repeats)]


@contextmanager
def _process(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, env=_environment(), stdout=quiet, stderr=quiet)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    end = perf_counter() + _START
    while perf_counter() < end and process.poll() is None:
        try:
            httpx2.get(f"{url}/models", timeout=5)
            return True
        except httpx2.HTTPError:
            sleep(0.1)
    return False


def _ask(url: str, model: str) -> Times:
    """One streamed answer; when each token came."""
    body = {
        "model": model,
        "messages": _MESSAGES,
        "max_tokens": TOKENS,
        "temperature": 0,
        "stream": True,
    }
    began, stamps = perf_counter(), []
    with httpx2.stream("POST", f"{url}/chat/completions", json=body, timeout=120) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: {") and _text_of(json.loads(line[6:])):
                stamps.append(perf_counter() - began)
    return _times(stamps)


def _text_of(chunk: dict[str, Any]) -> str:
    choices = chunk.get("choices") or [{}]
    return str(choices[0].get("delta", {}).get("content") or "")
