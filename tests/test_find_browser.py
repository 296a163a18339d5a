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
        if "playwright" in command and self.installs == "playwright":
            self.downloaded = "/root/.cache/chrome"
        elif "apt-get" in command and self.installs == "apt-get":
            self.installed = "/usr/bin/chromium"
        elif "update" not in command:
            return 100, "E: Unable to locate package chromium"
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
    assert all(command[: len(root)] == root for command in machine.commands)
    assert machine.commands[1][-2:] == ["chromium", "fonts-noto-cjk"]
    assert "The browser tests use /usr/bin/chromium" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("root", "last", "said"),
    [
        ([], "--with-deps", "apt-get failed: E: Unable to locate package chromium"),
        (None, "chromium", "The browser tests use /root/.cache/chrome"),
    ],
    ids=["packages-fail", "may-not"],
)
def test_without_packages_playwright_downloads(root, last, said, machine, capsys) -> None:
    machine.root, machine.installs = root, "playwright"
    assert find_browser.main() == 0
    assert machine.commands[-1][-1] == last
    assert said in capsys.readouterr().out


def test_where_nothing_helps_one_sentence_says_what_to_do(machine, capsys) -> None:
    machine.root = []
    assert find_browser.main() == 1
    assert capsys.readouterr().err == f"{find_browser.NO_BROWSER}\n"


@pytest.mark.parametrize(
    ("release", "user", "sudo", "expected"),
    [
        ("NAME=x\nID=debian\n", 0, None, []),
        ('ID=pop\nID_LIKE="ubuntu debian"\n', 0, None, []),
        ("ID=fedora\n", 0, None, None),
        ("ID=debian\n", 1000, None, None),
        ("ID=ubuntu\n", 1000, "true", ["true", "-n"]),
        ("ID=ubuntu\n", 1000, "false", None),
    ],
)
def test_packages_are_for_debian_s_root_and_who_needs_no_password(
    release, user, sudo, expected, tmp_path, monkeypatch
) -> None:
    file = tmp_path / "os-release"
    file.write_text(release)
    monkeypatch.setattr(find_browser, "OS_RELEASE", file)
    monkeypatch.setattr(find_browser.os, "geteuid", lambda: user)
    monkeypatch.setattr(find_browser.shutil, "which", lambda _: sudo)
    assert find_browser.as_root() == expected
