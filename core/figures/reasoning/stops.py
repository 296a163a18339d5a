"""Answers that the model would give if its thinking were stopped at each step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...decoding.counting import counted
from ...evaluation.types import OUTCOMES, StopPoint, StopStrip
from ...language import N_, tr
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    escaped,
    lines,
    plain_name,
    show_token,
    table_text,
    with_prompt,
)
from ..base.marks import add_line, hover_texts, label_pair
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import OUTCOME_WORDS, outcome_color

_MOST_ROWS = 16


@table("stop thinking_tokens step answer_text answer outcome knew_from_here")
def reason_stops_data(strip: StopStrip) -> TableRows:
    """Return a row for each stop; texts are raw."""
    for at, point in enumerate(strip.points):
        outcome = point.outcome if strip.problem.answer else None
        yield (
            at,
            point.tokens,
            table_text(point.piece),
            table_text(point.answer_text),
            point.answer,
            outcome,
            at == strip.knew_at,
        )


def _knowledge(strip: StopStrip) -> str:
    """Return a sentence on the number of tokens from which on the right answer is given."""
    if not strip.problem.answer:
        return tr("The right answer is not known here.")
    if strip.knew_at is None:
        return tr(
            "At its end it doesn't give the right answer, {answer}.", answer=strip.problem.answer
        )
    return tr(
        "From {tokens} on it gives the right answer, {answer}.",
        tokens=counted(strip.points[strip.knew_at].tokens, "token"),
        answer=strip.problem.answer,
    )


def _caption(strip: StopStrip, caption: str, paper: Paper) -> str:
    parts = [with_prompt(caption, strip.problem.question, paper)]
    if strip.points and strip.own_end:
        parts.append(tr("answers at the stops but the last taken greedily"))
    elif strip.points:
        parts.append(tr("answers at the stops taken greedily"))
    return " · ".join(parts)


@figure(
    N_("Answers at each stop"),
    _caption,
    reason_stops_data,
    subtitle=lambda strip, shown: (
        tr("The thinking is stopped after each of its steps, and the model answers greedily."),
        strip.own_end and tr("The last answer is the run's own."),
        len(shown) < len(strip.points)
        and tr(
            "Of {stops} stops: the first, {low} to {high}, the last.",
            stops=len(strip.points),
            low=shown[1],
            high=shown[-2],
        ),
    ),
    alt=lambda strip: (
        tr("What the model answers where its thinking is stopped:"),
        tr(", ").join(
            tr("{answer} at {tokens} tokens", answer=p.answer or tr("none"), tokens=p.tokens)
            for p in strip.points
        )
        + tr("."),
        _knowledge(strip),
    ),
    key=lambda strip, shown, theme: (
        [
            [
                (outcome_color(outcome, theme), tr(OUTCOME_WORDS[outcome]))
                for outcome in OUTCOMES
                if any(strip.points[at].outcome == outcome for at in shown)
            ]
        ]
        * bool(strip.problem.answer)
    ),
)
def reason_stops(
    strip: StopStrip, *, caption: str, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw a row for each place where the thinking was stopped: its length and the answer given
    there.

    A click on a bar hands over `customdata = [thinking tokens]`.

    Args:
        caption: caption of the run whose thinking it is; plain text.
    """
    if not strip.points:
        return tr("The thinking was not stopped anywhere yet.")
    shown = _shown(strip)
    sheet = Sheet(
        theme,
        paper,
        facts={"shown": shown},
        key_offset=46 if strip.problem.answer else 8,
        plot_height=40 * len(shown),
        left=EDGE,
        right=EDGE,
        below=66,
    )
    for row, at in enumerate(shown):
        text = " ".join(strip.points[at].piece.split())
        step = escaped(plain_name(text, 30)) if text else tr("an empty step")
        step = step if at else tr("without thinking")
        label_pair(sheet, row - 0.02, step, _said(strip, at, theme))
    for row, (before, after) in enumerate(pairwise(shown)):
        if after > before + 1:
            gap = {"dash": "dash", "xref": "paper"}
            add_line(sheet, "gap", (0, 1), row + 0.45, theme.muted, 1, **gap)
    sheet.traces = _bars(strip, shown, theme)
    longest = max(strip.points[at].tokens for at in shown)
    # No ticks at half tokens.
    ticks: Properties = {"dtick": 1} if longest < 7 else {"nticks": 7}
    sheet.layout |= {
        "xaxis": axis(theme, tr("thinking tokens so far"), 6, range=[0, max(longest, 1)], **ticks),
        "yaxis": axis(theme, range=[len(shown) - 0.4, -0.55], visible=False),
    }
    return sheet


