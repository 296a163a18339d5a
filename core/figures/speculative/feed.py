"""Tokens that each scoring method feeds to the target in one round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...decoding.counting import counted, nth, sentences, span_key
from ...decoding.record.trace import Trace
from ...decoding.speculative.config import SCORINGS, Scoring
from ...decoding.speculative.scoring import FedRow, fed_again, feed_paged
from ...language import N_, tr
from ..base.axes import axis, top_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import (
    add_note,
    label_bar,
    overlaid,
    token_cells,
)
from ..base.measure import markup_width, text_width
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import pending_of

_LEFT, _RIGHT, _HEAD = 80, 70, 1.0
# Gap between a row and its length, px.
_BEHIND = 6
# Height of a row in px and columns of a token, for vertical tokens in narrow cells.
_UPRIGHT_ROW, _UPRIGHT_LIMIT = 54, 6
# px: least width of a cell with a vertical token, and height of a row without tokens.
_NARROWEST, _BARE_ROW = 19, 20
# Width of the block of cached tokens, in tokens.
_BLOCK = 2
NAMES: dict[str, str] = {"multi_query": N_("Multi-query"), "batch_expansion": N_("Batch expansion")}


class _FedLine(NamedTuple):
    """A sequence and its row."""

    y: float
    number: int
    row: FedRow


def fed_rows(trace: Trace, at: int, scoring: Scoring) -> tuple[FedRow, ...]:
    """Return the rows of a round's forward with either scoring method, with a paged cache."""
    return feed_paged(scoring, *_scored(trace, at)[:3], trace.rounds[at].parents or None)


def feed_words(trace: Trace, at: int) -> str:
    """Return the number of tokens that this engine feeds beyond those in the figure; plain text."""
    if not 0 <= at < len(trace.rounds):
        return ""
    step = trace.rounds[at]
    words = [tr(fed_again(*_scored(trace, at)[:3], step.parents or None))]
    if step.window is not None:
        words.append(
            tr(
                "The same forward also reads the window above ({tokens}), none of which attends "
                "to a draft.",
                tokens=counted(step.window.size, "guessed token"),
            )
        )
    return tr(sentences(*words))


def _scored(trace: Trace, at: int) -> tuple[int, int, list[int], list[str]]:
    """Return the tokens that a round scores: number in the cache, the unread token, ids of the
    drafted tokens, and texts of all but the cached ones.
    """
    step, (pending, text) = trace.rounds[at], pending_of(trace, at)
    return (
        step.target_cache.before,
        pending,
        [token.token_id for token in step.drafted],
        [text, *(token.text for token in step.drafted)],
    )


@table("scoring sequence length cached shared position token_id token read")
def spec_feed_data(trace: Trace, at: int) -> TableRows:
    """Return every token that either method feeds in the round, one per row; positions count from
    0.
    """
    for scoring in SCORINGS if 0 <= at < len(trace.rounds) else ():
        texts = _scored(trace, at)[3]
        for number, row in enumerate(fed_rows(trace, at, scoring)):
            head = (scoring, nth(number), row.length, row.cached, row.shared)
            for place, token_id in enumerate(row.token_ids):
                token = table_text(texts[row.node(row.shared + place)])
                yield (*head, row.positions[place], token_id, token, place in row.reads)


