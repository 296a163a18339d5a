"""Decision boundaries: every knob's range, coloured by the token that the same noise draws."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from ...decoding.counting import nth
from ...decoding.lab.types import KnobBoundaries, LabStep, TokenInterval
from ...language import N_, tr
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    escaped,
    show_token,
    stage_name,
    table_text,
    text_columns,
    visible_token,
)
from ..base.marks import (
    FRAME,
    add_frame,
    add_line,
    add_note,
    hover_texts,
    label_pair,
    level_bars,
    overlaid,
)
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import lab_caption, number, number_within

_BAR = 0.4
# Narrower intervals have no outline, which would cover them.
_SLIVER = 0.008
# Distance of a word from the mark, and width of a character, as shares of a track 360 px long.
_MARK, _CHARACTER = 0.02, 0.0185
# Columns of a token in a narrow interval.
_COLUMNS = 10
_LOW, _HIGH = attrgetter("low"), attrgetter("high")
# Token id and label of an interval that stands for many tokens.
MANY, _MANY_SHORT = -1, N_("many")


@table("knob value from to token_id token drawn_now")
def lab_decision_boundaries_data(lab: LabStep, knobs: Sequence[KnobBoundaries]) -> TableRows:
    """Return every interval of every knob's range, with the tried values at its ends."""
    for knob in knobs:
        for piece in knob.pieces:
            who = (piece.token_id, table_text(piece.text), piece.token_id == lab.step.token_id)
            yield (knob.name, knob.value, piece.low, piece.high, *who)


