"""The draw of one step: where the number fell, or which noisy score won."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import pandas as pd
import plotly.graph_objects as go

from core.decoding.lab.types import LabStep
from core.figures.base.axes import add_key, axis, key_entry, label_bar
from core.figures.base.labels import (
    NBSP,
    percent,
    percent_ticks,
    show_token,
    table_text,
    visible_token,
)
from core.figures.base.sheet import EDGE, Properties, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.decode.draw import drawn_segments, scored
from core.figures.decode.stage_bars import token_palette
from core.figures.lab.words import lab_caption

# A token's place among the candidates (None: the others), where its piece begins, its share.
Piece: TypeAlias = tuple[int | None, float, float]
_ROW, _BAR, _SCORE_ROW = 64, 0.46, 30
_TITLES = {
    "inverse_cdf": "Where the number falls",
    "gumbel": "Noise, and the highest score",
    "multinomial": "Quotients, and the highest",
}
# Segments of this share have room for a percentage too.
_WIDE = 0.24


def lab_draw(lab: LabStep, *, theme: Theme = LIGHT) -> go.Figure:
    """How the dice chose: a number on the cumulative bar, or a noisy score for each token."""
    if lab.step.draw.method == "argmax":
        sentence = (
            "Temperature 0 draws nothing: the most probable token is taken, "
            f"{visible_token(lab.step.chosen.text, 24)}."
        )
        return plain_sentence(theme, sentence, title="No dice", caption=lab_caption(lab))
    if lab.draw == "inverse_cdf":
        return _cumulative(lab, theme)
    return _scores(lab, theme)


def _cumulative(lab: LabStep, theme: Theme) -> go.Figure:
    step = lab.step
    sheet = Sheet(theme)
    lay_out(
        sheet,
        title=_TITLES["inverse_cdf"],
        subtitle="Tokens by falling probability, end to end. The number stays; the bar moves.",
        caption=lab_caption(lab),
        alt=_alt(lab),
        plot_height=_ROW * 2 + 18,
        left=EDGE + 2,
        right=EDGE + 8,
        below=42,
    )
    bars = [_raw_segments(lab), drawn_segments(step)]
    colors = token_palette(step, step.stages, theme)
    sheet.traces = [_tokens(lab, colors, bars, theme), _others(bars, theme)]
    chosen, raw = show_token(step.chosen.text, 14), show_token(lab.raw_pick.text, 14)
    for row, (name, token) in enumerate((("the model's own", raw), ("after the knobs", chosen))):
        label_bar(sheet, row - _BAR / 2, f"<b>{name}</b>", yshift=-1)
        mono = f'<span style="font-family:{theme.mono};font-weight:700">{token}</span>'
        label_bar(sheet, row - _BAR / 2, f"falls on {mono}", right=True, yshift=-1)
    _mark_number(sheet, lab)
    sheet.layout |= {
        "barmode": "overlay",
        "bargap": 0,
        "uniformtext": {"minsize": 10, "mode": "hide"},
        "xaxis": axis(
            theme,
            "cumulative probability",
            **{"range": [0, 1], "showgrid": False, **percent_ticks(1.0)},
        ),
        "yaxis": axis(
            theme,
            range=[1.6, -0.62],
            showgrid=False,
            showline=False,
            showticklabels=False,
        ),
    }
    return sheet.figure()


def _raw_segments(lab: LabStep) -> list[Piece]:
    """(candidate or None, low, share) of the model's own distribution, by rank."""
    pieces: list[Piece] = []
    at = 0.0
    known = [p for p, c in enumerate(lab.step.candidates) if c.rank == p + 1]
    for place in known:
        prob = lab.step.candidates[place].raw_prob
        pieces.append((place, at, prob))
        at += prob
    return [*pieces, (None, at, max(0.0, 1 - at))]


def _tokens(
    lab: LabStep, colors: dict[int, str], bars: Sequence[Sequence[Piece]], theme: Theme
) -> Properties:
    """The candidates' pieces in both bars."""
    own = [
        (row, place, low, share)
        for row, bar in enumerate(bars)
        for place, low, share in bar
        if place is not None
    ]
    shown = [lab.step.candidates[place].text for _, place, _, _ in own]
    fills = [colors[place] for _, place, _, _ in own]
    return {
        **_pieces([(row, low, share) for row, _, low, share in own]),
        "name": "tokens",
        "text": [_segment_text(text, piece[3]) for text, piece in zip(shown, own, strict=True)],
        "textfont": {
            "family": theme.mono,
            "size": 12,
            "color": [theme.text_on(color) for color in fills],
        },
        "hovertext": [
            f"<b>{show_token(text, 40)}</b><br>{percent(share)}, from {percent(low)}"
            for text, (_, _, low, share) in zip(shown, own, strict=True)
        ],
        "marker": {"color": fills, "line": {"color": theme.paper, "width": 0.8}},
    }


