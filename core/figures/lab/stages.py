"""The stages of one step as small multiples: one panel a stage, one axis of tokens for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go

from core.decoding.lab.types import LabStep
from core.decoding.trace import Candidate, Stage
from core.figures.base.axes import add_key, axis, key_entry
from core.figures.base.labels import (
    NBSP,
    escaped,
    percent,
    show_token,
    stage_name,
    table_text,
    text_columns,
    visible_token,
)
from core.figures.base.sheet import EDGE, Properties, Sheet, lay_out
from core.figures.base.theme import LIGHT, Theme
from core.figures.lab.words import lab_caption, setting, short_name, shown_stages

_TITLE = "What every stage leaves"
_ROW, _LABEL_LIMIT = 25, 12
# Of a panel's width: what keeps it apart from the next, and what a bar's percentage needs.
_GAP, _PERCENT_WIDTH = 0.06, 44
# The narrowest that the page shows the panels at, px: few, and many.
FEW_PANELS, _WIDTH_OF_FEW, _WIDTH_OF_MANY = 3, 440, 740
_HEAD_LINE = 15
COLUMNS = (
    "stage setting rank token_id token chosen prob kept removed_mass threshold_crossed".split()
)


class Row(NamedTuple):
    """A token with its probability in every shown stage."""

    candidate: Candidate
    probs: tuple[float, ...]


def lab_stages(lab: LabStep, *, rows: int = 12, theme: Theme = LIGHT) -> go.Figure:
    """Panels from the model's own distribution to the one drawn from, over the same tokens.

    A removed token keeps its row, greyed; a hatched bar tells what it had when it was removed.
    A line under a bar of top-p's panel marks the token that carried the sum to p.

    Args:
        rows: so many tokens by rank; the chosen one and top-p's last one are added.
    """
    stages, shown = shown_stages(lab), shown_rows(lab, rows)
    sheet = Sheet(theme)
    columns = max(text_columns(visible_token(row.candidate.text, _LABEL_LIMIT)) for row in shown)
    left = 40 + round(7.2 * max(columns, 8)) + 6 * len(str(shown[-1].candidate.rank))
    lay_out(
        sheet,
        title=_TITLE,
        subtitle=_subtitle(lab),
        caption=lab_caption(lab),
        alt=_alt(lab, stages),
        plot_height=_ROW * (len(shown) + 1),
        left=left,
        right=EDGE + 2,
        above=4 * _HEAD_LINE + 8,
        below=34,
    )
    top = max(max(row.probs) for row in shown)
    top = max(top, *(_others(place, stage, shown) for place, stage in enumerate(stages)), 1e-9)
    for place, stage in enumerate(stages):
        _add_panel(sheet, lab, place, stage, shown)
        _add_axis(sheet, place, len(stages), top)
        _add_head(sheet, lab, place, stage, len(stages))
    _mark_crossing(sheet, lab, stages, shown)
    sheet.layout["yaxis"] = _tokens_axis(lab, shown, theme)
    sheet.layout |= {"barmode": "overlay", "bargap": 0.3}
    add_key(sheet, _key(lab, theme), left, offset=8)
    return sheet.figure()


def shown_rows(lab: LabStep, rows: int) -> list[Row]:
    """The likeliest tokens by rank, the chosen one and top-p's last one among them."""
    count = len(shown_stages(lab))
    step = lab.step
    found = {
        candidate.token_id: Row(candidate, tuple(s.probs[place] for s in step.stages[:count]))
        for place, candidate in enumerate(step.candidates)
        if place < max(rows, 1) or candidate.token_id == step.token_id
    }
    if lab.crossing is not None:
        own = lab.crossing.candidate
        found.setdefault(own.token_id, Row(own, lab.crossing.probs[:count]))
    return sorted(found.values(), key=lambda row: row.candidate.rank)


def _others(place: int, stage: Stage, shown: Sequence[Row]) -> float:
    """The mass of the tokens without a row."""
    alive = sum(row.probs[place] > 0 for row in shown)
    return max(0.0, 1 - sum(row.probs[place] for row in shown)) if stage.kept > alive else 0.0


