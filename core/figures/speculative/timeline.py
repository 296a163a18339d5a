"""Rounds of speculative decoding: the drafted tokens and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...decoding.counting import nth
from ...decoding.record.trace import Trace
from ...decoding.speculative.types import DraftRound
from ...language import N_, tr
from ..base.axes import axis, top_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import escaped, settings_caption, table_text, visible_token
from ..base.marks import PAPER, add_note, overlaid
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import EDGE, Properties, Sentences, Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart, cut_window, numbered, window_of
from .timeline_cells import (
    GAP,
    LEVEL,
    add_cells,
    add_marks,
    add_ring,
    cells_of_rounds,
    rows_of,
)
from .words import (
    KINDS,
    SIGNS,
    Kind,
    emitted,
    extra_kind,
    kind_color,
    kind_words,
    shown_kind,
)

COLUMNS = 40
_LEFT = 92
# Number of rounds on a phone's page.
PHONE_COLUMNS = 5
# Width of all rounds on a page, and minimum width of a column with a number, px.
_WIDTH, _NUMBER = 830.0, 26
# Minimum width of columns with readable tokens, vertical and in a flat row, px; Plotly hides the
# vertical tokens of a bar that is 19 px wide.
_UPRIGHT, _LEVEL = 20.0, 60.0
# Maximum number of tall rows; more are flat, as the figure would fill two screens.
_TALL_ROWS = 10
# Maximum number of rows with room for long vertical words.
_HIGH_ROWS = 6


@table(
    "round position outcome token_id token emitted draft_prob target_prob accept_prob "
    "uniform residual_mass prob"
)
def spec_timeline_data(trace: Trace, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return every drafted token and every token that the target added, one per row; text is raw.

    Args:
        first: the first round.
        columns: maximum number of rounds; by default all.
    """
    out = {(token_out.round, token_out.place) for token_out in emitted(trace)}
    for at, step in numbered(trace.rounds, first, columns):
        for place, token in enumerate(step.drafted):
            yield (
                nth(at),
                nth(step.depths[place]),
                kind_words(token.outcome),
                token.token_id,
                table_text(token.text),
                (at, place) in out,
                token.draft_prob,
                token.target_prob,
                token.accept_prob,
                token.uniform,
                token.residual_mass,
                None,
            )
        extra = step.extra
        if extra is not None:
            chances = (extra.draft_prob, extra.target_prob, None, extra.uniform, None, extra.prob)
            yield (
                nth(at),
                nth(len(step.accepted)),
                extra_kind(step),
                extra.token_id,
                table_text(extra.text),
                True,
                *chances,
            )


def _alt(rounds: Sequence[DraftRound], shown: ShownPart) -> Sentences:
    drafted = [token for step in rounds for token in step.drafted]
    return (
        tr(
            "Timeline of rounds {first} to {last}: {accepted} of {drafted} drafted tokens "
            "accepted, {recovered} recovered, {bonus} bonus.",
            first=nth(shown.first),
            last=shown.last,
            accepted=sum(token.outcome == "accepted" for token in drafted),
            drafted=len(drafted),
            recovered=sum(step.recovered is not None for step in rounds),
            bonus=sum(step.bonus is not None for step in rounds),
        ),
        tr("Text: {words}", words=visible_token("".join(step.text for step in rounds), 300)),
    )


