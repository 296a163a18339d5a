"""Every knob's range, coloured by the token that the same dice would draw there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd
import plotly.graph_objects as go

from core.decoding.lab.types import KnobFlips, LabStep, Piece
from core.figures.base.axes import axis, label_bar
from core.figures.base.labels import (
    NBSP,
    escaped,
    show_token,
    stage_name,
    table_text,
    visible_token,
)
from core.figures.base.sheet import EDGE, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.decode.stage_bars import token_palette
from core.figures.lab.words import lab_caption, number, number_within

_TITLE = "The same dice, other knobs"
_ROW, _BAR = 56, 0.4
# Narrower pieces have no line around them, which would hide them.
_SLIVER = 0.008
MANY = -1


def lab_flips(lab: LabStep, knobs: Sequence[KnobFlips], *, theme: Theme = LIGHT) -> go.Figure:
    """One track a knob over its whole range; the mark is where the knob stands."""
    if not knobs:
        sentence = "Looking for the values at which the token flips."
        return plain_sentence(theme, sentence, title=_TITLE, caption=lab_caption(lab))
    sheet = Sheet(theme)
    lay_out(
        sheet,
        title=_TITLE,
        subtitle="Orange: the token stays. Another colour: another token.",
        caption=lab_caption(lab),
        alt=_alt(lab, knobs),
        plot_height=_ROW * len(knobs),
        left=EDGE + 2,
        right=EDGE + 4,
        below=8,
    )
    colors = _palette(lab, theme)
    for row, knob in enumerate(knobs):
        _add_track(sheet, row, knob, colors)
        _label(sheet, row, knob)
    sheet.layout |= {
        "barmode": "overlay",
        "bargap": 0,
        "uniformtext": {"minsize": 10, "mode": "hide"},
        "xaxis": axis(theme, range=[0, 1], visible=False),
        "yaxis": axis(theme, range=[len(knobs) - 0.42, -0.58], visible=False),
    }
    return sheet.figure()


def _palette(lab: LabStep, theme: Theme) -> dict[int, str]:
    """Colours by token, the same that the draw's figure gives."""
    colors = token_palette(lab.step, lab.step.stages, theme)
    return {own.token_id: colors[place] for place, own in enumerate(lab.step.candidates)}


def _placed(knob: KnobFlips) -> list[tuple[float, float, Piece]]:
    """The pieces from 0 to 1 along the track, without gaps; slivers beside slivers are one."""
    pieces = knob.pieces
    if not pieces:
        return []
    first, last = pieces[0].low, pieces[-1].high
    span = max(last - first, 1e-12)
    edges = [0.0]
    for left, right in pairwise(pieces):
        edges.append(((left.high + right.low) / 2 - first) / span)
    edges.append(1.0)
    placed: list[tuple[float, float, Piece]] = []
    for low, high, piece in zip(edges[:-1], edges[1:], pieces, strict=True):
        narrow = high - low < _SLIVER and not piece.low <= knob.value <= piece.high
        if narrow and placed and _is_sliver(placed[-1], knob):
            start, _, before = placed.pop()
            merged = Piece(before.low, piece.high, MANY, "many tokens")
            placed.append((start, high, merged))
        else:
            placed.append((low, high, piece))
    return placed


def _is_sliver(placed: tuple[float, float, Piece], knob: KnobFlips) -> bool:
    low, high, piece = placed
    return piece.token_id == MANY or (
        high - low < _SLIVER and not piece.low <= knob.value <= piece.high
    )


def _add_track(sheet: Sheet, row: int, knob: KnobFlips, colors: dict[int, str]) -> None:
    theme, placed = sheet.theme, _placed(knob)
    lines = [0.6 if high - low > _SLIVER else 0 for low, high, _ in placed]
    own = [colors.get(piece.token_id, theme.rest) for _, _, piece in placed]
    sheet.traces.append(
        {
            "type": "bar",
            "orientation": "h",
            "name": knob.name,
            "y": [row] * len(placed),
            "base": [low for low, _, _ in placed],
            "x": [high - low for low, high, _ in placed],
            "width": _BAR,
            "text": [show_token(piece.text, 10) for _, _, piece in placed],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "textfont": {
                "family": theme.mono,
                "size": 11,
                "color": [theme.text_on(color) for color in own],
            },
            "hovertext": [_hover(knob, piece) for _, _, piece in placed],
            "hovertemplate": "%{hovertext}<extra></extra>",
            "marker": {"color": own, "line": {"color": theme.paper, "width": lines}},
        }
    )
    if placed:
        _mark_value(sheet, row, knob)