def _add_panel(sheet: Sheet, lab: LabStep, place: int, stage: Stage, shown: Sequence[Row]) -> None:
    theme, chosen = sheet.theme, lab.step.token_id
    alive = [row.probs[place] > 0 for row in shown]
    rest = _others(place, stage, shown)
    others = stage.kept - sum(alive)
    colors = [theme.accent if row.candidate.token_id == chosen else theme.first for row in shown]
    texts = [percent(row.probs[place]) if on else "" for row, on in zip(shown, alive, strict=True)]
    hovers = [_hover(row, stage, place) for row in shown]
    hovers.append(f"<b>{others:,} other tokens</b><br>{percent(rest)}")
    _bars(
        sheet,
        place,
        name=stage.name,
        x=[row.probs[place] for row in shown] + [rest],
        y=list(range(len(shown) + 1)),
        text=[*texts, percent(rest) if others else ""],
        hovertext=hovers,
        marker={"color": [*colors, theme.rest]},
        textfont={"size": 11, "color": theme.ink},
    )
    gone = [at for at, row in enumerate(shown) if _removed_at(row) == place]
    _bars(
        sheet,
        place,
        name=f"removed by {stage.name}",
        x=[shown[at].probs[place - 1] for at in gone],
        y=gone,
        text=["out"] * len(gone),
        hovertext=[_hover(shown[at], stage, place) for at in gone],
        marker={
            "color": theme.paper,
            "pattern": {"shape": "/", "fgcolor": theme.muted, "size": 5, "solidity": 0.25},
            "line": {"width": 1, "color": theme.muted},
        },
        textfont={"size": 11, "color": theme.muted},
    )


def _removed_at(row: Row) -> int | None:
    """The stage that took the token out."""
    return next((at for at, prob in enumerate(row.probs) if at and prob == 0), None)


def _bars(sheet: Sheet, place: int, **properties: object) -> None:
    sheet.traces.append(
        {
            "type": "bar",
            "orientation": "h",
            "xaxis": f"x{place + 1 if place else ''}",
            "yaxis": "y",
            "textposition": "outside",
            "textangle": 0,
            "cliponaxis": False,
            "constraintext": "none",
            "hovertemplate": "%{hovertext}<extra></extra>",
            **properties,
        }
    )


def _hover(row: Row, stage: Stage, place: int) -> str:
    candidate = row.candidate
    name = escaped(stage_name(stage.name))
    gone = _removed_at(row)
    if gone is not None and gone <= place:
        state = f"removed by {escaped(stage_name(candidate.removed_by or stage.name))}"
    else:
        state = f"{name} {percent(row.probs[place])}"
    return (
        f"<b>{show_token(candidate.text, 40)}</b><br>rank {candidate.rank:,} · "
        f"id {candidate.token_id}<br>{state}<br>logit {candidate.logit:.3f}"
    )


def _domain(place: int, count: int) -> tuple[float, float]:
    """A panel's part of the width; all are equally wide, so that equal bars are equal."""
    return place / count, (place + 1 - _GAP) / count


def _add_axis(sheet: Sheet, place: int, count: int, top: float) -> None:
    low, high = _domain(place, count)
    width = _WIDTH_OF_FEW if count <= FEW_PANELS else _WIDTH_OF_MANY
    share = min(_PERCENT_WIDTH * count / (width * (1 - _GAP)), 0.6)
    sheet.layout[f"xaxis{place + 1 if place else ''}"] = axis(
        sheet.theme,
        domain=[low, high],
        range=[0, top / (1 - share)],
        anchor="y",
        showgrid=False,
        showticklabels=False,
        showline=False,
    )
    sheet.shapes.append(
        {
            "name": "zero",
            "type": "line",
            "xref": "paper",
            "yref": "paper",
            "x0": low,
            "x1": low,
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": sheet.theme.grid, "width": 1},
        }
    )


def _add_head(sheet: Sheet, lab: LabStep, place: int, stage: Stage, count: int) -> None:
    """Name, value, removed mass and what is left, above a panel."""
    muted = sheet.theme.muted
    taken = f"−{percent(stage.removed_mass)}" if stage.removed_mass > 0 else ""
    value = setting(stage.name, lab)
    if place == 0:
        taken = NBSP
    lines = [
        f"<b>{escaped(short_name(stage.name))}</b>",
        escaped(value) or NBSP,
        taken or f'<span style="color:{muted}">none out</span>',
        f'<span style="color:{muted}">{stage.kept:,}{NBSP}left</span>',
    ]
    sheet.annotations.append(
        {
            "name": "head",
            "text": "<br>".join(lines),
            "xref": "paper",
            "yref": "paper",
            "x": _domain(place, count)[0],
            "y": 1,
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 4,
            "borderpad": 0,
            "borderwidth": 0,
            "showarrow": False,
            "align": "left",
            "font": {"size": 12, "color": sheet.theme.ink},
        }
    )


