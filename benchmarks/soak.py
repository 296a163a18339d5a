"""`python -m benchmarks.soak`: many visitors for a while; memory must stay flat, and nothing fail.

Visitors come over the first minute. Each opens a page, runs it, looks at it again, reads for some
seconds in between, and comes back as another one. A wait of three minutes counts as an error.

The visitors take up to one processor; they are kept to the last one (as `taskset` does), so that
figures repeat.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from time import perf_counter
from typing import NamedTuple

from websockets.exceptions import WebSocketException

from benchmarks.session_client import Visitor
from benchmarks.sessions import Server, serving

MOST_GROWTH_MB = 50.0
FIRST_TOKEN_SECONDS = 1.0
_SAMPLE_SECONDS = 2.0
# Growth is measured from here on: all visitors have come, all that is loaded once is there, and
# every thread has met its own share of the allocator.
_WARM_SECONDS = 300.0
_COME_WITHIN_SECONDS = 60.0
_TROUBLE = ("Traceback", "Error", "MemoryError")
_ADDRESSES = (
    "",
    "tokens=12&method=Greedy",
    "tokens=60&temperature=1.3",
    "prompt=A+list+of+colors%3A&tokens=20",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it, print what was seen, and return 1 where memory grew or something failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument(
        "--reading",
        type=float,
        default=15.0,
        help="seconds at most between two presses, a third at least",
    )
    parser.add_argument("--seed", type=int, default=0, help="of what the visitors do")
    args = parser.parse_args(arguments)
    with TemporaryFile() as log:
        with serving(log=log) as server:
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
            seen = asyncio.run(_soak(server, args))
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines()
    troubles = [line for line in lines if any(word in line for word in _TROUBLE)]
    memory, grown = seen.memory, growth(seen.memory)
    for minutes in (1, 5, 10, 20, 30, 60):
        if (at := int(minutes * 60 / _SAMPLE_SECONDS)) < len(memory):
            print(f"memory after {minutes} min: {memory[at]:.0f} MB")
    print(", ".join(f"{count} {what}" for what, count in sorted(seen.done.items())))
    slow = []
    limits = {"first token": FIRST_TOKEN_SECONDS, "run": run_limit(args.sessions)}
    for kind, waits in sorted(seen.waits.items()):
        row, late = waits_row(kind, waits, limits.get(kind))
        print(row)
        slow += [kind] * late
    print(f"memory at most {max(memory):.0f} MB")
    if grown is None:
        print(f"growth is not measured: nothing counts in the first {_WARM_SECONDS / 60:.0f} min")
    else:
        print(f"memory has grown by {grown:.0f} MB since they were over")
    for line in troubles[:20]:
        print(line, file=sys.stderr)
    failed = bool(troubles or slow) or seen.done["errors"] > 0 or (grown or 0.0) > MOST_GROWTH_MB
    print("failed" if failed else "passed")
    return int(failed)


def run_limit(sessions: int) -> float:
    """Return the seconds within which 95 % of the runs must end."""
    return 1.5 if sessions <= 20 else 3.0


def waits_row(kind: str, waits: Sequence[float], limit: float | None) -> tuple[str, bool]:
    """Return the line of a kind of waits, and whether 95 % of them took longer than the limit."""
    ordered = sorted(waits)
    most = ordered[int(len(ordered) * 0.95)]
    late = limit is not None and most > limit
    row = (
        f"{kind}: median {statistics.median(ordered):.2f} s, 95 % up to {most:.2f} s, "
        f"all up to {ordered[-1]:.2f} s"
    )
    return row + (f"; more than {limit} s is too long" if late else ""), late


def growth(memory: Sequence[float]) -> float | None:
    """By how much the last third of the samples after the warm-up lies above the first third.

    None where there are less than three.
    """
    warm = memory[int(_WARM_SECONDS / _SAMPLE_SECONDS) :]
    third = len(warm) // 3
    return statistics.median(warm[-third:]) - statistics.median(warm[:third]) if third else None


@dataclass
class Seen:
    """What a soak saw.

    Args:
        memory: of the server in MB, every other second.
        waits: seconds by kind: opening a page, looking at it again, a run's first token, a run.
        done: how often what was done.
    """

    memory: list[float]
    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    done: Counter[str] = field(default_factory=lambda: Counter(errors=0))


async def _soak(server: Server, args: argparse.Namespace) -> Seen:
    """Send the visitors and watch the memory."""
    end, seen = perf_counter() + args.minutes * 60, Seen([_megabytes(server)])
    visitors = [
        asyncio.create_task(
            _visit(server.port, end, Learner(random.Random(args.seed + at), args.reading), seen)
        )
        for at in range(args.sessions)
    ]
    while perf_counter() < end:
        await asyncio.sleep(_SAMPLE_SECONDS)
        seen.memory.append(_megabytes(server))
    await asyncio.gather(*visitors)
    return seen


class Learner(NamedTuple):
    """What one visitor does is drawn at random; between two presses it reads so many seconds."""

    dice: random.Random
    reading: float

    async def read(self) -> None:
        """Look at what the page shows."""
        await asyncio.sleep(self.dice.uniform(self.reading / 3, self.reading))


async def _visit(port: int, end: float, learner: Learner, seen: Seen) -> None:
    """Come again and again, as another visitor each time."""
    await asyncio.sleep(learner.dice.uniform(0, _COME_WITHIN_SECONDS))
    while perf_counter() < end:
        try:
            started = perf_counter()
            async with Visitor(port, learner.dice.choice(_ADDRESSES)) as visitor:
                await visitor.wait_until(lambda: visitor.charts > 3 and not visitor.running)
                seen.waits["opening"].append(perf_counter() - started)
                for _ in range(learner.dice.randint(1, 4)):
                    await _act(visitor, learner, seen)
                seen.done["errors"] += len(visitor.errors)
        except (OSError, TimeoutError, WebSocketException) as error:
            seen.done["errors"] += 1
            print(f"A visitor failed: {error!r}", file=sys.stderr)
        seen.done["visits"] += 1


async def _act(visitor: Visitor, learner: Learner, seen: Seen) -> None:
    """Read; then run the page, look at it again, or run it and leave while it goes on."""
    await learner.read()
    act = learner.dice.choice(("runs", "looks", "left"))
    started = perf_counter()
    if act == "looks":
        await visitor.full_run()
        seen.waits["look"].append(perf_counter() - started)
    else:
        await visitor.press("Run")
    if act == "runs":
        await visitor.wait_until(lambda: visitor.live_tokens or visitor.shows("Your run"))
        seen.waits["first token"].append(perf_counter() - started)
        await visitor.wait_until(lambda: visitor.shows("Your run") and not visitor.running)
        seen.waits["run"].append(perf_counter() - started)
    seen.done[act] += 1


def _megabytes(server: Server) -> float:
    """Return the memory of the server and of the processes that it started."""
    command = ["ps", "-o", "rss=", "-p", str(server.pid), "--ppid", str(server.pid)]
    rows = subprocess.run(command, capture_output=True, check=True).stdout.split()
    return sum(map(int, rows)) / 1024


if __name__ == "__main__":
    sys.exit(main())
