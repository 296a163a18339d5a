"""How a browser for the tests is found or set up, with a machine that isn't real."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.browser import find_browser


@dataclass
class Machine:
    """A machine on which commands that are named here put a browser into place."""

    installs: str = ""
    root: list[str] | None = None
    installed: str | None = None
    downloaded: str | None = None
    commands: list[list[str]] = field(default_factory=list)

    def run(self, _: str, command: list[str]) -> tuple[int, str]:
        self.commands.append(command)
        if "apt-get" in command and "install" in command:
            if self.installs == "apt-get":
                self.installed = "/usr/bin/chromium"
            return (0, "") if self.installed else (100, "E: Unable to locate package chromium")
        if "playwright" in command:
            if self.installs == "playwright":
                self.downloaded = "/root/.cache/chrome"
            return (0, "") if self.downloaded else (1, "Error: unreachable")
        return 0, ""


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine()
    monkeypatch.setattr(find_browser, "run_quietly", found.run)
    monkeypatch.setattr(find_browser, "as_root", lambda: found.root)
    monkeypatch.setattr(find_browser, "installed_browser", lambda: found.installed)
    monkeypatch.setattr(find_browser, "downloaded_browser", lambda: found.downloaded)
    return found


@pytest.mark.parametrize("where", ["installed", "downloaded"])
def test_a_browser_that_is_there_is_used(where, machine, capsys) -> None:
    setattr(machine, where, "/there")
    assert find_browser.main() == 0
    assert machine.commands == []
    assert capsys.readouterr().out == "The browser tests use /there\n"


@pytest.mark.parametrize("root", [[], ["/usr/bin/sudo", "-n"]], ids=["root", "sudo"])
def test_on_debian_whoever_may_installs_the_packages_aloud(root, machine, capsys) -> None:
    machine.root, machine.installs = root, "apt-get"
    assert find_browser.main() == 0
    update, install = machine.commands
    assert update[: len(root)] == install[: len(root)] == root
    assert install[-2:] == ["chromium", "fonts-noto-cjk"]
    assert "The browser tests use /usr/bin/chromium" in capsys.readouterr().out


def test_where_the_packages_fail_playwright_downloads_with_libraries(machine, capsys) -> None:
    machine.root, machine.installs = [], "playwright"
    assert find_browser.main() == 0
    assert machine.commands[-1][-2:] == ["chromium", "--with-deps"]
    assert "apt-get failed: E: Unable to locate package chromium" in capsys.readouterr().out


def test_who_may_not_install_packages_lets_playwright_download(machine) -> None:
    machine.installs = "playwright"
    assert find_browser.main() == 0
    (download,) = machine.commands
    assert download[-3:] == ["playwright", "install", "chromium"]


@pytest.mark.parametrize("root", [None, []], ids=["nobody", "root"])
def test_where_nothing_helps_one_sentence_says_what_to_do(root, machine, capsys) -> None:
    machine.root = root
    assert find_browser.main() == 1
    assert capsys.readouterr().err == f"{find_browser.NO_BROWSER}\n"


@pytest.mark.parametrize(
    ("release", "user", "expected"),
    [
        ("NAME=x\nID=debian\n", 0, []),
        ('ID=pop\nID_LIKE="ubuntu debian"\n', 0, []),
        ("ID=fedora\n", 0, None),
        ("ID=debian\n", 1000, None),
    ],
)
def test_packages_are_for_root_on_debian_and_its_kin(
    release, user, expected, tmp_path, monkeypatch
) -> None:
    file = tmp_path / "os-release"
    file.write_text(release)
    monkeypatch.setattr(find_browser, "OS_RELEASE", file)
    monkeypatch.setattr(find_browser.os, "geteuid", lambda: user)
    monkeypatch.setattr(find_browser.shutil, "which", lambda _: None)
    assert find_browser.as_root() == expected


@pytest.mark.parametrize(("status", "expected"), [("0", ["sudo", "-n"]), ("1", None)])
def test_sudo_counts_where_it_asks_for_no_password(status, expected, tmp_path, monkeypatch) -> None:
    release, sudo = tmp_path / "os-release", tmp_path / "sudo"
    release.write_text("ID=ubuntu\n")
    sudo.write_text(f"#!/bin/sh\nexit {status}\n")
    sudo.chmod(0o755)
    monkeypatch.setattr(find_browser, "OS_RELEASE", release)
    monkeypatch.setattr(find_browser.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(find_browser.shutil, "which", lambda _: str(sudo))
    found = find_browser.as_root()
    assert found == (expected and [str(sudo), "-n"])