@figure(
    N_("Decision boundaries of the knobs"),
    lab_caption,
    lab_decision_boundaries_data,
    subtitle=lambda theme: tr(
        "Each {hue} is the token that is drawn at that value; the present one is framed.",
        hue=tr(theme.hue),
    ),
    alt=lambda lab, knobs: (
        tr(
            "Tracks of {knobs} knobs, divided into the tokens that roll {roll} would draw. Now it "
            "is {token}. It becomes:",
            knobs=len(knobs),
            roll=nth(lab.throw),
            token=visible_token(lab.step.chosen.text, 24),
        ),
        (tr("; ").join(nearest_boundaries(knobs)) or tr("nothing else within these ranges"))
        + tr("."),
    ),
)
def lab_decision_boundaries(
    lab: LabStep, knobs: Sequence[KnobBoundaries], *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw one track per knob over its whole range; a mark shows the knob's value."""
    if not knobs:
        return tr("Looking for the values at which the token flips.")
    colors = {
        candidate.token_id: theme.token_color(candidate.rank) for candidate in lab.step.candidates
    }
    sheet = Sheet(
        theme,
        paper,
        plot_height=56 * len(knobs),
        left=EDGE + 2,
        right=EDGE + 4,
        below=8,
        layout={
            **overlaid(SMALL),
            "xaxis": axis(theme, range=[0, 1], visible=False),
            "yaxis": axis(theme, range=[len(knobs) - 0.42, -0.58], visible=False),
        },
    )
    for row, knob in enumerate(knobs):
        if knob.pieces:
            _add_track(sheet, row, knob, colors, lab.step.token_id)
        name = f"<b>{escaped(stage_name(knob.name))}</b> {number(knob.value)}"
        label_pair(sheet, row - _BAR / 2, name, _nearest(knob, theme), size=11, yshift=3)
    return sheet


def _placed(knob: KnobBoundaries) -> list[tuple[float, float, TokenInterval]]:
    """Return the intervals from 0 to 1 along the track, without gaps; neighbouring slivers are
    merged.
    """
    pieces = knob.pieces
    first = pieces[0].low
    span = max(pieces[-1].high - first, 1e-12)
    inner = [((left.high + right.low) / 2 - first) / span for left, right in pairwise(pieces)]
    edges = [0.0, *inner, 1.0]
    placed: list[tuple[float, float, TokenInterval]] = []
    sliver = False
    for low, high, piece in zip(edges[:-1], edges[1:], pieces, strict=True):
        before = sliver
        sliver = high - low < _SLIVER and not piece.low <= knob.value <= piece.high
        if sliver and before:
            start, _, merged = placed.pop()
            low, piece = start, TokenInterval(merged.low, piece.high, MANY, tr("many tokens"))
        placed.append((low, high, piece))
    return placed


def _add_track(
    sheet: Sheet, row: int, knob: KnobBoundaries, colors: dict[int, str], drawn: int
) -> None:
    """Add a knob's intervals in the colours of their tokens, its value, and the ends of its
    range.
    """
    theme, placed = sheet.theme, _placed(knob)
    first, last = knob.pieces[0].low, knob.pieces[-1].high
    at = min(max((knob.value - first) / max(last - first, 1e-12), 0.0), 1.0)
    lows, lengths = [low for low, _, _ in placed], [high - low for low, high, _ in placed]
    fills = [
        theme.rest if piece.token_id == MANY else colors.get(piece.token_id, theme.unnamed)
        for _, _, piece in placed
    ]
    sheet.traces.append(
        {
            **level_bars([row] * len(placed), lows, lengths, _BAR),
            "name": knob.name,
            "text": [_label(at, *interval) for interval in placed],
            "textfont": {
                "family": theme.mono,
                "size": 11,
                "color": [theme.text_on(color) for color in fills],
            },
            **hover_texts(
                [
                    f"<b>{piece.text if piece.token_id == MANY else show_token(piece.text, 40)}"
                    f"</b><br>{escaped(stage_name(knob.name))} {_span(piece)}"
                    for _, _, piece in placed
                ]
            ),
            "marker": {
                "color": fills,
                "line": {
                    "color": theme.paper,
                    "width": [0.6 if length > _SLIVER else 0 for length in lengths],
                },
            },
        }
    )
    for low, high, piece in placed:
        if piece.token_id == drawn:
            upright = (row - _BAR / 2, row + _BAR / 2)
            add_frame(sheet, "drawn now", (low, high), upright, theme.accent, FRAME)
    if row == 0:
        sheet.explained.append([(theme.ink, tr("the knob's value"), "┃")])
    _mark_value(sheet, row, knob, at)


def _mark_value(sheet: Sheet, row: int, knob: KnobBoundaries, at: float) -> None:
    """Draw the knob's value at its position, 0 to 1, and write the ends of the range."""
    theme = sheet.theme
    # The ends of the range are written below the track.
    below = 0.1 if _MARK < at < 1 - _MARK else 0.02
    ends = (row - _BAR / 2 - 0.04, row + _BAR / 2 + below)
    add_line(sheet, "value border", at, ends, theme.paper, 6)
    add_line(sheet, "value", at, ends, theme.ink, 2.5)
    for x, side, value in ((0, "left", knob.pieces[0].low), (1, "right", knob.pieces[-1].high)):
        where: Properties = {
            "xanchor": side,
            "yanchor": "top",
            "borderpad": 0,
            "color": theme.muted,
        }
        add_note(sheet, "end", number(value), x, row + _BAR / 2, size=SMALL, **where)


def _label(mark: float, low: float, high: float, piece: TokenInterval) -> str:
    """Return the token's label, shortened to fit; empty if it would cross the value's mark."""
    limit = max(_COLUMNS, int((high - low) / _CHARACTER) - 1)
    text = visible_token(piece.text, limit)
    if piece.token_id == MANY:
        text = tr(_MANY_SHORT) if text_columns(piece.text) > limit else piece.text
    clear = abs((low + high) / 2 - mark) > _MARK + _CHARACTER / 2 * text_columns(text)
    return escaped(text) if clear else ""


def _span(piece: TokenInterval) -> str:
    low, high = (number_within(edge, piece.low, piece.high, 6) for edge in piece[:2])
    return low if low == high else tr("{low} to {high}", low=low, high=high)


def _nearest(knob: KnobBoundaries, theme: Theme) -> str:
    if not knob.acts or knob.here is None:
        return "" if knob.acts else tr("not in this library")
    sides = (
        (knob.below, _HIGH, N_("{token} up to {value}")),
        (knob.above, _LOW, N_("{token} from {value}")),
    )
    parts = [
        tr(
            words,
            token=f'<span style="font-family:{theme.mono}">{show_token(piece.text, 8)}</span>',
            value=number_within(edge(piece), piece.low, piece.high),
        )
        for piece, edge, words in sides
        if piece is not None
    ]
    return f"{NBSP}· ".join(parts) or tr("never flips")


def nearest_boundaries(knobs: Sequence[KnobBoundaries]) -> list[str]:
    """Return one sentence for each knob that can change the token, for both directions; plain
    text.
    """
    texts = []
    for knob in knobs:
        ways = (
            (knob.below, _HIGH, N_("{token} at {value} and below")),
            (knob.above, _LOW, N_("{token} at {value} and above")),
        )
        sides = [
            tr(
                words,
                token=visible_token(piece.text, 16),
                value=number_within(edge(piece), piece.low, piece.high),
            )
            for piece, edge, words in ways
            if piece is not None
        ]
        if sides:
            texts.append(f"{stage_name(knob.name)} {number(knob.value)}: {tr('; ').join(sides)}")
    return texts
