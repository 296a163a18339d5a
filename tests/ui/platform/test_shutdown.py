"""A server ends at SIGTERM within 3 seconds, whatever a stranger's model does at the time.

With a server of its own for each case this takes longer than other tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import connect

from tests.app_server import ROOT, START_SECONDS, free_port, wait_until_ready
from tests.models.isolation.asking import LOOP, is_alive
from tests.models.loading.kinds import make_good

STOP_SECONDS = 3.0
# A page that loads a model in a job, as Run does, and says how far it has come.
PAGE = """
from pathlib import Path
from pages.ui.run import jobs
from pages.ui.platform import shutdown

shutdown.watch()

def work(job):
    Path({said!r}).write_text("loading")
    model = jobs.load(job, {model!r})
    Path({said!r}).write_text("loaded")
    return model.encode_chat([{{"role": "user", "content": "the fox"}}])

jobs.start(work)
"""

Serve = Callable[[Path], tuple["subprocess.Popen[bytes]", Path]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server whose page loads a model; gives its process and the file that tells of it."""
    processes, pages = [], ExitStack()

    def start(model: Path) -> tuple[subprocess.Popen[bytes], Path]:
        page, signal_file = tmp_path / "page.py", tmp_path / "said"
        page.write_text(PAGE.format(said=str(signal_file), model=str(model)))
        port = free_port()
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "streamlit", "run", str(page)),
                *("--server.headless", "true", "--server.port", str(port)),
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        processes.append(process)
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        open_page(port, pages)
        return process, signal_file

    yield start
    for process in processes:
        process.kill()
        process.wait()
    pages.close()


def open_page(port: int, pages: ExitStack) -> None:
    """Open the page as a browser does, so that its script runs; its work ends with it."""
    message = BackMsg()
    message.rerun_script.query_string = ""
    address, origin = f"ws://127.0.0.1:{port}/_stcore/stream", f"http://127.0.0.1:{port}"
    page = pages.enter_context(connect(address, origin=origin, subprotocols=["streamlit"]))
    page.send(message.SerializeToString())
    page.recv(timeout=START_SECONDS)


def wait_for(reached: Callable[[], bool], seconds: float = START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    parents = [tuple(map(int, line.split())) for line in listed.splitlines()]
    pids = [pid]
    for parent in pids:
        pids += [child for child, its in parents if its == parent]
    return pids[1:]


def assert_ends(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM ends it within the time, and every process that it has started."""
    started = descendants(process.pid)
    assert started, "the process that reads models"
    process.send_signal(signal.SIGTERM)
    process.wait(STOP_SECONDS)
    wait_for(lambda: not any(map(is_alive, started)), seconds=STOP_SECONDS)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_it_ends_while_a_model_loads_and_while_a_template_loops(
    serve: Serve, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    make_good(folder)
    (folder / "chat_template.jinja").write_text(LOOP)
    process, signal_file = serve(folder)
    wait_for(lambda: signal_file.exists() and bool(descendants(process.pid)))
    assert_ends(process)
    signal_file.unlink()
    process, signal_file = serve(folder)
    wait_for(lambda: signal_file.exists() and signal_file.read_text() == "loaded")
    wait_for(lambda: len(descendants(process.pid)) > 1)
    assert_ends(process)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("runs", [False, True], ids=["at load", "at a run"])
def test_the_worker_ends_with_the_app(number: signal.Signals, runs: bool) -> None:
    port = free_port()
    options = ("--server.headless", "true", "--server.port", str(port))
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *options],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    body = {"model": "embedded:target", "prompt": "Once", "max_tokens": 400, "stream": True}
    with ExitStack() as stack:
        stack.callback(process.wait)
        stack.callback(process.kill)
        wait_until_ready(url, process)
        wait_for(lambda: bool(descendants(process.pid)))
        if runs:
            stream = httpx2.stream(
                "POST", f"{url}/v1/completions", json=body, timeout=START_SECONDS
            )
            next(stack.enter_context(stream).iter_lines())
        started = descendants(process.pid)
        process.send_signal(number)
        process.wait(START_SECONDS)
        wait_for(lambda: not any(map(is_alive, started)))


def test_the_process_of_a_test_keeps_its_exit_code() -> None:
    code = """
from streamlit.testing.v1 import AppTest
page = "from pages.ui.platform import shutdown; shutdown.watch()"
assert not AppTest.from_string(page, default_timeout=60).run().exception
raise SystemExit(3)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 3, done.stderr
