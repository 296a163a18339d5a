"""Rules of journals and conferences for figures: one row each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Journal:
    """The widths and the type of one journal's figures.

    All of them are drawn alike: no gridlines, no hatching, black text, axis lines with ticks; title
    and settings go to the caption.

    Args:
        column, page: width of a column and of a page, as `printed` reads them.
        type_pt: body text, points.
        sizes: the smallest and the largest text, points.
        letter: how a panel is named; `{}` stands for a letter from a to z.
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
# The widths by these names without a journal.
COLUMN, PAGE = "85mm", "174mm"
NAMES = ("column", "page")
# px: a tick of an axis; what stands beside it moves as far.
JOURNAL_TICK = 3