@figure(
    N_("Rounds and their drafted tokens"),
    settings_caption,
    spec_timeline_data,
    subtitle=lambda shown: (
        tr("A column is a round; its last row is the target’s own token."),
        shown.note,
    ),
    alt=_alt,
    key=lambda theme: [[(kind_color(k, theme), shown_kind(k), SIGNS[k]) for k in KINDS]],
)
def spec_timeline(
    trace: Trace,
    *,
    first: int = 0,
    columns: int = COLUMNS,
    selected: tuple[int, int] | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw rounds across and draft positions down; the target's own tokens are in the last row.

    Args:
        columns: maximum number of rounds from `first` on; above 40 the tokens are too small to
            read. If a paper holds fewer, the part with the selected token is drawn.
        selected: round and place of the token to mark; place -1 is the target's own token.

    A click hands over `customdata = [round, place]`; `meta["ends"]` has the ends of the rounds.
    """
    if not trace.rounds:
        return tr("This run made no round, so there is nothing to show.")
    depth, held = _depth(trace), rounds_for(paper.window, trace) if paper.printed else columns
    first, columns = cut_window(first, columns, held, selected[0] if selected else None)
    first = min(max(first, 0), len(trace.rounds) - 1)
    rounds = window_of(trace.rounds, first, columns)
    shown = ShownPart("round", first, first + len(rounds), len(trace.rounds))
    drawn = max(min(columns, len(trace.rounds)), min(columns, 8))
    # The narrow paper of a page's column is stretched; any other has its own width.
    fixed = paper.printed or paper.width > SCREEN.width or columns <= PHONE_COLUMNS
    width = (paper.window - _LEFT - EDGE if fixed else _WIDTH) / drawn
    flat, level = depth > _TALL_ROWS, 35 if width >= LEVEL else 84 if depth <= _HIGH_ROWS else 66
    height = 22 if flat else level
    cells = cells_of_rounds(rounds, first, depth)
    sheet = Sheet(
        theme,
        paper,
        facts={"rounds": rounds, "shown": shown},
        meta={"ends": [nth(at) / drawn for at in range(len(rounds))], "first": first},
        plot_height=round(height * (depth + 1 + GAP)),
        left=_LEFT,
        above=24,
        below=34,
        key_offset=10,
        layout=overlaid(SMALL) | _axes(shown, drawn, width, depth, theme),
    )
    add_cells(sheet, cells, width, height, flat=flat)
    add_marks(sheet, cells, width, height, flat=flat)
    add_ring(sheet, cells, selected)
    where = {**PAPER, "xanchor": "right", "yanchor": "bottom", "xshift": -4, "color": theme.muted}
    add_note(sheet, "round numbers", tr("round"), 0, 1, size=SMALL, **where)
    shown.tell(sheet, partial(rounds_for, trace=trace))
    return sheet


def _axes(shown: ShownPart, drawn: int, width: float, depth: int, theme: Theme) -> Properties:
    """Return the axes of the rounds' numbers, each `width` px wide, and of the positions."""
    # Narrow columns have no number.
    every, first = 1 if width >= _NUMBER else 5, shown.first
    ticks = [at for at in range(first, shown.last) if at == first or nth(at) % every == 0]
    places = [at - first for at in ticks]
    head = tr("position {position}", position=nth(0))
    rows = [f"{head} ", *(f"{nth(place)} " for place in range(1, depth))]
    return {
        "xaxis": top_axis(theme, [-0.5, drawn - 0.5], places, [str(nth(at)) for at in ticks]),
        "yaxis": axis(
            theme,
            range=[depth + GAP + 0.5, -0.5],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=[*range(depth), depth + GAP],
            ticktext=[*rows, f"{tr('target’s own')} "],
        ),
    }


def rounds_for(width: float, trace: Trace) -> int:
    """Return the number of rounds with readable tokens in a figure `width` px wide."""
    least = _LEVEL if _depth(trace) > _TALL_ROWS else _UPRIGHT
    return max(int((width - _LEFT - EDGE) / least), 1)


def _depth(trace: Trace) -> int:
    """Return the number of rows that a round's tokens need; of a tree only its path is drawn."""
    return max([1, *(row + 1 for step in trace.rounds for row, _ in rows_of(step))])


def key_words(theme: Theme) -> list[tuple[str, str, str]]:
    """Return colour, kind and words of each mark in the text, for a key beside it."""
    words: dict[Kind, str] = {
        "accepted": N_("drafted and accepted"),
        "recovered": N_("recovered after a rejection"),
        "bonus": N_("bonus"),
    }
    return [(kind_color(kind, theme), kind, escaped(tr(text))) for kind, text in words.items()]
