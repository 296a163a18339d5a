"""A figure's picture as a file: the same bytes, its own fonts, nothing foreign in it."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import subprocess
from base64 import b64decode, b64encode
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from core.decoding.errors import FigureError
from core.export.drawing import chrome, font_files, make_fonts
from core.export.drawing.bitmap import PNG, without_dark_gaps
from core.export.drawing.render import pdf, png
from core.export.drawing.svg import SvgDrawing, finish
from tests.export.drawings import PIXEL, raw

SVG = "{http://www.w3.org/2000/svg}"


# The checksum of its pixels is another one.
DAMAGED = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQAB"
    "h6FO1AAAAABJRU5ErkJggg=="
)


def finished(text: str = "word", *, mm: float | None = None, id_: str = "3f9a2c") -> SvgDrawing:
    return finish(raw(text, id_=id_), name="fig", title="A <title>", alt="What is seen", mm=mm)


def embedded(drawing: SvgDrawing) -> dict[tuple[str, int], set[str]]:
    """The characters of the fonts in the file, by family and weight."""
    rule = r'font-family:"([^"]+)";font-weight:(\d+);src:url\(data:font/woff2;base64,([^)]+)\)'
    faces = re.findall(rule, drawing.text)
    return {
        (family, int(weight)): set(map(chr, TTFont(io.BytesIO(b64decode(data))).getBestCmap()))
        for family, weight, data in faces
    }


def test_ids_that_plotly_made_up_do_not_reach_the_file() -> None:
    first, second = finished(id_="3f9a2c"), finished(id_="b81d07")
    assert first.text == second.text and "3f9a2c" not in first.text
    assert 'id="fig-1"' in first.text and "url(#fig-1)" in first.text


@pytest.mark.parametrize("size", [(789, 495.7), (385.5, 611.7)], ids=["wide", "tall"])
def test_no_row_of_pixels_is_left_out(size: tuple[float, float]) -> None:
    """A diagonal goes one pixel to the right in every row."""
    plain = finish(raw(size=size), name="fig", title="t", alt="a")
    across, down = (round(side * 115 / 96) for side in (plain.width, plain.height))
    end = min(across, down)
    to = f"{end * plain.width / across},{end * plain.height / down}"
    style = "stroke: rgb(0, 0, 0); stroke-width: 3px; fill: none"
    line = raw(size=size, more=f'<path d="M0,0L{to}" style="{style}"/>')
    with Image.open(io.BytesIO(png(finish(line, name="fig", title="t", alt="a"), 115))) as image:
        assert image.size == (across, down)
        dark = 255 - np.asarray(image.convert("L"))[end // 2 : end - 9].astype(float)
    places = (dark * np.arange(across)).sum(axis=1) / dark.sum(axis=1)
    assert np.abs(np.diff(places) - 1).max() < 0.05


def test_every_character_of_the_text_is_in_a_font_of_the_file() -> None:
    fonts = embedded(finished("␣naïve ↵ 日本語 한"))
    assert set("␣naïve ↵ 日本語 한") <= fonts["Decoding Sans", 400]
    # A reader that takes the other weight has every character too.
    assert len(fonts) == 2 and all(set("日␣bold") <= held for held in fonts.values())


def test_the_stored_parts_of_the_fonts_are_what_the_program_makes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stored = font_files.USUAL[font_files.SANS, font_files.BOLD]
    made = tmp_path / stored.name
    monkeypatch.setattr(make_fonts, "OWN", {0: font_files.OWN[font_files.SANS, font_files.BOLD]})
    monkeypatch.setattr(make_fonts, "USUAL", {0: made})
    make_fonts.make_usual()
    assert made.read_bytes() == stored.read_bytes()


def test_the_file_has_its_words_and_names_no_font_that_it_does_not_hold() -> None:
    root = ElementTree.fromstring(finished().text)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "A <title>"
    assert root.findtext(f"{SVG}desc") == "What is seen"
    # What nobody sees is left out.
    assert [len(root.findall(f".//{SVG}{name}")) for name in ("path", "image")] == [1, 1]
    named = {text.get("font-family") for text in root.iter(f"{SVG}text")}
    assert named == {"'Decoding Sans', sans-serif"}


def test_characters_without_a_font_are_named_and_drawn_as_a_box(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(font_files, "_machine_fonts", tuple)
    font_files.on_machine.cache_clear()
    try:
        drawing = finished("a\u0f40 \u12ab")
    finally:
        font_files.on_machine.cache_clear()
    assert drawing.fonts.missing == "\u0f40\u12ab"
    assert set("\u0f40\u12ab") <= embedded(drawing)["Decoding Sans", 400]


@pytest.mark.parametrize(
    "more",
    [
        "<script>alert(1)</script>",
        '<image xlink:href="file:///etc/passwd" width="9" height="9"/>',
        '<image href="https://example.org/a.png" width="9" height="9"/>',
        '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>',
        '<a href="https://example.org"><path d="M0,0H9"/></a>',
        '<path d="M0,0H9V9Z" style="fill: url(https://example.org/x.svg#a)" onclick="alert(1)"/>',
        "<style>@import url(https://example.org/x.css);</style>",
    ],
)
def test_nothing_foreign_stays_in_a_picture(more: str) -> None:
    text = finish(raw(more=more), name="fig", title="t", alt="a").text
    for word in ("script", "example.org", "passwd", "foreignObject", "onclick", "@import"):
        assert word not in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<svg",
        "<html/>",
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>',
        '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="9"/>',
        '<svg xmlns="http://www.w3.org/2000/svg" width="99999" height="9"/>',
        raw().replace(PIXEL, DAMAGED),
    ],
)
def test_what_is_no_figure_is_refused(text: str) -> None:
    with pytest.raises(FigureError):
        finish(text, name="fig", title="t", alt="a")


def test_gaps_between_cells_are_no_transparent_black() -> None:
    """A viewer that scales the bitmap would draw grey lines there."""
    cells = np.zeros((4, 7, 4), np.uint8)
    cells[:3, :3], cells[:3, 4:] = (250, 240, 230, 255), (10, 20, 30, 255)
    out = io.BytesIO()
    Image.fromarray(cells).save(out, "PNG")
    link = without_dark_gaps(PNG + b64encode(out.getvalue()).decode())
    with Image.open(io.BytesIO(b64decode(link.removeprefix(PNG)))) as image:
        drawn = np.asarray(image)
    assert np.array_equal(drawn[..., 3], cells[..., 3])
    assert {tuple(pixel) for pixel in drawn[..., :3].reshape(-1, 3)} == {
        (250, 240, 230),
        (10, 20, 30),
    }


def test_print_sizes_follow_from_the_width_in_millimetres() -> None:
    drawing = finished(mm=85)
    root = ElementTree.fromstring(drawing.text)
    assert root.get("width") == "85mm" and root.get("height") == f"{85 * 100 / 320:.6g}mm"
    with Image.open(io.BytesIO(png(drawing))) as image:
        assert image.width == pytest.approx(85 / 25.4 * 300, abs=1)
        assert image.info["dpi"][0] == pytest.approx(300, abs=0.1)
        assert image.info["Title"] == "A <title>"


def test_a_picture_without_ground_is_transparent() -> None:
    clear = raw().replace("fill: rgb(255, 255, 255); fill-opacity: 1;", "fill-opacity: 0;")
    drawing = finish(clear, name="fig", title="t", alt="a")
    with Image.open(io.BytesIO(png(drawing, 96))) as image:
        assert image.getpixel((300, 90))[3] == 0


def test_a_pdf_is_of_a_version_that_submission_systems_take() -> None:
    """With its fonts as TrueType outlines, and tagged without an entry that Poppler refuses."""
    drawing = finished("␣word 日本語", mm=85)
    content = pdf(drawing)
    assert content == pdf(drawing) and png(drawing) == png(drawing)
    assert content.startswith(b"%PDF-1.5") and b"/Suspects" not in content
    assert b"/Type3" not in content and b"/FontFile2" in content and b"/MarkInfo" in content


@pytest.mark.skipif(shutil.which("pdffonts") is None, reason="pdffonts (poppler) is not installed")
def test_the_fonts_of_a_pdf_are_in_it(tmp_path: Path) -> None:
    path = tmp_path / "figure.pdf"
    path.write_bytes(pdf(finished("␣word 日本語", mm=85)))
    listed = subprocess.run(["pdffonts", path], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()[2:]]
    assert sorted(row[0].partition("+")[2] for row in rows) == [
        "DecodingSans-Bold",
        "DecodingSans-Regular",
    ]
    assert all(row[-5:-2] == ["yes", "yes", "yes"] for row in rows)


def test_a_cell_of_a_notebook_which_runs_in_an_event_loop_draws_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def drawn(*_: object) -> list[str]:
        return ["<svg/>"]

    async def cell() -> list[str]:
        return chrome.svgs([])

    monkeypatch.setattr(chrome, "_drawn", drawn)
    assert asyncio.run(cell()) == ["<svg/>"]
