"""The strip over a trial's bars: where the number fell, or the threshold that decides."""

from __future__ import annotations

from typing import NamedTuple

from core.figures.base.axes import NO_FADE, axis
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import Theme
from core.figures.speculative.verification_data import Look
from core.figures.speculative.words import (
    EXTRA,
    extra_kind,
    kind_color,
    number,
    rule_of,
    soft_color,
)


class _Segment(NamedTuple):
    start: float
    end: float
    color: str
    words: str


def _segments(look: Look, theme: Theme) -> tuple[list[_Segment], float | None, str]:
    """The strip's parts, where the mark stands, and what it says there."""
    yes, no = soft_color("accepted", theme), soft_color("rejected", theme)
    token = look.drafted
    if token is not None and look.place != EXTRA:
        if token.threshold is not None:
            parts = [
                _Segment(0, token.threshold, no, "reject"),
                _Segment(token.threshold, 1, yes, "accept"),
            ]
            return parts, token.target_prob, f"target_prob {number(token.target_prob)}"
        says = f"number {number(token.uniform or 0.0)}"
        if rule_of(look.trace) == "exact":
            own = [] if token.interval is None else [_Segment(*token.interval, yes, "")]
            return [_Segment(0, 1, theme.panel, ""), *own], token.uniform, says
        edge = token.accept_prob
        parts = [_Segment(0, edge, yes, "accept"), _Segment(edge, 1, no, "reject")]
        return parts, token.uniform, says
    extra = look.extra
    base = [_Segment(0, 1, theme.panel, "")]
    if extra is None or extra.interval is None or extra.uniform is None:
        return base, None, ""
    own = [_Segment(*extra.interval, kind_color(extra_kind(look.step), theme), "")]
    return [*base, *own], extra.uniform, f"number {number(extra.uniform)}"


def _strip_title(look: Look) -> str:
    token = look.drafted
    if look.place == EXTRA or token is None:
        if look.extra is not None and look.extra.uniform is None:
            return "the target’s most probable token, nothing drawn"
        of = "residual" if look.residual_mass > 0 else "target’s distribution"
        return f"where the number fell on the {of}"
    if token.threshold is not None:
        return f"threshold {number(token.threshold)}"
    if rule_of(look.trace) == "exact":
        return "where the number fell on the target’s distribution"
    return f"accept_prob {number(token.accept_prob)}"


def add_strip(sheet: Sheet, look: Look, bottom: float) -> None:
    """The strip over the bars; `bottom` is its lower edge in the plotting area, 0 to 1."""
    theme = sheet.theme
    segments, mark, says = _segments(look, theme)
    sheet.traces += [_segment_bar(segment, mark, theme) for segment in segments]
    if mark is not None:
        _add_number(sheet, mark, bottom)
    _label_strip(sheet, _strip_title(look), says)
    sheet.layout |= {
        "xaxis3": axis(
            theme, range=[0, 1], anchor="y3", showgrid=False, tickvals=[0, 0.5, 1], showline=False
        ),
        "yaxis3": axis(
            theme,
            range=[-0.5, 0.5],
            anchor="x3",
            domain=[bottom, 1],
            showgrid=False,
            showline=False,
            showticklabels=False,
        ),
    }


def _segment_bar(segment: _Segment, mark: float | None, theme: Theme) -> Properties:
    return {
        "type": "bar",
        "name": "strip",
        "orientation": "h",
        "xaxis": "x3",
        "yaxis": "y3",
        "y": [0],
        "base": [segment.start],
        "x": [segment.end - segment.start],
        "width": [1],
        "text": [segment.words if _is_readable(segment, mark) else ""],
        "textposition": "inside",
        "insidetextanchor": _anchor(segment, mark),
        "textfont": {"size": 11, "color": theme.ink},
        "marker": {"color": segment.color, "line": {"width": 0}},
        "hoverinfo": "skip",
        "cliponaxis": False,
        **NO_FADE,
    }


def _is_readable(segment: _Segment, mark: float | None) -> bool:
    """Whether the words fit in beside the mark."""
    inside = mark is not None and segment.start <= mark <= segment.end
    return segment.end - segment.start > (0.3 if inside else 0.15)


def _anchor(segment: _Segment, mark: float | None) -> str:
    """Where the words stand: away from the mark."""
    if mark is None or not segment.start <= mark <= segment.end:
        return "middle"
    return "start" if mark > (segment.start + segment.end) / 2 else "end"


def _label_strip(sheet: Sheet, *texts: str) -> None:
    """What stands over the strip, at its left and at its right end."""
    for at, text in enumerate(texts):
        sheet.annotations.append(
            {
                "name": "strip",
                "text": text,
                "xref": "paper",
                "yref": "paper",
                "x": at,
                "y": 1,
                "xanchor": "right" if at else "left",
                "yanchor": "bottom",
                "borderpad": 0,
                "showarrow": False,
                "font": {"size": 11, "color": sheet.theme.muted if at else sheet.theme.ink},
            }
        )


def _add_number(sheet: Sheet, at: float, bottom: float) -> None:
    place = {"xref": "x3", "yref": "paper", "x0": at, "x1": at, "y0": bottom - 0.01, "y1": 1.0}
    line = {"color": sheet.theme.ink, "width": 3}
    sheet.shapes.append({"name": "number", "type": "line", "line": line, **place})
