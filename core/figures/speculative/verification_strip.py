"""Strip over a verification: the uniform number, or the threshold that decides."""

from __future__ import annotations

from typing import NamedTuple

from ...decoding.speculative.types import DraftToken, ExtraToken
from ...language import tr
from ..base.axes import axis, bare_axis
from ..base.labels import percent, show_token
from ..base.marks import PAPER, add_line, add_note
from ..base.measure import markup_width
from ..base.sheet import Sheet
from ..base.theme import Theme
from .position import VerifiedPosition
from .words import (
    EXTRA,
    Kind,
    extra_kind,
    is_greedy,
    kind_color,
    number,
    rule_of,
    soft_color,
)

_LIMIT = 16
# Gap between the texts over the strip, and line height, px.
_APART, _LINE = 12, 15


class _StripPart(NamedTuple):
    """A part of the strip; its words are inside if they fit, or beside it if the number falls on
    it.

    `hit` is the colour of its edge; empty for a part that isn't a token's.
    """

    start: float
    end: float
    color: str
    words: str
    hit: str = ""


def _parts(found: VerifiedPosition, theme: Theme) -> tuple[list[_StripPart], float | None, str]:
    """Return the strip's parts, the position of the mark, and the mark's words."""
    yes, no = soft_color("accepted", theme), soft_color("rejected", theme)
    token = found.drafted
    if token is not None and found.place != EXTRA:
        if token.threshold is not None:
            parts = [
                _StripPart(0, token.threshold, no, tr("reject")),
                _StripPart(token.threshold, 1, yes, tr("accept")),
            ]
            return parts, token.target_prob, f"target_prob {number(token.target_prob)}"
        # In a greedy run every part of the strip has width 0 or 1, so no number has an effect.
        mark = None if is_greedy(found.trace) else token.uniform
        says = tr("greedy: nothing random") if mark is None else _rolled(mark)
        if rule_of(found.trace) == "exact":
            hit: DraftToken | ExtraToken | None = token
            kind: Kind = "accepted"
            if token.interval is None:
                hit, kind = found.extra, extra_kind(found.step)
            hits = [_hit_part(hit, kind, hit.interval, theme)] if hit and hit.interval else []
            return [_StripPart(0, 1, theme.panel, ""), *hits], mark, says
        edge = token.accept_prob
        parts = [_StripPart(0, edge, yes, tr("accept")), _StripPart(edge, 1, no, tr("reject"))]
        return parts, mark, says
    extra = found.extra
    base = [_StripPart(0, 1, theme.panel, "")]
    if extra is None or extra.interval is None or extra.uniform is None:
        return base, None, ""
    hits = [_hit_part(extra, extra_kind(found.step), extra.interval, theme)]
    if is_greedy(found.trace):
        return [*base, *hits], None, tr("greedy: nothing random")
    return [*base, *hits], extra.uniform, _rolled(extra.uniform)


def _rolled(uniform: float) -> str:
    return tr("number {number}", number=number(uniform))


def _hit_part(
    token: DraftToken | ExtraToken, kind: Kind, interval: tuple[float, float], theme: Theme
) -> _StripPart:
    return _StripPart(
        *interval, soft_color(kind, theme), show_token(token.text, _LIMIT), kind_color(kind, theme)
    )


def _strip_title(found: VerifiedPosition) -> str:
    token = found.drafted
    if found.place == EXTRA or token is None:
        if found.extra is not None and found.extra.uniform is None:
            return tr("the target’s most probable token, nothing drawn")
        if found.residual_mass > 0:
            return tr("where the number fell on the residual")
        return tr("where the number fell on the target’s distribution")
    if token.threshold is not None:
        return tr("threshold {threshold}", threshold=number(token.threshold))
    if rule_of(found.trace) == "exact":
        if token.interval is None and found.extra is not None:
            return tr(
                "the target drew {hit}, not {drafted}",
                hit=show_token(found.extra.text, _LIMIT),
                drafted=show_token(token.text, _LIMIT),
            )
        return tr("where the number fell on the target’s distribution")
    chance = number(token.accept_prob)
    return (
        tr("accept_prob {chance}: not allowed", chance=chance)
        if token.refused
        else f"accept_prob {chance}"
    )


def add_strip(sheet: Sheet, found: VerifiedPosition, bottom: float) -> None:
    """Add the strip over the bars; `bottom` is its lower edge in the plotting area, 0 to 1."""
    theme = sheet.theme
    parts, mark, says = _parts(found, theme)
    for part in parts:
        _add_part(sheet, part, mark)
    if mark is not None:
        upright = (bottom - 0.01, 1.0)
        add_line(sheet, "number", mark, upright, theme.ink, 3, xref="x3", yref="paper")
    where = {**PAPER, "yanchor": "bottom", "borderpad": 0}
    title = _strip_title(found)
    above = markup_width(title, 11) + markup_width(says, 11) + _APART > sheet.room
    left = {"xanchor": "left", "yshift": _LINE * above, **where}
    sheet.above += _LINE * above
    add_note(sheet, "strip", title, 0, 1, size=11, color=theme.ink, **left)
    add_note(sheet, "strip", says, 1, 1, size=11, color=theme.muted, xanchor="right", **where)
    sheet.layout["xaxis3"] = axis(
        theme, anchor="y3", range=[0, 1], showgrid=False, tickvals=[0, 0.5, 1], showline=False
    )
    sheet.layout["yaxis3"] = bare_axis(theme, range=[-0.5, 0.5], anchor="x3", domain=[bottom, 1])


def _add_part(sheet: Sheet, part: _StripPart, mark: float | None) -> None:
    """Add a part with its words, which stand beside the mark or beside a narrow part."""
    inside = mark is not None and part.start <= mark <= part.end
    room = (part.end - part.start) * sheet.room / (1 + inside)
    fits = markup_width(part.words, 11) + 8 < room
    anchor = "middle"
    if mark is not None and inside:
        anchor = "start" if mark > (part.start + part.end) / 2 else "end"
    sheet.traces.append(
        {
            "type": "bar",
            "name": "strip",
            "orientation": "h",
            "xaxis": "x3",
            "yaxis": "y3",
            "y": [0],
            "base": [part.start],
            "x": [part.end - part.start],
            "width": [1],
            "text": [part.words if fits else ""],
            "textposition": "inside",
            "textangle": 0,
            "constraintext": "none",
            "insidetextanchor": anchor,
            "textfont": {"size": 11, "color": sheet.theme.ink},
            "marker": {
                "color": part.color,
                "line": {"width": 1.5, "color": part.hit} if part.hit else {"width": 0},
            },
            "hoverinfo": "skip",
            "cliponaxis": False,
        }
    )
    if part.hit and not fits:
        # On the side with more room.
        right = part.start + part.end < 1
        where = {"xref": "x3", "yref": "y3", "yanchor": "middle", "borderpad": 0}
        where |= {"xanchor": "left" if right else "right", "xshift": 5 if right else -5}
        text, x = (
            f"{part.words} {percent(part.end - part.start)}",
            part.end if right else part.start,
        )
        add_note(sheet, "hit", text, x, 0, size=11, color=sheet.theme.ink, **where)