def _others(bars: Sequence[Sequence[Piece]], theme: Theme) -> Properties:
    """The pieces of all other tokens, hatched."""
    own = [(row, low, share) for row, bar in enumerate(bars) for p, low, share in bar if p is None]
    pattern = {"shape": "/", "fgcolor": theme.rest, "solidity": 0.15}
    return {
        **_pieces(own),
        "name": "other tokens",
        "text": ["other tokens"] * len(own),
        "textfont": {"size": 12, "color": theme.muted},
        "hovertext": [f"<b>other tokens</b><br>{percent(share)}" for _, _, share in own],
        "marker": {
            "color": theme.panel,
            "line": {"color": theme.paper, "width": 0.8},
            "pattern": pattern,
        },
    }


def _pieces(own: Sequence[tuple[int, float, float]]) -> Properties:
    """Bars of (row, low, share)."""
    return {
        "type": "bar",
        "orientation": "h",
        "y": [row for row, _, _ in own],
        "base": [low for _, low, _ in own],
        "x": [share for _, _, share in own],
        "width": _BAR,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _segment_text(text: str, share: float) -> str:
    return f"{show_token(text, 9)} {percent(share)}" if share >= _WIDE else show_token(text, 10)


def _mark_number(sheet: Sheet, lab: LabStep) -> None:
    """A line through each bar at the same place, and the number below them."""
    number = lab.step.draw.uniform
    if number is None:
        return
    line = {"color": sheet.theme.ink, "width": 2.5}
    for row in (0, 1):
        place = {"x0": number, "x1": number, "y0": row - _BAR / 2, "y1": row + _BAR / 2 + 0.06}
        sheet.shapes.append({"name": "uniform", "type": "line", "line": line, **place})
    side = "left" if number < 0.12 else "right" if number > 0.88 else "center"
    texts = {
        "left": f"<b>▲ {number:.4f}</b>",
        "right": f"<b>{number:.4f} ▲</b>",
        "center": f"▲<br><b>{number:.4f}</b>",
    }
    sheet.annotations.append(
        {
            "name": "uniform",
            "text": texts[side],
            "x": number,
            "y": 1 + _BAR / 2,
            "xanchor": side,
            "yanchor": "top",
            "xshift": {"left": -6, "right": 6, "center": 0}[side],
            "borderpad": 0,
            "showarrow": False,
            "font": {"size": 12, "color": sheet.theme.ink},
        }
    )


def _scores(lab: LabStep, theme: Theme) -> go.Figure:
    step, items = lab.step, scored(lab.step)
    gumbel = lab.draw == "gumbel"
    sheet = Sheet(theme)
    left = 112
    lay_out(
        sheet,
        title=_TITLES[lab.draw],
        subtitle=(
            "Every token gets Gumbel noise on its ln p; the highest sum is drawn."
            if gumbel
            else "Every p is divided by an exponential number; the highest quotient is drawn."
        ),
        caption=lab_caption(lab),
        alt=_alt(lab),
        plot_height=_SCORE_ROW * max(len(items), 1),
        left=left,
        right=EDGE + 52,
        below=66,
    )
    candidates = [step.candidates[item.candidate] for item in items]
    won = [candidate.token_id == step.token_id for candidate in candidates]
    names = [show_token(candidate.text, 11) for candidate in candidates]
    if gumbel:
        _gumbel_bars(sheet, items, won)
    else:
        _race_bars(sheet, items, won)
    sheet.layout["yaxis"] = axis(
        theme,
        range=[len(items) - 0.5, -0.5],
        showgrid=False,
        showline=False,
        tickmode="array",
        tickvals=list(range(len(items))),
        ticktext=[
            f'<span style="color:{theme.accent_text()};font-weight:700">{name}</span> '
            if first
            else f"{name} "
            for name, first in zip(names, won, strict=True)
        ],
        tickfont={"family": theme.mono, "size": 12, "color": theme.ink},
    )
    sheet.layout |= {"barmode": "overlay", "bargap": 0.35}
    words = "noise added" if gumbel else "p ÷ exponential number"
    keys = [
        key_entry(theme.rest, "ln p" if gumbel else "p"),
        key_entry(theme.first, words),
        key_entry(theme.accent, "drawn"),
    ]
    add_key(sheet, ["".join(keys)], left, offset=46)
    return sheet.figure()


def _gumbel_bars(sheet: Sheet, items: Sequence[object], won: Sequence[bool]) -> None:
    """From the axis' low end to ln p in grey, from there to the score in colour."""
    theme = sheet.theme
    logs = [item.log_prob for item in items]  # type: ignore[attr-defined]
    sums = [item.score for item in items]  # type: ignore[attr-defined]
    low, high = min([*logs, *sums], default=0.0), max([*logs, *sums], default=1.0)
    floor = low - 0.08 * max(high - low, 1.0)
    rows = list(range(len(items)))
    colors = [theme.accent if first else theme.first for first in won]
    texts = [f"{value:.2f}".replace("-", "−") for value in sums]
    sheet.traces += [
        {
            **_bar(rows),
            "name": "ln p",
            "base": [floor] * len(rows),
            "x": [value - floor for value in logs],
            "marker": {"color": theme.rest},
            "hovertext": [f"ln p {value:.3f} nats" for value in logs],
        },
        {
            **_bar(rows),
            "name": "noise",
            "base": logs,
            "x": [total - value for total, value in zip(sums, logs, strict=True)],
            "width": 0.34,
            "marker": {"color": colors},
            "hovertext": [
                f"noise {total - value:+.3f}, score {total:.3f} nats"
                for total, value in zip(sums, logs, strict=True)
            ],
        },
        _numbers(rows, [max(a, b) for a, b in zip(sums, logs, strict=True)], texts, theme),
    ]
    across = {"range": [floor, high], "nticks": 6}
    sheet.layout["xaxis"] = axis(theme, "ln p and score, nats", **across)


def _race_bars(sheet: Sheet, items: Sequence[object], won: Sequence[bool]) -> None:
    """p in grey, and p divided by its exponential number in colour."""
    theme = sheet.theme
    probs = [math.exp(item.log_prob) for item in items]  # type: ignore[attr-defined]
    quotients = [math.exp(item.score) for item in items]  # type: ignore[attr-defined]
    rows = list(range(len(items)))
    colors = [theme.accent if first else theme.first for first in won]
    sheet.traces += [
        {
            **_bar(rows),
            "name": "quotient",
            "x": quotients,
            "marker": {"color": colors},
            "hovertext": [
                f"{p:.4f} ÷ {p / q:.4f} = {q:.4f}" for p, q in zip(probs, quotients, strict=True)
            ],
        },
        {
            **_bar(rows),
            "name": "p",
            "x": probs,
            "width": 0.26,
            "marker": {"color": theme.rest, "line": {"color": theme.paper, "width": 1}},
            "hovertext": [f"p {percent(p)}" for p in probs],
        },
        _numbers(
            rows,
            [max(a, b) for a, b in zip(quotients, probs, strict=True)],
            [f"{q:.3g}" for q in quotients],
            theme,
        ),
    ]
    top = max([*quotients, *probs], default=1.0)
    sheet.layout["xaxis"] = axis(theme, "p, and p ÷ E", range=[0, top], nticks=6)


def _bar(rows: Sequence[int]) -> Properties:
    return {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _numbers(
    rows: Sequence[int], ends: Sequence[float], texts: Sequence[str], theme: Theme
) -> Properties:
    return {
        "type": "scatter",
        "name": "scores",
        "mode": "text",
        "x": ends,
        "y": rows,
        "text": [f"{NBSP}{text}" for text in texts],
        "textposition": "middle right",
        "textfont": {"size": 11, "color": theme.ink, "family": theme.mono},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _alt(lab: LabStep) -> str:
    chosen, raw = lab.step.chosen, lab.raw_pick
    number = lab.step.draw.uniform
    how = (
        f"The number {number:.4f} on the cumulative bar"
        if number is not None
        else f"Throw {lab.throw} by {lab.draw}"
    )
    text = (
        f"{how} picks {visible_token(chosen.text, 24)}, with a probability of "
        f"{percent(chosen.prob)}. The same dice on the model's own distribution pick "
        f"{visible_token(raw.text, 24)}, with {percent(raw.raw_prob)}."
    )
    return text.replace(NBSP, " ")


def lab_draw_data(lab: LabStep) -> pd.DataFrame:
    """Every candidate with its probabilities and what the dice gave it."""
    step = lab.step
    scores = step.draw.scores or (None,) * len(step.candidates)
    lows = {place: low for place, low, _ in drawn_segments(step) if place is not None}
    records = [
        (
            c.rank,
            c.token_id,
            table_text(c.text),
            c.token_id == step.token_id,
            c.raw_prob,
            c.prob,
            lows.get(place),
            score,
            step.draw.uniform,
        )
        for place, (c, score) in enumerate(zip(step.candidates, scores, strict=True))
    ]
    names = "rank token_id token drawn raw_prob final_prob cumulative_from score uniform".split()
    return pd.DataFrame(records, columns=names)
