"""The browser for the tests is found or installed, on a simulated machine."""

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


APT, SUDO = {"installs": "apt-get"}, ["/usr/bin/sudo", "-n"]
PLAYWRIGHT = {"installs": "playwright"}


@pytest.mark.parametrize(
    ("machine_has", "last_words", "said"),
    [
        ({"installed": "/there"}, [], "The browser tests use /there\n"),
        ({"downloaded": "/there"}, [], "The browser tests use /there\n"),
        ({"root": [], **APT}, ["fonts-noto-cjk"], "The browser tests use /usr/bin/chromium"),
        ({"root": SUDO, **APT}, ["fonts-noto-cjk"], "The browser tests use /usr/bin/chromium"),
        ({"root": [], **PLAYWRIGHT}, ["--with-deps"], "apt-get failed: E: Unable to locate"),
        (PLAYWRIGHT, ["chromium"], "The browser tests use /root/.cache/chrome"),
        ({"root": []}, ["--with-deps"], f"{find_browser.NO_BROWSER}\n"),
    ],
)
def test_a_browser_is_used_where_there_is_one_and_else_installed_or_downloaded(
    machine_has, last_words, said, machine, capsys
) -> None:
    vars(machine).update(machine_has)
    assert find_browser.main() == (find_browser.NO_BROWSER in said)
    assert [command[-1] for command in machine.commands[-1:]] == last_words
    packages = [command for command in machine.commands if "apt-get" in command]
    assert all(command[: len(machine.root)] == machine.root for command in packages)
    assert said in "".join(capsys.readouterr())


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
