"""How figures leave the app: chosen once in the sidebar, kept for the session and in links."""

from __future__ import annotations

import streamlit as st

from core.figures.base.paper import Paper, printed
from core.figures.base.theme import GREY, THEMES, Theme
from pages.ui.widgets.control import Menu, Segments, Toggle, declare, draw, value

_WIDTHS = ("85mm", "174mm", "640px", "960px", "1200px")
ROWS = declare(
    Menu("figure_width", "Width", _WIDTHS[0], lambda: {width: width for width in _WIDTHS},
        free=lambda: True,
        help="A column of a journal (85 mm), a page (174 mm), or a screen. Type any other, such as "
        "120mm or 5in. In print the text has 7.5 points."),
    Segments("figure_theme", "Theme", "light",
        {"light": "Light", "dark": "Dark", "grey": "Grey"}),
    Toggle("figure_clear", "Transparent background", False),
    Toggle("figure_title", "Title in the picture", True),
    Toggle("figure_caption", "Caption in the picture", True),
    Toggle("figure_shared", "HTML: Plotly in a file beside it", False,
        help="A page of 40 to 150 KB and one file of 1.5 MB that all such pages share, in a ZIP; "
        "off, everything is in the page (0.7 MB)."),
)  # fmt: skip


def show() -> None:
    """Draw the choices."""
    with st.expander("Exported figures", icon=":material/imagesmode:", key="figure-choices"):
        draw(*(row.key for row in ROWS))


def paper() -> Paper:
    """What figures are laid out for.

    Raises:
        FigureError: the width is none.
    """
    return printed(
        str(value("figure_width")),
        title=bool(value("figure_title")),
        caption=bool(value("figure_caption")),
        transparent=bool(value("figure_clear")),
    )


def theme() -> Theme:
    """The theme of figures that leave."""
    return THEMES[str(value("figure_theme"))]


def page_theme() -> Theme | None:
    """The theme of a figure's own page; None: light and dark, as its reader has it."""
    return GREY if theme() is GREY else None


def shared() -> bool:
    """Whether such pages take Plotly's script from a file beside them."""
    return bool(value("figure_shared"))


def words() -> str:
    """The choices in one line, and where they are made."""
    clear = ["transparent"] if value("figure_clear") else []
    chosen = " · ".join([str(value("figure_width")), theme().name, *clear])
    return f"{chosen} (to change: Exported figures, in the sidebar)"
