"""Exports from the page's menus: images, tables, a web page, a trace file, an archive."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from core.decoding.record.trace import Trace
from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser


def test_a_figure_and_the_page_leave_in_every_format(page: Page, server: str) -> None:
    # Width and theme are chosen once, by the link.
    decode = DecodePage(page, server).open(
        figure_width="640px", figure_theme="Dark", figure_clear="true"
    )
    # The browser has asked for the rest of the page and got it: no file's address is replaced now.
    expect(decode.drawn("heatmap")).to_be_visible()
    expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
    decode.open_export("candidates")
    expect(page.locator(".export .choices")).to_have_text(
        "640px · Dark · transparent (to change: Exported figures, in the sidebar)"
    )
    # The file's, not the screen's.
    expect(page.locator(".export .caption")).to_contain_text("prompt “Once upon a time”")
    name, svg = decode.download("SVG")
    assert re.fullmatch(r"decode-candidates-step-\d+-sampling-seed\d+\.svg", name)
    root = ElementTree.fromstring(svg)
    assert root.get("width") == "640" and b"rgb(232, 237, 242)" in svg and b"@font-face" in svg
    assert root.findall("{http://www.w3.org/2000/svg}rect") == []  # Nothing behind the figure.
    assert decode.download("SVG")[1] == svg
    assert decode.download("PDF")[1].startswith(b"%PDF-")
    assert decode.download("PNG")[1].startswith(b"\x89PNG\r\n\x1a\n")
    page_name, content = decode.download("HTML")
    assert page_name == name.replace(".svg", ".html") and b'class="knobs"' in content
    rows = list(csv.reader(io.StringIO(decode.download("CSV")[1].decode("utf-8-sig"))))
    assert len(rows) > 5 and len({len(row) for row in rows}) == 1
    decode.close_export()
    # The menu that opens again saves only what is asked for anew.
    with page.expect_download() as waiting:
        decode.open_export("candidates")
        page.get_by_role("button", name="SVG", exact=True).click()
    assert waiting.value.suggested_filename == name
    decode.close_export()
    # The page leaves as an archive, a trace file and a web page.
    page.locator(".st-key-save button").first.click()
    with zipfile.ZipFile(io.BytesIO(decode.download("All figures (ZIP)")[1])) as packed:
        names = packed.namelist()
    assert sum(name.endswith(".svg") for name in names) >= 7
    assert {"trace.json", "settings.json", "figures.tex", "citation.bib"} <= set(names)
    trace = Trace.from_dict(json.loads(decode.download("Trace file (JSON)")[1]))
    expect(decode.tokens).to_have_count(len(trace.token_ids))
    assert b"<figure" in decode.download("Web page (HTML)")[1]
