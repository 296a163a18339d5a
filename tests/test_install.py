"""Installation by `make`, with a simulated pip and a small server for PyTorch's index."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import metadata
from pathlib import Path
from threading import Thread

import pytest

import install

Asked = list[tuple[str, ...]]
ROOT = Path(install.__file__).parent


@pytest.fixture
def index() -> Iterator[str]:
    """The address of an index that knows torch."""

    class Index(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response_only(200 if self.path == "/whl/cpu/torch/" else 404)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Index) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/whl/cpu"
        server.shutdown()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Linux without a driver and without torch; what pip is asked to install."""
    calls: Asked = []
    monkeypatch.setattr(install, "pip", lambda *given: calls.append(given[1:]) or (0, ""))
    monkeypatch.setattr(install, "has_nvidia_driver", lambda: False)
    monkeypatch.setattr(install, "installed_torch", lambda: "")
    monkeypatch.setattr(sys, "platform", "linux")
    return calls


@pytest.fixture
def wishes(tmp_path: Path) -> Path:
    file = tmp_path / "requirements.txt"
    file.write_text("plotly==7.1.0\ntorch==2.13.0\n")
    return file


@pytest.mark.parametrize(("own", "asks"), [("23.2.1", True), ("26.1", False), ("27.0", False)])
def test_only_an_old_pip_is_renewed(own, asks, asked, monkeypatch) -> None:
    monkeypatch.setattr(install.metadata, "version", {"pip": own}.__getitem__)
    install.renew_pip()
    assert asked == [("--upgrade", install.PIP)] * asks


def test_without_a_driver_torch_comes_from_pytorch_s_cpu_index(
    asked, wishes, index, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(install, "CPU_INDEX", index)
    assert install.install(wishes) == 0
    assert asked == [
        ("--no-deps", "--index-url", index, "torch==2.13.0"),
        ("-r", str(wishes)),
    ]
    assert "answer" not in capsys.readouterr().out


def test_where_the_index_does_not_answer_pip_chooses_and_the_user_is_told(
    asked, wishes, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(install, "CPU_INDEX", "http://127.0.0.1:9")
    assert install.install(wishes) == 0
    assert asked == [("-r", str(wishes))]
    assert "http://127.0.0.1:9 doesn't answer" in capsys.readouterr().out


def test_an_index_without_torch_or_without_a_server_does_not_answer(index) -> None:
    assert install.answers(f"{index}/torch/")
    assert not install.answers(f"{index}/other/")
    assert not install.answers("http://127.0.0.1:9/torch/")
    assert not install.answers("no address")


@pytest.mark.parametrize("platform", ["darwin", "linux"])
def test_elsewhere_and_with_a_driver_pip_chooses_silently(
    platform, asked, wishes, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(install, "has_nvidia_driver", lambda: platform == "linux")
    monkeypatch.setattr(install, "answers", lambda _: pytest.fail("no need to ask"))
    assert install.install(wishes) == 0
    assert asked == [("-r", str(wishes))]
    assert capsys.readouterr().out == "Installed torch \n"


@pytest.mark.parametrize(("there", "wanted"), [("2.13.0+cpu", None), ("2.12.0", "torch==2.13.0")])
def test_a_torch_of_the_right_version_stays(there, wanted, wishes, monkeypatch) -> None:
    monkeypatch.setattr(install, "installed_torch", lambda: there)
    assert install.wanted_torch(wishes) == wanted


def test_a_cpu_build_that_fails_says_why_and_leaves_torch_to_pip(
    asked, wishes, index, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(install, "CPU_INDEX", index)
    outcomes = iter([(1, "ERROR: No space left"), (0, "")])
    monkeypatch.setattr(install, "pip", lambda *given: asked.append(given[1:]) or next(outcomes))
    assert install.install(wishes) == 0
    assert asked[-1] == ("-r", str(wishes))
    assert "ERROR: No space left\nThat failed" in capsys.readouterr().out


def test_pip_is_quiet_unless_it_fails_and_then_its_own_words_are_shown(tmp_path, capfd) -> None:
    nothing, impossible = tmp_path / "nothing.txt", tmp_path / "impossible.txt"
    nothing.write_text("pip\n")
    impossible.write_text(f"{tmp_path}/no-such-wheel-1.0-py3-none-any.whl\n")
    assert install.install(nothing) == 0
    out, err = capfd.readouterr()
    assert out.startswith("Installing nothing.txt") and out.count("\n") == 1 and err == ""
    assert install.install(impossible) != 0
    assert "no-such-wheel" in capfd.readouterr().err


def _pinned() -> set[str]:
    files = [*ROOT.glob("requirements*.txt"), ROOT / "constraints.txt"]
    lines = [line.strip() for file in files for line in file.read_text("utf-8").splitlines()]
    return {_plain(line.partition("==")[0]) for line in lines if "==" in line}


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _imported() -> set[str]:
    """Top-level names of other projects' modules that the app imports."""
    files = [ROOT / "app.py", *(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    line = re.compile(
        r"^ *(?:import (\w+)(?:\.\w+)*(?: as \w+)?|from (\w+)[\w.]* import .+)$", re.M
    )
    tops = {
        imported or package
        for file in files
        for imported, package in line.findall(file.read_text("utf-8"))
    }
    return tops - sys.stdlib_module_names - {"core", "pages"}


def test_every_package_that_the_app_imports_is_pinned() -> None:
    distributions, pinned = metadata.packages_distributions(), _pinned()
    # An extra that is not installed everywhere has its module's name.
    required = {
        top: {_plain(name) for name in distributions.get(top, [top])} for top in _imported()
    }
    assert not {top: names for top, names in required.items() if not names & pinned}


def test_the_app_is_installed_with_the_constraints_and_they_are_what_the_tests_run_with() -> None:
    assert "-c constraints.txt" in (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    assert {name: metadata.version(name) for name in pins} == pins
    assert not [name for name in pins if name.startswith(("nvidia", "cuda", "triton", "torch"))]
