"""`python -m benchmarks.soak`: many visitors for a while; memory must stay flat, and nothing fail.

Each visitor opens a page, runs it, looks at it again, and comes back as another one.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from tempfile import TemporaryFile
from time import perf_counter

from benchmarks.session_client import Visitor
from benchmarks.sessions import Server, serving

MOST_GROWTH_MB = 50.0
# Where a growth may begin: all that is loaded once has been loaded by then.
_WARM = 0.3
_SAMPLE_SECONDS = 2.0
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
    parser.add_argument("--seed", type=int, default=0, help="of what the visitors do")
    args = parser.parse_args(arguments)
    with TemporaryFile() as log:
        with serving(log=log) as server:
            memory, done = asyncio.run(_soak(server, args.minutes * 60, args.sessions, args.seed))
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines()
    troubles = [line for line in lines if any(word in line for word in _TROUBLE)]
    grown = growth(memory)
    print(", ".join(f"{count} {what}" for what, count in sorted(done.items())))
    print(f"memory {memory[0]:.0f} MB at first, {max(memory):.0f} MB at most, grown {grown:.0f} MB")
    for line in troubles[:20]:
        print(line, file=sys.stderr)
    failed = bool(troubles) or done["errors"] > 0 or grown > MOST_GROWTH_MB
    print("failed" if failed else "passed")
    return int(failed)


def growth(memory: Sequence[float]) -> float:
    """By how much the last fifth of the samples lies above the fifth after the warm-up."""
    fifth = max(1, len(memory) // 5)
    warm = int(len(memory) * _WARM)
    before = memory[warm : warm + fifth] or memory
    return statistics.median(memory[-fifth:]) - statistics.median(before)


async def _soak(
    server: Server, seconds: float, sessions: int, seed: int
) -> tuple[list[float], Counter[str]]:
    """The server's memory in MB every other second, and how often what was done."""
    end, done, memory = perf_counter() + seconds, Counter[str](errors=0), [_megabytes(server)]
    visitors = [
        asyncio.create_task(_visit(server.port, end, random.Random(seed + at), done))
        for at in range(sessions)
    ]
    while perf_counter() < end:
        await asyncio.sleep(_SAMPLE_SECONDS)
        memory.append(_megabytes(server))
    await asyncio.gather(*visitors)
    return memory, done


async def _visit(port: int, end: float, dice: random.Random, done: Counter[str]) -> None:
    """Come again and again, as another visitor each time."""
    while perf_counter() < end:
        try:
            async with Visitor(port, dice.choice(_ADDRESSES)) as visitor:
                await visitor.wait_until(lambda: visitor.charts > 3 and not visitor.running)
                for _ in range(dice.randint(1, 4)):
                    await _act(visitor, dice, done)
                done["errors"] += len(visitor.errors)
        except (OSError, TimeoutError) as error:
            done["errors"] += 1
            print(f"A visitor failed: {error!r}", file=sys.stderr)
        done["visits"] += 1


async def _act(visitor: Visitor, dice: random.Random, done: Counter[str]) -> None:
    """Run the page, look at it again, or run it and leave while it goes on."""
    act = dice.choice(("runs", "looks", "left"))
    if act == "looks":
        await visitor.full_run()
    else:
        await visitor.press("Run")
        if act == "runs":
            await visitor.wait_until(lambda: visitor.shows("Your run") and not visitor.running)
    done[act] += 1
    await asyncio.sleep(dice.random())


def _megabytes(server: Server) -> float:
    """What the server keeps in memory."""
    command = ["ps", "-o", "rss=", "-p", str(server.pid)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout) / 1024


if __name__ == "__main__":
    sys.exit(main())
