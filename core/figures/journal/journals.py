"""Rules of journals and conferences for figures, one row each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Journal:
    """Widths and type sizes of one journal's figures.

    All journals share one style: no gridlines, no hatching, black text, axis lines with ticks; the
    caption contains title and settings.

    Args:
        column, page: width of a column and of a page, in the form of `printed`.
        type_pt: size of body text, points.
        sizes: smallest and largest text size, points.
        letter: label of a panel; `{}` stands for a letter from a to z.
    """

    name: str
    label: str
    column: str
    page: str
    type_pt: float
    sizes: tuple[float, float]
    letter: str = "({})"


# Nature: research-figure-guide.nature.com. The others: text width of their LaTeX styles of 2025.
JOURNALS = {
    journal.name: journal
    for journal in (
        Journal("nature", "Nature", "89mm", "183mm", 6.0, (5.0, 7.0)),
        Journal("icml", "ICML", "3.25in", "6.75in", 7.0, (6.0, 9.0)),
        Journal("neurips", "NeurIPS", "5.5in", "5.5in", 7.0, (6.0, 9.0)),
        Journal("acl", "ACL", "3.3in", "6.8in", 7.0, (6.0, 9.0)),
    )
}
# Widths by these names without a journal.
COLUMN, PAGE = "85mm", "174mm"
NAMES = ("column", "page")
# px: length of an axis tick; labels move by the same distance.
JOURNAL_TICK = 3
