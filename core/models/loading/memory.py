"""Free memory, and its reservation for models that are being loaded."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from ...decoding.errors import ModelError
from ...language import N_, Message
from ..stopping import raise_if_stopped

_POLL_SECONDS = 0.1
# Address space that a load's threads reserve, in bytes.
_FOR_THREADS = 2**28
_GROUPS = Path("/sys/fs/cgroup")
_LOCK = Lock()
_reserved: list[int] = []


def free_bytes() -> int:
    """Return the memory (bytes) available without swapping, within the process's limits.

    If the system doesn't report free memory, return the machine's total memory.
    """
    return max(min(_of_machine(), *_of_control_groups(), *_of_address_space()), 0)


def _of_address_space() -> Iterator[int]:
    """Yield half of the memory left under `ulimit -v`, since the weights' file is mapped too.

    Measured: 538 MB of weights need between 1,150 and 1,400 MB.
    """
    with suppress(ImportError, OSError, ValueError):  # Not on Windows; no /proc on macOS.
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield (limit - pages * resource.getpagesize() - _FOR_THREADS) // 2


def _of_control_groups() -> Iterator[int]:
    """Yield the memory left under each limit; file pages that the kernel can drop count as free."""
    for folder, limit, used, dropped in _control_groups():
        with suppress(OSError, StopIteration, ValueError):  # "max" means no limit.
            lines = (folder / "memory.stat").read_text().splitlines()
            pages = next(int(line.split()[1]) for line in lines if line.startswith(dropped + " "))
            left = int((folder / limit).read_text()) - int((folder / used).read_text())
            yield left + pages


def _control_groups() -> Iterator[tuple[Path, str, str, str]]:
    """Yield the process's control groups: folder, limit file, usage file, row of cached pages."""
    first = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    second = ("memory.max", "memory.current", "inactive_file")
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds in ("", "memory"):
                root = _GROUPS / kinds
                names = first if kinds else second
                for folder in {root, root / path.lstrip("/")}:
                    yield folder, *names


def _of_machine() -> int:
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 2**63


def check_memory(model_id: str, needed: int) -> None:
    """Refuse a model that needs more bytes than are free.

    Raises:
        ModelError: the model doesn't fit; the message states both sizes.
    """
    free = free_bytes()
    if needed > free:
        raise ModelError(
            Message(
                "{model} needs {needed} of memory, and {free} are free; use a "
                "smaller model, or dtype bfloat16.",
                model=model_id,
                needed=in_words(needed),
                free=in_words(free),
            )
        )


_TAKES = N_(
    "The files of {subject} take {needed}, and {free} are free on the disk; make room, or use a "
    "smaller model."
)


def check_disk(folder: Path, needed: int, subject: str, words: str = _TAKES) -> None:
    """Refuse files that don't fit on the disk of a folder.

    Args:
        folder: target folder, which may not exist yet.
        subject: name of the model or file.
        words: the sentence, with both sizes.

    Raises:
        ModelError: the files don't fit; the message states both sizes.
    """
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        sizes = {"needed": in_words(needed), "free": in_words(free)}
        raise ModelError(Message(words, subject=subject, **sizes))


@contextmanager
def reserved(model_id: str, needed: int, should_stop: Callable[[], bool]) -> Iterator[None]:
    """Reserve memory (bytes) for a model that is being loaded.

    A model that fits only without the other reservations waits until they are released.

    Raises:
        ModelError: the model doesn't fit; the message states both sizes.
        LoadingStoppedError: loading was stopped during the wait.
    """
    while True:
        with _LOCK:
            if not _reserved or needed + sum(_reserved) <= free_bytes():
                check_memory(model_id, needed)
                _reserved.append(needed)
                break
        check_memory(model_id, needed)
        raise_if_stopped(should_stop)
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        with _LOCK:
            _reserved.remove(needed)


def in_words(count: int) -> str:
    """Return a number of bytes as text in kB, MB or GB."""
    if count >= 10**9:
        return f"{count / 10**9:,.1f} GB"
    if count >= 10**6:
        return f"{count / 10**6:,.0f} MB"
    return f"{count / 10**3:,.0f} kB"
