"""The app's own CSS, from one file; nothing else may put markup on a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import streamlit as st

from core.figures.base.fonts import FAMILIES, FONTS, font_face
from core.figures.base.paper import SCREEN
from core.figures.base.theme import DARK, LIGHT, Theme
from core.installation import ASSETS

# Of a figure across the page, px: on a desktop, and on a phone.
_WIDE, _NARROW = 900, 370
# How wide a figure is beside the rail and the sidebar in a window of 1280 px.
BESIDE = 660


@cache
def _css() -> str:
    """The app's rules, and the font of the signs in figures: their layout counts on its widths."""
    signs = font_face(FAMILIES["signs"], 400, FONTS["signs"].read_bytes())
    return signs + (ASSETS / "css" / "app.css").read_text(encoding="utf-8")


def theme() -> Theme:
    """The figures' theme that fits the page as the browser shows it."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def window() -> str:
    """Return the width class of the browser's window: `phone`, `desktop`, or `between`.
    Before the browser has reported it, the user agent decides."""
    if reported := (st.session_state.get("prepared") or {}).get("window"):
        return str(reported)
    return "phone" if "Mobi" in st.context.headers.get("User-Agent", "") else "desktop"


def narrow() -> bool:
    """Return whether the page is as narrow as a phone's."""
    return window() == "phone"


def figure_width() -> int:
    """About how wide a figure is that takes the page's width, px."""
    return _NARROW if narrow() else _WIDE


def across_width() -> float:
    """Return the greatest layout width, in px, of a figure that spans the page: its lines of text
    fill a window of this kind beside the rail and the sidebar."""
    return {"phone": _NARROW, "desktop": BESIDE}.get(window(), SCREEN.width)


def use(slots: Sequence[str] = ("",)) -> None:
    """Put the CSS on the page; once a script run, before anything is drawn.

    Args:
        slots: prefixes of the keys that the rules hold for.
    """
    look = theme()
    colors = {
        "muted": look.muted,
        "line": look.grid,
        "panel": look.panel,
        "paper": look.paper,
        "ink": look.ink,
        "accent": look.first,
        "good": "#00795a" if look is LIGHT else "#45c79d",
        "bad": "#b3400c" if look is LIGHT else "#ff9a5c",
    }
    variables = "".join(f"--de-{name}:{color};" for name, color in colors.items())
    st.logo(str(ASSETS / "icons" / f"wordmark-{look.name}.svg"), size="large")
    prefixes = sorted({"", *slots})
    rules = "\n".join(_css().replace("st-key-", f"st-key-{prefix}") for prefix in prefixes)
    st.html(f"<style>:root{{{variables}}}\n{rules}</style>")
