"""What leaves the page: images, tables, the trace file, a web page."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
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
    return DecodePage(page, server).open()


def download(decode: DecodePage, button: str) -> Download:
    with decode.page.expect_download() as waiting:
        decode.page.get_by_role("button", name=button, exact=True).click()
    return waiting.value


def bytes_of(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


def open_export(decode: DecodePage, name: str) -> None:
    expect(decode.drawn(name)).to_be_visible()
    decode.figure(name).get_by_role("button", name=re.compile("Export")).click()
    expect(decode.page.get_by_role("button", name="PNG 2x")).to_be_visible()


def png_size(data: bytes) -> tuple[int, int]:
    assert data.startswith(PNG) and data.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_a_figure_leaves_as_svg_png_and_csv(decode: DecodePage) -> None:
    open_export(decode, "candidates")
    svg = download(decode, "SVG")
    assert svg.suggested_filename == "decoding-candidates.svg"
    root = ElementTree.fromstring(bytes_of(svg))
    assert root.tag.endswith("svg") and root.get("width") == "900"
    twice = png_size(bytes_of(download(decode, "PNG 2x")))
    thrice = png_size(bytes_of(download(decode, "PNG 3x")))
    assert twice[0] == 1800 and thrice[0] == 2700
    assert twice[1] * 3 == thrice[1] * 2
    table = bytes_of(download(decode, "CSV")).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(table)))
    assert len(rows) > 5 and len({len(row) for row in rows}) == 1


def test_width_and_theme_of_an_image_are_chosen(decode: DecodePage) -> None:
    open_export(decode, "uncertainty")
    decode.page.get_by_label("Width of the image").select_option("1200")
    decode.page.get_by_text("Dark", exact=True).click()
    svg = bytes_of(download(decode, "SVG")).decode()
    assert 'width="1200"' in svg and "rgb(18, 22, 27)" in svg


def test_the_trace_file_holds_the_run(decode: DecodePage) -> None:
    decode.page.locator(".st-key-save button").first.click()
    data = json.loads(bytes_of(download(decode, "Trace file (JSON)")))
    trace = Trace.from_dict(data)
    assert trace.prompt
    expect(decode.tokens).to_have_count(len(trace.token_ids))


def test_the_web_page_needs_no_network(decode: DecodePage) -> None:
    decode.page.locator(".st-key-save button").first.click()
    path = Path(download(decode, "Web page (HTML)").path())
    alone = decode.page.context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    page = path.with_suffix(".html")
    page.write_bytes(path.read_bytes())
    alone.goto(page.as_uri())
    expect(alone.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
