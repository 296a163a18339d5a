"""A draft with another tokenizer: its tokens, and the target's tokens of the same text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ....decoding.counting import nth
from ....decoding.record.trace import Trace
from ....decoding.speculative.types import DraftRound
from ....language import N_, tr
from ...base.axes import axis, bare_axis
from ...base.figure import TableRows, figure, table
from ...base.labels import escaped, lines, settings_caption, show_token, table_text, visible_token
from ...base.marks import add_line, overlaid, token_cells
from ...base.paper import SCREEN, SMALL, Paper
from ...base.sheet import Sheet
from ...base.theme import LIGHT, Theme
from ..words import kind_color, kind_words, shown_kind, soft_color

_LEFT, _ROW, _CHARACTER = 64, 34, 7.25
# A byte of a part of a character, as display texts show it.
_BYTE = re.compile(r"<[0-9A-F]{2}>")


class Span(NamedTuple):
    """A token over the bytes `start` to `end` of the drafted text."""

    start: int
    end: int
    text: str


def spans(*rows: Sequence[str]) -> list[list[Span]]:
    """Return the places of each row's tokens in the text that they make up, in bytes: a token may
    be a part of a character. A token without text gets a place of its own, at which all rows are
    moved on.

    Args:
        rows: the tokens' display texts.
    """
    ends = [[0, *accumulate(map(_length, row))] for row in rows]
    inserted: Counter[int] = Counter()
    for row in ends:
        inserted |= Counter(start for start, end in pairwise(row) if start == end)
    return [_placed(row, row_ends, inserted) for row, row_ends in zip(rows, ends, strict=True)]


def _length(text: str) -> int:
    """Return the number of bytes that a display text stands for."""
    return len(_BYTE.sub("?", text).encode("utf-8", "replace"))


def _placed(row: Sequence[str], ends: Sequence[int], inserted: Counter[int]) -> list[Span]:
    """Return a row's tokens at their bytes, moved on by the places inserted before them."""

    def moved(at: int) -> int:
        return at + sum(count for place, count in inserted.items() if place < at)

    placed, empty = list[Span](), Counter[int]()
    for text, (start, end) in zip(row, pairwise(ends), strict=True):
        if start == end:
            first = moved(start) + empty[start]
            placed.append(Span(first, first + 1, text))
            empty[start] += 1
        else:
            placed.append(Span(moved(start) + inserted[start], moved(end), text))
    return placed


def made_of(span: Span, sources: Sequence[Span]) -> list[str]:
    """Return the texts of the draft's tokens that share bytes with a target token."""
    return [one.text for one in sources if one.start < span.end and span.start < one.end]


@table("position token_id token outcome made_of")
def spec_translation_data(trace: Trace, at: int) -> TableRows:
    """Return a row for each drafted token of a round, with the draft's tokens that it came from."""
    step = trace.rounds[at]
    sources, drafted = _rows(step)
    return [
        (
            nth(place),
            token.token_id,
            table_text(token.text),
            kind_words(token.outcome),
            table_text(" | ".join(made_of(span, sources))),
        )
        for place, (token, span) in enumerate(zip(step.drafted, drafted, strict=True))
    ]


@figure(
    N_("Translation of the draft"),
    settings_caption,
    spec_translation_data,
    subtitle=N_(
        "The draft has another tokenizer: its text is cut into the target's tokens. A dotted "
        "line marks a cut that both have."
    ),
    alt=lambda step: (
        tr("Two rows of tokens over the same text."),
        tr(
            "The draft's: {tokens}.",
            tokens=" ".join(visible_token(t.text, 24) for t in step.translation),
        ),
        tr(
            "The target's: {tokens}.",
            tokens=" ".join(visible_token(t.text, 24) for t in step.drafted),
        ),
    ),
    key=lambda theme: [
        [(kind_color(kind, theme), shown_kind(kind)) for kind in ("accepted", "rejected")]
    ],
)
def spec_translation(
    trace: Trace, at: int, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw a round's draft tokens above the target's tokens, both over the same text."""
    step = trace.rounds[at]
    if not step.translation:
        return tr("The draft proposed nothing in this round.")
    above, below = _rows(step)
    end = max(span.end for span in (*above, *below))
    room = (paper.width - _LEFT - 20) / max(end, 12)
    sheet = Sheet(
        theme,
        paper,
        facts={"step": step},
        plot_height=3 * _ROW,
        left=_LEFT,
        right=20,
        below=26,
        key_offset=8,
    )
    sheet.traces = [
        _row(above, 0, [theme.panel] * len(above), theme, room, N_("draft")),
        _row(below, 2, _colors(step, theme), theme, room, N_("target"), above),
    ]
    sheet.layout |= overlaid(SMALL) | {
        "xaxis": bare_axis(theme, range=[0, max(end, 12)]),
        "yaxis": axis(
            theme, range=[2.6, -0.6], showgrid=False, showline=False,
            tickmode="array", tickvals=[0, 2], ticktext=[tr("draft"), tr("target")],
        ),
    }  # fmt: skip
    shared = {span.end for span in above} & {span.end for span in below}
    for cut in sorted({0, *shared}):
        add_line(sheet, "cut", cut, (0.45, 1.55), theme.muted, 1, dash="dot")
    return sheet


def _rows(step: DraftRound) -> list[list[Span]]:
    """Return the places of the draft's tokens, and of the target's."""
    return spans([token.text for token in step.translation], [t.text for t in step.drafted])


def _colors(step: DraftRound, theme: Theme) -> list[str]:
    return [soft_color(token.outcome, theme) for token in step.drafted]


def _row(
    row: Sequence[Span],
    at: int,
    colors: list[str],
    theme: Theme,
    room: float,
    name: str,
    sources: Sequence[Span] = (),
) -> dict[str, object]:
    hovers = [
        lines(
            f"<b>{tr(name)}: {show_token(span.text, 40)}</b>",
            bool(sources)
            and tr("from {tokens}", tokens=escaped(" | ".join(made_of(span, sources)))),
        )
        for span in row
    ]
    return token_cells(
        theme,
        name,
        [((span.start + span.end) / 2, at - 0.42) for span in row],
        [
            show_token(span.text, max(int((span.end - span.start) * room / _CHARACTER), 1))
            for span in row
        ],
        hovers,
        colors,
        [theme.text_on(color) for color in colors],
        width=[span.end - span.start - 0.12 for span in row],
        heights=[0.84] * len(row),
    )
