"""What leaves the page: images, tables, the trace file, a web page."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Download, Page, expect

from core.decoding.trace import Trace
from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def decode(page: Page, server: str) -> DecodePage:
    found = DecodePage(page, server).open()
    # The browser has asked for the rest of the page and got it: no file's address is replaced now.
    expect(found.drawn("heatmap")).to_be_visible()
    expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
    return found


def download(decode: DecodePage, button: str) -> Download:
    with decode.page.expect_download(timeout=120_000) as waiting:
        decode.page.get_by_role("button", name=button, exact=True).click()
    return waiting.value


def bytes_of(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


def open_export(decode: DecodePage, name: str) -> None:
    expect(decode.drawn(name)).to_be_visible()
    decode.figure(name).get_by_role("button", name=re.compile("Export")).click()
    expect(decode.page.get_by_role("button", name="PDF")).to_be_visible()


def png_size(data: bytes) -> tuple[int, int]:
    assert data.startswith(PNG) and data.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_width_and_theme_are_chosen_once_by_the_link(page: Page, server: str) -> None:
    page.goto(f"{server}/?figure_width=640px&figure_theme=Dark&figure_clear=true")
    decode = DecodePage(page, server)
    open_export(decode, "candidates")
    expect(page.locator(".export .choices")).to_have_text(
        "640px · dark · transparent (to change: Exported figures, in the sidebar)"
    )
    # The file's, not the screen's.
    expect(page.locator(".export .caption")).to_contain_text("prompt “Once upon a time”")
    svg = bytes_of(download(decode, "SVG")).decode()
    root = ElementTree.fromstring(svg)
    assert root.get("width") == "640" and "rgb(232, 237, 242)" in svg
    assert root.findall("{http://www.w3.org/2000/svg}rect") == []  # Nothing behind the figure.


def test_a_figure_and_the_page_leave_in_every_format(decode: DecodePage) -> None:
    open_export(decode, "candidates")
    svg = download(decode, "SVG")
    assert re.fullmatch(r"decode-candidates-step-\d+-sampling-seed\d+\.svg", svg.suggested_filename)
    content = bytes_of(svg)
    root = ElementTree.fromstring(content)
    assert root.tag.endswith("svg") and root.get("width") == "85mm"
    assert b"@font-face" in content
    assert bytes_of(download(decode, "SVG")) == content
    assert bytes_of(download(decode, "PDF")).startswith(b"%PDF-")
    width, _ = png_size(bytes_of(download(decode, "PNG")))
    assert abs(width - 85 / 25.4 * 300) <= 1
    own = download(decode, "HTML")
    assert own.suggested_filename == svg.suggested_filename.replace(".svg", ".html")
    assert b'class="knobs"' in bytes_of(own) and len(bytes_of(own)) < 1_000_000
    table = bytes_of(download(decode, "CSV")).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(table)))
    assert len(rows) > 5 and len({len(row) for row in rows}) == 1
    decode.page.keyboard.press("Escape")
    expect(decode.page.get_by_role("button", name="CSV")).to_be_hidden()
    # The menu that opens again saves only what is asked for anew.
    with decode.page.expect_download(timeout=120_000) as waiting:
        open_export(decode, "candidates")
        decode.page.get_by_role("button", name="SVG", exact=True).click()
    assert waiting.value.suggested_filename == svg.suggested_filename
    decode.page.keyboard.press("Escape")
    expect(decode.page.get_by_role("button", name="SVG")).to_be_hidden()
    # The page leaves as an archive.
    decode.page.locator(".st-key-save button").first.click()
    button = decode.page.get_by_role("button", name="All figures (ZIP)")
    with decode.page.expect_download(timeout=240_000) as waiting:
        button.click()
    with zipfile.ZipFile(waiting.value.path()) as packed:
        names = packed.namelist()
        text = packed.read("figures.tex").decode()
    pictures = {name for name in names if name.endswith(".svg")}
    assert len(pictures) >= 7
    for name in pictures:
        stem = name.removesuffix(".svg")
        assert {f"{stem}.pdf", f"{stem}.png", f"{stem}.csv", f"{stem}.alt.txt"} <= set(names)
        assert f"{stem}.pdf" in text
    assert {"trace.json", "settings.json", "figures.md", "citation.bib"} <= set(names)
    # The trace file holds the run.
    data = json.loads(bytes_of(download(decode, "Trace file (JSON)")))
    trace = Trace.from_dict(data)
    assert trace.prompt
    expect(decode.tokens).to_have_count(len(trace.token_ids))
    # The web page needs no network.
    path = Path(download(decode, "Web page (HTML)").path())
    alone = decode.page.context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    page = path.with_suffix(".html")
    page.write_bytes(path.read_bytes())
    assert page.stat().st_size < 1_200_000
    alone.goto(page.as_uri())
    expect(alone.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
