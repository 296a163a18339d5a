"""Pictures of every page: README's and Home's, or all sizes and themes to look at.

python -m tests.browser.figures.pictures            write docs/decode.png, docs/pages/*.png and
                                                    assets/pages/*.webp
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

from pages.ui.hosting import pictures
from pages.ui.registry import HOME, PAGES
from tests.app_server import ROOT, running_app
from tests.browser.conftest import launch

WIDTHS = (1280, 400)
# Height at which Decode shows its text and its heatmap.
WHOLE = 1250
README_WIDTH, CARD_WIDTH = 640, 480
# Part of a window that a card shows: without the sidebar and the navigation.
CARD_PART = (308, 58, 1272, 660)
SETTLE_MS = 1_500


def show(page: Page, url: str, width: int, theme: str, path: str, height: int = 800) -> None:
    """Open a page of the app and wait until it stands still."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{url}/{path}")
    page.locator("[data-testid=stMainBlockContainer] h1, h2").first.wait_for()
    if path not in ("course", "requests"):
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.locator(".stApp[data-test-script-state=notRunning]").wait_for()
    page.wait_for_timeout(SETTLE_MS)


def resized(picture: Image.Image, width: int) -> Image.Image:
    """Return the picture at a width."""
    height = picture.height * width // picture.width
    return picture.resize((width, height), Image.Resampling.LANCZOS)


def taken(page: Page) -> Image.Image:
    """Return a picture of the window."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def main(folder: Path | None) -> None:
    """Write the pictures."""
    scratch = Path(tempfile.mkdtemp())
    with running_app(scratch / "log.txt") as url, sync_playwright() as playwright:
        context = launch(playwright, scratch / "profile")
        page = context.pages[0]
        for row in PAGES:
            name = row.name
            if folder is None:
                for theme in ("light", "dark"):
                    show(page, url, 1280, theme, row.path)
                    picture = taken(page)
                    if row is not HOME:
                        small = resized(picture.crop(CARD_PART), CARD_WIDTH)
                        small.save(pictures.FOLDER / f"{name}-{theme}.webp", quality=60, method=6)
                    if theme == "light":
                        small = resized(picture, README_WIDTH).quantize(128)
                        small.save(ROOT / "docs/pages" / f"{name}.png", optimize=True)
                continue
            for width, theme in product(WIDTHS, ("light", "dark")):
                show(page, url, width, theme, row.path)
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png")
        if folder is None:
            show(page, url, 1280, "light", "decode", WHOLE)
            taken(page).quantize(128).save(ROOT / "docs/decode.png", optimize=True)
        context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
