"""Pictures of every page: README's, or all sizes and themes to look at.

python -m tests.browser.figures.pictures            write docs/pages/*.png
python -m tests.browser.figures.pictures FOLDER     each page at 1280 and 400 px, light and dark
"""

from __future__ import annotations

import io
import sys
import tempfile
from itertools import product
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from pages.ui.registry import PAGES
from tests.app_server import ROOT, running_app
from tests.browser.conftest import launch

WIDTHS = {1280: 800, 400: 800}
README_WIDTH = 640
SETTLE_MS = 1_500


def show(page: Page, url: str, width: int, theme: str, path: str) -> None:
    """Open a page of the app and wait until it stands still."""
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{url}/{path}")
    page.locator("[data-testid=stMainBlockContainer] h1, h2").first.wait_for()
    if path not in ("course", "requests"):
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.locator(".stApp[data-test-script-state=notRunning]").wait_for()
    page.wait_for_timeout(SETTLE_MS)


def main(folder: Path | None) -> None:
    """Write the pictures."""
    scratch = Path(tempfile.mkdtemp())
    with running_app(scratch / "log.txt") as url, sync_playwright() as playwright:
        context = launch(playwright, scratch / "profile")
        page = context.pages[0]
        for row in PAGES:
            name = row.name
            if folder is None:
                show(page, url, 1280, "light", row.path)
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                height = picture.height * README_WIDTH // picture.width
                small = picture.resize((README_WIDTH, height), Image.Resampling.LANCZOS)
                small.quantize(128).save(ROOT / "docs/pages" / f"{name}.png", optimize=True)
                continue
            for width, theme in product(WIDTHS, ("light", "dark")):
                show(page, url, width, theme, row.path)
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png")
        context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