def _mark_crossing(
    sheet: Sheet, lab: LabStep, stages: Sequence[Stage], shown: Sequence[Row]
) -> None:
    """A line below the last token that top-p kept, across its panel."""
    at = next((place for place, stage in enumerate(stages) if stage.name == "top_p"), None)
    if at is None or lab.crossing is None:
        return
    ids = [row.candidate.token_id for row in shown]
    low, high = _domain(at, len(stages))
    y = ids.index(lab.crossing.candidate.token_id) + 0.5
    line = {"color": sheet.theme.ink, "width": 1.5, "dash": "dot"}
    place = {"xref": "paper", "x0": low, "x1": high, "y0": y, "y1": y}
    sheet.shapes.append({"name": "crossing", "type": "line", "line": line, **place})
    sheet.annotations.append(
        {
            "name": "crossing",
            "text": f"p{NBSP}reached",
            "xref": "paper",
            "x": high,
            "y": y,
            "xanchor": "right",
            # Below is the bar of all others where the crossing is the last row: room is above.
            "yanchor": "bottom" if ids[-1] == lab.crossing.candidate.token_id else "top",
            "borderpad": 0,
            "showarrow": False,
            "font": {"size": 10, "color": sheet.theme.ink},
        }
    )


def _tokens_axis(lab: LabStep, shown: Sequence[Row], theme: Theme) -> Properties:
    digits = max(len(str(row.candidate.rank)) for row in shown)
    return axis(
        theme,
        "token and its rank",
        range=[len(shown) + 0.5, -0.5],
        showgrid=False,
        showline=False,
        tickmode="array",
        tickvals=list(range(len(shown) + 1)),
        ticktext=[*(_tick(lab, row, digits, theme) for row in shown), f"others{NBSP}"],
        tickfont={"family": theme.mono, "size": 12, "color": theme.ink},
    )


def _tick(lab: LabStep, row: Row, digits: int, theme: Theme) -> str:
    token = show_token(row.candidate.text, _LABEL_LIMIT)
    if row.candidate.token_id == lab.step.token_id:
        token = f'<span style="color:{theme.accent_text()};font-weight:700">{token}</span>'
    elif row.candidate.removed_by is not None:
        token = f'<span style="color:{theme.muted}">{token}</span>'
    rank = str(row.candidate.rank).rjust(digits).replace(" ", NBSP)
    return f'{token} <span style="color:{theme.muted};font-size:10px">{rank}</span> '


def _subtitle(lab: LabStep) -> str:
    if lab.crossing is None:
        return "One row a token, one panel a stage; all panels share one scale."
    own = lab.crossing
    return (
        f"Top-p {setting('top_p', lab)} is reached at {show_token(own.candidate.text, 16)}: "
        f"{100 * own.before:.2f} to {100 * own.after:.2f}{NBSP}% of all."
    )


def _key(lab: LabStep, theme: Theme) -> list[str]:
    keys = [key_entry(theme.first, "can be drawn"), key_entry(theme.accent, "drawn")]
    if any(stage.removed_mass > 0 for stage in lab.step.stages):
        keys.append(key_entry(theme.muted, "removed here, with what it had", "▨"))
    return ["".join(keys)]


def _alt(lab: LabStep, stages: Sequence[Stage]) -> str:
    ways = "; ".join(
        f"{stage_name(stage.name)} {setting(stage.name, lab)}: {percent(stage.removed_mass)} "
        f"removed, {stage.kept} tokens left"
        for stage in stages
    )
    chosen = lab.step.chosen
    text = (
        f"Bar charts of one step's tokens after every stage, in the order of {lab.order.label}. "
        f"{ways}. Drawn: {visible_token(chosen.text, 24)}, rank {chosen.rank}, "
        f"{percent(chosen.raw_prob)} at first, {percent(chosen.prob)} in the end."
    )
    return text.replace(NBSP, " ")


def lab_stages_data(lab: LabStep, *, rows: int = 20) -> pd.DataFrame:
    """Every stage's probability of every shown token; a row without token id for all others."""
    shown = shown_rows(lab, rows)
    records: list[tuple[object, ...]] = []
    last = lab.crossing.candidate.token_id if lab.crossing else None
    for place, stage in enumerate(shown_stages(lab)):
        head = (stage.name, getattr(lab.config.shaping, stage.name, None))
        tail = (stage.kept, stage.removed_mass)
        for row in shown:
            own = row.candidate
            who = (own.rank, own.token_id, table_text(own.text), own.token_id == lab.step.token_id)
            crossed = stage.name == "top_p" and own.token_id == last
            records.append((*head, *who, row.probs[place], *tail, crossed))
        rest = _others(place, stage, shown)
        records.append((*head, None, None, None, False, rest, *tail, False))
    frame = pd.DataFrame(records, columns=list(COLUMNS))
    return frame.astype({"token_id": "Int64", "rank": "Int64"})