def _mark_value(sheet: Sheet, row: int, knob: KnobFlips) -> None:
    low, high = knob.pieces[0].low, knob.pieces[-1].high
    at = min(max((knob.value - low) / max(high - low, 1e-12), 0.0), 1.0)
    line = {"color": sheet.theme.ink, "width": 2.5}
    place = {"x0": at, "x1": at, "y0": row - _BAR / 2 - 0.04, "y1": row + _BAR / 2 + 0.1}
    sheet.shapes.append({"name": "value", "type": "line", "line": line, **place})
    for end, text in ((0, number(low)), (1, number(high))):
        sheet.annotations.append(
            {
                "name": "end",
                "text": text,
                "x": end,
                "y": row + _BAR / 2,
                "xanchor": "right" if end else "left",
                "yanchor": "top",
                "borderpad": 0,
                "showarrow": False,
                "font": {"size": 10, "color": sheet.theme.muted},
            }
        )


def _hover(knob: KnobFlips, piece: Piece) -> str:
    low, high = (number_within(edge, piece.low, piece.high, 6) for edge in piece[:2])
    span = low if low == high else f"{low} to {high}"
    return f"<b>{show_token(piece.text, 40)}</b><br>{escaped(stage_name(knob.name))} {span}"


def _label(sheet: Sheet, row: int, knob: KnobFlips) -> None:
    name = f"<b>{escaped(stage_name(knob.name))}</b> {number(knob.value)}"
    label_bar(sheet, row - _BAR / 2, name, yshift=1)
    label_bar(sheet, row - _BAR / 2, _outcome(knob, sheet.theme), right=True, size=11, yshift=1)


def _outcome(knob: KnobFlips, theme: Theme) -> str:
    if not knob.acts:
        return "not in this library"
    if knob.here is None:
        return ""
    parts = []
    for piece, words, edge in (
        (knob.below, "up to", knob.below and knob.below.high),
        (knob.above, "from", knob.above and knob.above.low),
    ):
        if piece is not None and edge is not None:
            token = f'<span style="font-family:{theme.mono}">{show_token(piece.text, 8)}</span>'
            parts.append(f"{token} {words} {number_within(edge, piece.low, piece.high)}")
    return f"{NBSP}· ".join(parts) if parts else "never flips"


def nearest_flips(knobs: Sequence[KnobFlips]) -> list[str]:
    """One plain sentence for each knob that would flip the token, both sides."""
    lines = []
    for knob in knobs:
        sides = []
        if knob.below is not None:
            token, (low, high, *_) = visible_token(knob.below.text, 16), knob.below
            sides.append(f"{token} at {number_within(high, low, high)} and below")
        if knob.above is not None:
            token, (low, high, *_) = visible_token(knob.above.text, 16), knob.above
            sides.append(f"{token} at {number_within(low, low, high)} and above")
        if sides:
            lines.append(f"{stage_name(knob.name)} {number(knob.value)}: {'; '.join(sides)}")
    return lines


def _alt(lab: LabStep, knobs: Sequence[KnobFlips]) -> str:
    none = "nothing else within these ranges"
    sides = "; ".join(nearest_flips(knobs)) or none
    chosen = visible_token(lab.step.chosen.text, 24)
    return (
        f"Tracks of {len(knobs)} knobs, coloured by the token that throw {lab.throw} would draw. "
        f"Now it is {chosen}. It becomes: {sides}."
    ).replace(NBSP, " ")


def lab_flips_data(lab: LabStep, knobs: Sequence[KnobFlips]) -> pd.DataFrame:
    """Every piece of every knob's range, its ends as they were tried."""
    names = "knob value from to token_id token drawn_now".split()
    records: list[tuple[object, ...]] = [
        (
            knob.name,
            knob.value,
            piece.low,
            piece.high,
            piece.token_id,
            table_text(piece.text),
            piece.token_id == lab.step.token_id,
        )
        for knob in knobs
        for piece in knob.pieces
    ]
    return pd.DataFrame(records, columns=names)