@figure(
    N_("Input of the target"),
    settings_caption,
    spec_feed_data,
    subtitle=lambda at: tr(
        "Both ways take one forward for round {round}. Positions count from 0; the logits of "
        "marked ones are read.",
        round=nth(at),
    ),
    alt=lambda at, groups: (
        tr("Drawing of what is fed to the target in round {round}.", round=nth(at)),
        tr("; ").join(
            tr(
                "{way} feeds {sequences} with {new} new tokens behind {cached} cached ones",
                way=tr(NAMES[scoring]),
                sequences=counted(len(rows), "sequence"),
                new=sum(line.row.new for line in rows),
                cached=rows[0].row.cached,
            )
            for scoring, rows in groups
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (theme.rest, tr("cached")),
            (_new_color(theme), tr("new")),
            (theme.muted, tr("fed by another sequence"), "▨"),
            (theme.accent, tr("read"), "●"),
        ]
    ],
)
def spec_feed(trace: Trace, at: int, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw both scoring methods for the round `at`, one below the other; positions across."""
    if not 0 <= at < len(trace.rounds):
        if paper.printed:
            return tr("There is no such round.")
        return tr("There is no such round: click a token in the timeline.")
    groups, y = [], 0.0
    for scoring in SCORINGS:
        y += _HEAD
        rows = fed_rows(trace, at, scoring)
        lines = [_FedLine(y + number, number, row) for number, row in enumerate(rows)]
        groups.append((scoring, lines))
        y += len(rows)
    width = len(groups[0][1][0].row.token_ids)
    texts = _scored(trace, at)[3]
    lengths = [text_width(_length(line), 11) for _, group in groups for line in group]
    right = max(_RIGHT, round(max(lengths)) + _BEHIND + 2)
    pitch = (paper.width - _LEFT - right) / (width + _BLOCK)
    limit = max(3, min(9, 70 // width))
    longest = max(text_width(visible_token(text, limit), SMALL, "mono") for text in texts)
    upright = longest + 4 > pitch
    # Narrower cells have no text, and their rows need no room for it.
    bare = upright and pitch < _NARROWEST
    row_height = _BARE_ROW if bare else _UPRIGHT_ROW if upright else 30
    names = ["" if bare else show_token(t, _UPRIGHT_LIMIT if upright else limit) for t in texts]
    sheet = Sheet(
        theme,
        paper,
        facts={"groups": groups},
        meta={"shown": [span_key("round", at)]},
        plot_height=round(row_height * y),
        left=_LEFT,
        right=right,
        above=32,
        below=34,
        key_offset=10,
    )
    for scoring, lines in groups:
        _add_group(sheet, scoring, lines, texts, names, upright=upright and not bare)
    sheet.layout |= _axes(groups, width, y, sheet) | overlaid(SMALL)
    return sheet


def _new_color(theme: Theme) -> str:
    # In grey it must differ from a journal's solid fill, which replaces hatching.
    return theme.probability_color(0.6 if theme.patterns else 0.35)


def _add_group(
    sheet: Sheet,
    scoring: Scoring,
    lines: Sequence[_FedLine],
    texts: Sequence[str],
    names: Sequence[str],
    *,
    upright: bool,
) -> None:
    theme, angle, bare = sheet.theme, -90 if upright else 0, not any(names)
    new_tokens = tr(counted(sum(line.row.new for line in lines), "new token"))
    name, sequences = f"<b>{tr(NAMES[scoring])}</b>", tr(counted(len(lines), "sequence"))
    headings = [f"{name}: {sequences}, {new_tokens}", f"{name}: {sequences}", name]
    room = sheet.room + sheet.right
    heading = next((text for text in headings if markup_width(text) <= room), name)
    label_bar(sheet, lines[0].y - 0.5, heading.replace(" ", NBSP), yshift=1)
    cached, ink = [line for line in lines if line.row.cached], theme.text_on(theme.rest)
    sheet.traces.append(
        token_cells(
            theme,
            "cached",
            [(-_BLOCK / 2 - 0.5, line.y - 0.5) for line in cached],
            ["" if bare else tr("{count} cached", count=line.row.cached) for line in cached],
            None,
            theme.rest,
            ink,
            width=_BLOCK,
            textangle=angle,
            textfont={"size": 11, "color": ink},
        )
    )
    for new in (True, False):
        sheet.traces.append({**_tokens(lines, texts, names, theme, new=new), "textangle": angle})
    reads = [
        (line.row.node(line.row.shared + place), line.y)
        for line in lines
        for place in line.row.reads
    ]
    sheet.traces.append(
        {
            "type": "scatter",
            "name": "read",
            "mode": "markers",
            "x": [x + (0 if bare else 0.38) for x, _ in reads],
            "y": [y - (0 if bare else 0.26) for _, y in reads],
            "marker": {"size": 7, "color": theme.accent, "line": {"width": 0}},
            "hoverinfo": "skip",
        }
    )
    where = {"xref": "paper", "xanchor": "left", "xshift": _BEHIND}
    for line in lines:
        add_note(sheet, "length", _length(line), 1, line.y, size=11, color=theme.muted, **where)


def _length(line: _FedLine) -> str:
    return tr("length {length}", length=line.row.length)


def _tokens(
    lines: Sequence[_FedLine],
    texts: Sequence[str],
    names: Sequence[str],
    theme: Theme,
    *,
    new: bool,
) -> Properties:
    places = [
        (place, line)
        for line in lines
        for place in range(line.row.shared + line.row.new)
        if (place >= line.row.shared) is new
    ]
    ground = _new_color(theme) if new else theme.panel
    hatched = {"shape": "/", "fgcolor": theme.muted, "bgcolor": ground, "size": 6, "solidity": 0.12}
    hovers = []
    for place, line in places:
        row, at = line.row, place - line.row.shared
        source = tr(
            "in the shared cache: sequence {nth} is fed it in the same forward",
            nth=nth(row.node(place)),
        )
        if new:
            read = [tr("its logits are read")] if at in row.reads else []
            source = " · ".join((f"id {row.token_ids[at]}", *read))
        where = tr(
            "sequence {nth} · position {position}",
            nth=nth(line.number),
            position=row.cached + place,
        )
        hovers.append(f"<b>{show_token(texts[row.node(place)], 40)}</b><br>{where}<br>{source}")
    return token_cells(
        theme,
        "new" if new else "shared",
        [(line.row.node(place), line.y - 0.5) for place, line in places],
        [names[line.row.node(place)] for place, line in places],
        hovers,
        ground,
        theme.text_on(ground) if new else theme.muted,
        size=11,
        pattern=None if new else hatched,
    )


def _axes(
    groups: Sequence[tuple[Scoring, Sequence[_FedLine]]], width: int, height: float, sheet: Sheet
) -> Properties:
    theme, lines = sheet.theme, [line for _, group in groups for line in group]
    row = lines[0].row
    # In narrow cells only hover text and table show the ids.
    pitch = sheet.room / (width + _BLOCK)
    longest = max(text_width(f"id {token_id}", SMALL) for token_id in row.token_ids)
    ids = width <= 11 and longest + 4 < pitch
    # A position beside the axis' name has no number if both would overlap.
    position = tr("position")
    free = (text_width(position, SMALL) + text_width("999", SMALL)) / 2 + 4
    first = 0 if ids else max(math.ceil(free / pitch - _BLOCK / 2 - 0.5), 0)
    widest = max(text_width(str(position), SMALL) for position in row.positions)
    shown = range(first, width, 1 if widest + 6 < pitch else 5)
    names = [
        f"{row.positions[p]}<br>id{NBSP}{row.token_ids[p]}" if ids else str(row.positions[p])
        for p in shown
    ]
    titles = [f"{position}<br>{tr('token')}" if ids else position, *names]
    return {
        "xaxis": top_axis(theme, [-_BLOCK - 0.5, width - 0.5], [-_BLOCK / 2 - 0.5, *shown], titles),
        "yaxis": axis(
            theme,
            range=[height - 0.5, 0.5 - _HEAD],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=[line.y for line in lines],
            ticktext=[f"{tr('sequence {nth}', nth=nth(line.number))} " for line in lines],
        ),
    }
