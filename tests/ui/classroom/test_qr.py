"""The QR code of a link: its picture holds the modules of the code that encodes the link."""

from __future__ import annotations

import re
from base64 import b64decode
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import segno

from pages.ui.classroom import qr

LINK = "https://explorer.example.org/course?class=BCDF-2345&replica=a"


def svg_of(markup: str) -> str:
    """Return the SVG of an image's data URI."""
    kind, _, data = unescape(re.findall(r'src="(.*?)"', markup)[0]).partition(",")
    return b64decode(data).decode() if kind.endswith("base64") else unquote(data)


def modules_of(svg: str) -> tuple[str, list[list[int]]]:
    """Return the ground's colour and the dark modules, read from the paths of horizontal lines."""
    root = ElementTree.fromstring(svg)
    ground, lines = [each for each in root.iter() if each.tag.endswith("path")]
    # What transforms the drawing as a whole keeps its modules.
    size = int(re.findall(r"h(\d+)v", ground.get("d", ""))[0])
    dark = [[0] * size for _ in range(size)]
    x = y = 0
    for act, numbers in re.findall(r"([Mmh])([-\d. ]+)", lines.get("d", "")):
        moves = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        if act == "h":
            for at in range(int(moves[0])):
                dark[y][x + at] = 1
            x += int(moves[0])
        else:
            left, down = int(moves[0]), int(moves[1])
            x, y = (left, down) if act == "M" else (x + left, y + down)
    return str(ground.get("fill")), dark


def test_the_picture_has_the_modules_of_the_link_s_code_inside_a_quiet_zone() -> None:
    ground, dark = modules_of(svg_of(qr.picture(LINK)))
    assert ground == "#fff"
    matrix = [[int(module) for module in row] for row in segno.make(LINK, error="m").matrix]
    inner = [row[qr.QUIET : -qr.QUIET] for row in dark[qr.QUIET : -qr.QUIET]]
    assert inner == matrix
    edges = (
        dark[: qr.QUIET] + dark[-qr.QUIET :] + [row[: qr.QUIET] + row[-qr.QUIET :] for row in dark]
    )
    assert not any(map(any, edges))


def test_the_picture_names_its_link_and_no_link_is_markup() -> None:
    markup = qr.picture('https://x.example/?class="><script>')
    assert markup.startswith('<img class="de-qr"') and "<script" not in markup
    assert "QR code of https://x.example/?class=&quot;&gt;&lt;script&gt;" in markup
