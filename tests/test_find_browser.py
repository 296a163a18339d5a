"""Packages of the system are installed only where that needs no password."""

from __future__ import annotations

import pytest

from tests.browser import find_browser


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