def _shown(strip: StopStrip) -> list[int]:
    """Return the drawn rows: all, or both ends and a window around the first right one."""
    count = len(strip.points)
    if count <= _MOST_ROWS:
        return list(range(count))
    between = _MOST_ROWS - 2
    first = min(max(1, (strip.knew_at or 0) - between // 2), count - 1 - between)
    return [0, *range(first, first + between), count - 1]


def _said(strip: StopStrip, at: int, theme: Theme) -> str:
    """Return the answer at a stop, with a mark besides its colour; Plotly text."""
    point = strip.points[at]
    answer = show_token(point.answer, 16) if point.answer is not None else tr("no answer")
    if not strip.problem.answer:
        return f"<b>{answer}</b>"
    if point.outcome == "correct":
        # Only from there on all later stops are right too; earlier right answers were chance.
        known = strip.knew_at is not None and at >= strip.knew_at
        mark = f"{answer}{NBSP}✓"
        if at == strip.knew_at:
            mark = tr("{answer} ✓ knew it from here", answer=answer)
        elif not known:
            mark = tr("{answer} ✓ but wrong again later", answer=answer)
        mark = mark.replace(" ✓ ", f"{NBSP}✓{NBSP}")
        strong = f"<b>{mark}</b>" if at == strip.knew_at else mark
        return f'<span style="color:{theme.ink}">{strong}</span>'
    return f"{answer}{NBSP}✗"


def _bars(strip: StopStrip, shown: Sequence[int], theme: Theme) -> list[Properties]:
    """Return a bar for each stop, and a stroke at 0 for a stop of length 0."""
    points, judged = [strip.points[at] for at in shown], bool(strip.problem.answer)
    bars = {
        **_marks(list(enumerate(points)), judged),
        "type": "bar",
        "name": "stops",
        "orientation": "h",
        "width": 0.26,
        "marker": {"color": _colors(points, theme, judged), "line": {"width": 0}},
    }
    empty = [(row, point) for row, point in enumerate(points) if not point.tokens]
    zeros = {
        **_marks(empty, judged),
        "type": "scatter",
        "name": "no tokens",
        "mode": "markers",
        "marker": {
            "symbol": "line-ns-open",
            "size": 8,
            "color": _colors([point for _, point in empty], theme, judged),
            "line": {"width": 3},
        },
        "cliponaxis": False,
    }
    return [bars, zeros]


def _marks(points: Sequence[tuple[int, StopPoint]], judged: bool) -> Properties:
    """Return the properties that all marks of stops share."""
    return {
        "x": [point.tokens for _, point in points],
        "y": [row + 0.17 for row, _ in points],
        "customdata": [[point.tokens] for _, point in points],
        **hover_texts(
            [
                lines(
                    tr("<b>{tokens} thinking tokens</b>", tokens=point.tokens),
                    tr(
                        "it answers: {answer}",
                        answer=show_token(point.answer_text.strip(), 60),
                    ),
                    judged and tr(OUTCOME_WORDS[point.outcome]),
                )
                for _, point in points
            ]
        ),
    }


def _colors(points: Sequence[StopPoint], theme: Theme, judged: bool) -> list[str]:
    return [outcome_color(p.outcome, theme) if judged else theme.first for p in points]
