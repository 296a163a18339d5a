"""Convert Plotly's SVG to a standalone file: described, with fonts, and deterministic."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from dataclasses import dataclass
from xml.etree import ElementTree as Tree

from ...decoding.errors import FigureError
from ...language import N_
from .bitmap import PNG, without_dark_gaps
from .font_files import BOLD, MONO, REGULAR, SANS
from .fonts import Fonts, fonts_for

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
MAX_BYTES = 4_000_000
# Limits on an SVG from a browser, far above any figure of the app.
MAX_DEPTH, MAX_ELEMENTS, MAX_CHARACTERS = 40, 60_000, 3_000
# Elements and attributes in Plotly's figures; all others are removed.
_ELEMENTS = frozenset(
    "svg g defs path rect circle line text tspan image clipPath linearGradient stop pattern".split()
)
_ATTRIBUTES = frozenset(
    "id d x y x1 y1 x2 y2 dx dy cx cy r rx ry width height transform viewBox points offset "
    "patternUnits patternTransform gradientUnits clip-path preserveAspectRatio text-anchor "
    "shape-rendering fill fill-opacity fill-rule stroke stroke-width stroke-opacity "
    "stroke-dasharray stroke-linecap stroke-linejoin stroke-miterlimit opacity font-size "
    "font-weight font-style font-family stop-color stop-opacity".split()
)
_USUAL = {"opacity": "1", "fill-opacity": "1", "stroke-opacity": "1", "font-style": "normal"}
_REFERENCE = re.compile(r"""url\(\s*['"]?#([^'"()\s]+)['"]?\s*\)""")


@dataclass(frozen=True, slots=True)
class SvgDrawing:
    """A figure's SVG and the data that its renderers need.

    Args:
        text: content of the SVG file.
        width, height: size in CSS px, 96 per inch of the drawing.
        scale: ratio of printed px to px of the drawing.
        fonts: the embedded fonts.
    """

    text: str
    width: float
    height: float
    scale: float
    title: str
    alt: str
    fonts: Fonts

    def encode(self) -> bytes:
        """Return the file's bytes."""
        return self.text.encode()


def finish(
    raw: str, *, name: str, title: str, alt: str, caption: str = "", mm: float | None = None
) -> SvgDrawing:
    """Return a drawing by Plotly as a file that looks and reads the same everywhere.

    Args:
        raw: Plotly's SVG.
        name: prefix of the ids in the file.
        title, alt, caption: plain text, for screen readers.
        mm: printed width.

    Raises:
        FigureError: it is no SVG, or larger than any figure of the app.
    """
    root = _parsed(raw)
    _clean(root)
    fonts = _set_fonts(root)
    _number_ids(root, name)
    width, height = (_number(root, side) for side in ("width", "height"))
    scale = mm / 25.4 * 96 / width if mm else 1.0
    for side, length in (("width", width), ("height", height)):
        root.set(side, f"{length * scale * 25.4 / 96:.6g}mm" if mm else f"{length:.6g}")
    _describe(root, name, title, "\n".join(filter(None, (alt, caption))), fonts)
    text = Tree.tostring(root, encoding="unicode")
    return SvgDrawing(text + "\n", width, height, scale, title, alt, fonts)


def _parsed(raw: str) -> Tree.Element:
    if len(raw) > MAX_BYTES or "<!" in raw:
        raise FigureError(N_("This is no picture of a figure."))
    Tree.register_namespace("", SVG)
    Tree.register_namespace("xlink", XLINK)
    reading, depth, count = Tree.iterparse(io.StringIO(raw), ("start", "end")), 0, 0
    try:
        for event, _ in reading:
            depth += 1 if event == "start" else -1
            count += event == "start"
            if depth > MAX_DEPTH or count > MAX_ELEMENTS:
                raise FigureError(N_("This picture holds more than any figure has."))
    except Tree.ParseError as error:
        raise FigureError(N_("This is no picture of a figure.")) from error
    root: Tree.Element = reading.root  # type: ignore[attr-defined]
    if root.tag != f"{{{SVG}}}svg":
        raise FigureError(N_("This is no picture of a figure."))
    return root


def _number(root: Tree.Element, side: str) -> float:
    match = re.match(r"\d+(\.\d+)?", root.get(side, ""))
    if not match or not 0 < float(match[0]) <= 10_000:
        raise FigureError(N_("This picture has no size."))
    return float(match[0])


