"""The app, served as `make run` serves it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
START_SECONDS = 120
AS_RUN = ("-m", "streamlit")
# The same for tests that ask for no text: torch and a model would be loaded for nothing.
WITHOUT_WARM_UP = (
    "-c",
    "from pages.ui.resources import models; models.warm_up = lambda: None;"
    "from streamlit.web.cli import main; main(prog_name='streamlit')",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"The server ended by itself with status {process.returncode}.")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    pytest.fail(f"The server was not ready within {START_SECONDS} s.")


@contextmanager
def running_app(
    log: Path, *options: str, start: Sequence[str] = AS_RUN, **environment: str
) -> Iterator[str]:
    """Start the app for a while; gives its address on this machine.

    Args:
        log: takes what the server prints.
        options: of `streamlit run`.
        start: how Python starts it.
        environment: variables added to this process's.
    """
    port = free_port()
    options = ("--server.headless", "true", "--server.port", str(port), *options)
    command = [sys.executable, *start, "run", "app.py", *options]
    defaults = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "XDG_CACHE_HOME": str(log.parent)}
    variables = {**os.environ, **defaults, **environment}
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, env=variables)
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until_ready(url, process)
            yield url
        finally:
            process.terminate()
            process.wait(60)
