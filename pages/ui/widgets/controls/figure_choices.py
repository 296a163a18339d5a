"""Settings of exported figures: set in the sidebar, kept for the session and in links."""

from __future__ import annotations

import streamlit as st

from core.figures.base.paper import Paper, length_of, printed
from core.figures.base.theme import GREY, THEMES, Theme
from core.figures.journal.journals import JOURNALS
from core.language import N_, tr
from pages.ui.widgets.controls.control import Read, Toggle, declare, draw, value
from pages.ui.widgets.controls.options import Menu, Segments

_NO_JOURNAL = "none"
_THEMES = {"light": N_("Light"), "dark": N_("Dark"), "grey": N_("Grey")}
_WIDTHS = {
    "column": N_("Column"),
    "page": N_("Page"),
    **{width: width for width in ("640px", "960px", "1200px")},
}


def _without_journal(read: Read) -> bool:
    return bool(read("figure_journal") == _NO_JOURNAL)


ROWS = declare(
    Menu("figure_journal", N_("Journal"), _NO_JOURNAL,
        lambda: {_NO_JOURNAL: N_("None")} | {row.name: row.label for row in JOURNALS.values()},
        help=N_("Keep to its rules: the sizes of its type, black text, axis lines with "
            "ticks, no gridlines, no hatching. Title and settings are in the caption.")),
    Menu("figure_width", N_("Width"), "column", _WIDTHS,
        free=lambda: True,
        help=N_("A column of the journal (85 mm without one), its page (174 mm), or a "
            "screen. Type any other, such as 120mm or 5in. In print without a "
            "journal the text has 7.5 points.")),
    Segments("figure_theme", N_("Theme"), "light", _THEMES),
    Toggle("figure_clear", N_("Transparent background"), False),
    Toggle("figure_title", N_("Title in the picture"), True, acts=_without_journal),
    Toggle("figure_caption", N_("Caption in the picture"), True, acts=_without_journal),
    Toggle("figure_texts", N_("Title and caption, for a journal too"), False,
        acts=lambda read: not _without_journal(read)),
    Toggle("figure_shared", N_("HTML: Plotly in a file beside it"), False,
        help=N_("A page of 40 to 150 KB and one file of 1.5 MB that all such pages "
            "share, in a ZIP; off, everything is in the page (0.7 MB).")),
)  # fmt: skip


def show() -> None:
    """Draw the choices."""
    with st.expander(tr("Exported figures"), icon=":material/imagesmode:", key="figure-choices"):
        draw(*(row.key for row in ROWS))


def paper() -> Paper:
    """Return the paper of exported figures: width, journal, texts and background.

    Raises:
        FigureError: the entered text is no width.
    """
    journal = _journal()
    drawn = {name: bool(value(f"figure_{name}")) for name in ("title", "caption", "texts")}
    return printed(
        str(value("figure_width")),
        journal=journal,
        title=drawn["texts" if journal else "title"],
        caption=drawn["texts" if journal else "caption"],
        transparent=bool(value("figure_clear")),
    )


def _journal() -> str:
    """The name of the journal; empty for none."""
    return "" if _without_journal(value) else str(value("figure_journal"))


def theme() -> Theme:
    """The theme of figures that leave."""
    return THEMES[str(value("figure_theme"))]


def page_theme() -> Theme | None:
    """The theme of a figure's own page; None: light and dark, as its reader has it."""
    return GREY if theme() is GREY else None


def shared() -> bool:
    """Return whether exported web pages load Plotly's script from a file beside them."""
    return bool(value("figure_shared"))


def words() -> str:
    """The choices in one line, and where they are made."""
    clear = [tr("transparent")] if value("figure_clear") else []
    journal = _journal()
    label = [JOURNALS[journal].label] if journal else []
    width = str(length_of(str(value("figure_width")), journal))
    chosen = " · ".join([*label, width, tr(_THEMES[theme().name]), *clear])
    return tr("{chosen} (to change: Exported figures, in the sidebar)", chosen=chosen)