def _clean(parent: Tree.Element) -> None:
    """Remove invisible and unknown elements; convert styles to attributes."""
    _set_properties(parent)
    seen = []
    for child in parent:
        name = child.tag.removeprefix(f"{{{SVG}}}") if isinstance(child.tag, str) else ""
        if name in _ELEMENTS:
            _clean(child)
            if not _is_unseen(child, name):
                seen.append(child)
    parent[:] = seen


def _is_unseen(element: Tree.Element, name: str) -> bool:
    if name in ("g", "defs"):
        return not len(element)
    if name == "image":
        return not element.get(f"{{{XLINK}}}href", "").startswith(PNG)
    filled = element.get("fill-opacity") != "0" and element.get("fill") != "none"
    stroked = element.get("stroke", "none") != "none" and element.get("stroke-opacity") != "0"
    invisible = element.get("opacity") == "0"
    return invisible or (name in ("rect", "path", "circle") and not filled and not stroked)


def _set_properties(element: Tree.Element) -> None:
    attributes = dict(element.attrib)
    element.attrib.clear()
    link = attributes.get(f"{{{XLINK}}}href") or attributes.get("href")
    if link and link.startswith(PNG):
        element.set(f"{{{XLINK}}}href", without_dark_gaps(link))
    declarations = (part.partition(":") for part in attributes.pop("style", "").split(";"))
    properties = {key.strip(): value.strip() for key, colon, value in declarations if colon}
    if properties.get("white-space") == "pre":
        element.set(_SPACE, "preserve")
    if properties.get("display") == "none" or properties.get("visibility") == "hidden":
        properties["opacity"] = "0"
    for key, value in {**attributes, **properties}.items():
        # A reference to anything except an id in the drawing is a risk.
        harmless = "url(" not in _REFERENCE.sub("", value)
        if key in _ATTRIBUTES and _USUAL.get(key) != value and harmless:
            element.set(key, value)


def _number_ids(root: Tree.Element, name: str) -> None:
    """Renumber the used ids in file order; Plotly's own are random."""
    used = {m for e in root.iter() for v in e.attrib.values() for m in _REFERENCE.findall(v)}
    ids: dict[str, str] = {}
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old is not None and old in used:
            element.set("id", ids.setdefault(old, f"{name}-{len(ids) + 1}"))
    for element in root.iter():
        for key, value in element.attrib.items():
            element.set(
                key,
                _REFERENCE.sub(lambda m: f"url(#{ids[m[1]]})" if m[1] in ids else "none", value),
            )


def _set_fonts(root: Tree.Element) -> Fonts:
    """Set only embedded fonts in every text, and return them."""
    used: dict[tuple[str, int], set[str]] = defaultdict(set)
    texts: list[tuple[Tree.Element, str]] = []
    for text in root.iter(f"{{{SVG}}}text"):
        _collect(text, SANS, REGULAR, used, texts)
    if (
        len({character for characters in used.values() for character in characters})
        > MAX_CHARACTERS
    ):
        raise FigureError(N_("This picture holds more characters than any figure has."))
    for element, family in texts:
        element.set("font-family", f"'{family}', {'monospace' if family == MONO else 'sans-serif'}")
    return fonts_for(used)


def _collect(
    element: Tree.Element,
    family: str,
    weight: int,
    used: dict[tuple[str, int], set[str]],
    texts: list[tuple[Tree.Element, str]],
) -> None:
    family_css = element.attrib.pop("font-family", None)
    if family_css is not None:
        family = (
            MONO if "Code" in family_css or "mono" in family_css.split(",")[0].lower() else SANS
        )
    if family_css is not None or element.tag == f"{{{SVG}}}text":
        texts.append((element, family))
    heavy = element.get("font-weight", "")
    if heavy:
        weight = BOLD if heavy == "bold" or (heavy.isdigit() and int(heavy) >= 600) else REGULAR
        element.set("font-weight", str(weight))
    used[family, weight].update(element.text or "")
    for child in element:
        _collect(child, family, weight, used, texts)
        used[family, weight].update(child.tail or "")


def _describe(root: Tree.Element, name: str, title: str, description: str, fonts: Fonts) -> None:
    heading = Tree.Element(f"{{{SVG}}}title", {"id": f"{name}-title"})
    heading.text = title
    words = Tree.Element(f"{{{SVG}}}desc", {"id": f"{name}-desc"})
    words.text = description
    style = Tree.Element(f"{{{SVG}}}style")
    style.text = fonts.css()
    root[:0] = [heading, words, style]
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title")
    root.set("aria-describedby", f"{name}-desc")
