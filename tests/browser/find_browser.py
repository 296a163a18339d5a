"""Find the browser for the tests; `python -m tests.browser.find_browser` installs one if needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from install import run_quietly

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
# Japanese and Korean tokens would be boxes without a font that holds them.
PACKAGES = ("chromium", "fonts-noto-cjk")
OS_RELEASE = Path("/etc/os-release")
NO_BROWSER = (
    "The browser tests need a browser: install Chromium or Chrome "
    "(Debian: apt install chromium), or run: python -m playwright install chromium"
)


def installed_browser() -> str | None:
    """The path of an installed Chromium or Chrome; None leaves the choice to Playwright."""
    on_path = next((path for name in NAMES if (path := shutil.which(name))), None)
    return on_path or (str(MAC) if MAC.exists() else None)


def downloaded_browser() -> str | None:
    """The path of the browser that Playwright has downloaded."""
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def as_root() -> list[str] | None:
    """Return the command prefix that may install Debian's packages; None without the right to."""
    release = OS_RELEASE.read_text("utf-8") if OS_RELEASE.exists() else ""
    if not re.search(r"^ID(_LIKE)?=.*\b(debian|ubuntu)\b", release, re.M):
        return None
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def install_packages(root: list[str]) -> None:
    """Debian's browser and fonts; a failure is said and leads on."""
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    run_quietly("Running apt-get update", [*apt, "update"])
    saying = f"Running apt-get install {' '.join(PACKAGES)}"
    status, printed = run_quietly(saying, [*apt, "install", "-y", *PACKAGES])
    if status:
        print(f"apt-get failed: {_last_line(printed)}")


def download_browser(root: list[str] | None) -> None:
    """Playwright's own Chromium, with the libraries that it needs where those can be installed."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    saying = "Letting Playwright download a browser"
    status, printed = run_quietly(saying, command if root is None else [*command, "--with-deps"])
    if status:
        print(f"The download failed: {_last_line(printed)}")


def _last_line(printed: str) -> str:
    return printed.splitlines()[-1] if printed else "it said nothing"


def main() -> int:
    """Say which browser the tests will use, after setting one up if there is none."""
    path = installed_browser() or downloaded_browser()
    if path is None:
        print("No Chromium or Chrome is installed: setting one up for the browser tests")
        root = as_root()
        if root is not None:
            install_packages(root)
        path = installed_browser()
        if path is None:
            download_browser(root)
            path = downloaded_browser()
    if path is None:
        print(NO_BROWSER, file=sys.stderr)
        return 1
    print(f"The browser tests use {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
