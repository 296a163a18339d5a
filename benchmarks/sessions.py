"""Many visitors who press Run at once, over real websockets, beside the engine without pages.

A visitor's first token is the first message that shows one, the last one the message of the
finished run; the page has ended when its charts have been sent too. One more visitor only looks
at the page meanwhile. The visitors are one process beside the server and take time from it.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import IO, NamedTuple

from benchmarks.app import ROOT, answers, free_port
from benchmarks.session_client import Visitor

VISITORS = 20
# Between two looks of the visitor who runs nothing, seconds.
_LOOK = 0.5
_START = 60
_ENGINE = """
import sys, torch
from time import perf_counter, process_time
from core import Sampling, Shaping, check, collect, load_model
model = load_model("embedded:target")
config = Sampling(max_new_tokens=40, seed=16, shaping=Shaping(temperature=0.8, top_p=0.95))
collect(model, "Once upon a time", config)
started, worked = perf_counter(), process_time()
for _ in range(int(sys.argv[1])):
    check(collect(model, "Once upon a time", config))
print(perf_counter() - started, process_time() - worked)
"""


class Pressed(NamedTuple):
    """Seconds of one visitor from the press to the first token, the last one, and the charts."""

    first: float
    last: float
    ended: float


class Server(NamedTuple):
    """A running server."""

    port: int
    pid: int


class Measured(NamedTuple):
    """What one round gave.

    Args:
        alone: a visitor before the others came.
        looks: seconds of each full run of the page of the visitor who runs nothing.
        idle: the same while nobody runs anything.
        processor: the server's processor time from the presses to the last chart, in seconds.
    """

    alone: Pressed
    together: list[Pressed]
    looks: list[float]
    idle: float
    processor: float


def run(repeats: int = 3, visitors: int = VISITORS, root: Path = ROOT) -> None:
    """Print a table of seconds, medians of the rounds.

    Args:
        root: of the checkout whose app is measured.
    """
    with serving(root) as server:
        rounds = []
        engines = []
        for _ in range(repeats):
            rounds.append(asyncio.run(_round(server, visitors)))
            engines.append(engine_alone(visitors, root))

    def middle(values: Iterator[float]) -> str:
        return f"{statistics.median(values):.2f} s"

    looks = [seconds for found in rounds for seconds in found.looks]
    print(f"\n{visitors} visitors press Run at once (40 tokens each), medians of {repeats} rounds")
    print("| what | measured |")
    print("|---|---|")
    print(f"| the same runs in the engine, one after the other | {middle(e[0] for e in engines)} |")
    print(f"| their processor time | {middle(e[1] for e in engines)} |")
    print(f"| processor time of the server | {middle(r.processor for r in rounds)} |")
    for words, place in (("first token", 0), ("last token", 1), ("charts are sent", 2)):
        print(f"| alone, until the {words} | {middle(r.alone[place] for r in rounds)} |")
        nth = [sorted(p[place] for p in r.together) for r in rounds]
        print(f"| together, until the {words}, median | {middle(map(statistics.median, nth))} |")
        print(f"| together, until the {words}, slowest | {middle(max(n) for n in nth)} |")
    print(f"| one more visitor's run of the page, idle | {middle(r.idle for r in rounds)} |")
    print(f"| meanwhile, median | {middle(iter(looks))} |")
    print(f"| meanwhile, slowest | {max(looks):.2f} s |")


def engine_alone(runs: int, root: Path = ROOT) -> tuple[float, float]:
    """Seconds, and processor seconds, of so many runs with their checks, without pages."""
    command = [sys.executable, "-c", _ENGINE, str(runs)]
    out = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    passed, processor = map(float, out.split())
    return passed, processor


@contextmanager
def serving(root: Path = ROOT, log: IO[bytes] | int = subprocess.DEVNULL) -> Iterator[Server]:
    """A server of its own, which writes into the log.

    Raises:
        RuntimeError: it ended, or did not answer in time.
    """
    port = free_port()
    options = ["--server.headless", "true", "--server.port", str(port)]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    server = subprocess.Popen(command, cwd=root, stdout=log, stderr=log, env=environment)
    try:
        end = perf_counter() + _START
        while not answers(f"http://127.0.0.1:{port}"):
            if server.poll() is not None or perf_counter() > end:
                raise RuntimeError(f"The server did not answer within {_START} s.")
            sleep(0.05)
        yield Server(port, server.pid)
    finally:
        server.terminate()
        server.wait(30)


async def _round(server: Server, visitors: int) -> Measured:
    port = server.port
    async with AsyncExitStack() as stack:
        looker = await stack.enter_async_context(Visitor(port))
        await _at_rest(looker)
        # Loads the model, where nobody has yet.
        await _press(looker)
        alone = await _press(looker)
        idle = await looker.full_run()
        others = [await stack.enter_async_context(Visitor(port)) for _ in range(visitors)]
        for visitor in others:
            await _at_rest(visitor)
        watching = asyncio.create_task(_look(looker))
        before = processor_seconds(server.pid)
        together = list(await asyncio.gather(*map(_press, others)))
        processor = processor_seconds(server.pid) - before
        watching.cancel()
    return Measured(alone, together, looker.seconds, idle, processor)


def processor_seconds(pid: int) -> float:
    """Processor time of a process so far, as `ps` counts it: whole seconds; better on Linux."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    said = subprocess.run(["ps", "-o", "time=", "-p", str(pid)], capture_output=True, check=True)
    parts = said.stdout.decode().strip().replace("-", ":").split(":")
    return sum(float(part) * 60**at for at, part in enumerate(reversed(parts)))


async def _look(visitor: Visitor) -> None:
    while True:
        visitor.seconds.append(await visitor.full_run())
        await asyncio.sleep(_LOOK)


async def _at_rest(visitor: Visitor) -> None:
    """Until the page has drawn its charts; one that was cut off is asked for again."""
    while True:
        try:
            await visitor.wait_until(lambda: visitor.charts > 3 and not visitor.running, 30)
            return
        except TimeoutError:
            await visitor.rerun()


async def _press(visitor: Visitor) -> Pressed:
    started = await visitor.press("Run")
    first = await visitor.wait_until(lambda: visitor.live_tokens > 0 or visitor.shows("Your run"))
    last = await visitor.wait_until(lambda: visitor.shows("Your run"))
    ended = await visitor.wait_until(lambda: not visitor.running)
    if visitor.errors:
        raise RuntimeError(f"The page showed an error: {visitor.errors[0]}")
    return Pressed(first - started, last - started, ended - started)
