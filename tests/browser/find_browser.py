"""Which browser the tests drive; `python -m tests.browser.find_browser` fetches one if needed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
NO_BROWSER = (
    "The browser tests need a browser: install Chromium or Chrome "
    "(Debian: apt install chromium), or run: python -m playwright install chromium"
)


def installed_browser() -> str | None:
    """The path of an installed Chromium or Chrome; None leaves the choice to Playwright."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or (str(MAC) if MAC.exists() else None)


def main() -> int:
    """Say which browser the tests will use, letting Playwright fetch one if none is installed."""
    path = installed_browser()
    if path:
        print(f"The browser tests use {path}")
        return 0
    print("No Chromium or Chrome is installed: letting Playwright fetch one")
    fetched = subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])
    if fetched.returncode != 0:
        print(NO_BROWSER, file=sys.stderr)
    return fetched.returncode


if __name__ == "__main__":
    sys.exit(main())
