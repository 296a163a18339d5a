"""The final distribution at every temperature, with its entropy below."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.decoding.lab.types import LabStep, Sweep
from core.figures.base.axes import add_key, axis, key_entry
from core.figures.base.grid import probability_bar
from core.figures.base.labels import (
    NBSP,
    percent,
    show_token,
    table_text,
    text_columns,
    visible_token,
)
from core.figures.base.sheet import EDGE, Properties, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.lab.words import lab_caption, number

_TITLE = "From cold to hot"
_ROW, _LABEL_LIMIT = 24, 12
_ENTROPY, _GAP = 96, 26


def lab_sweep(lab: LabStep, sweep: Sweep, *, theme: Theme = LIGHT) -> go.Figure:
    """Tokens down, temperature across, colour for the probability drawn from; entropy below."""
    if not sweep.temperatures:
        sentence = "No temperature was tried."
        return plain_sentence(theme, sentence, title=_TITLE, caption=lab_caption(lab))
    sheet = Sheet(theme)
    columns = max(text_columns(visible_token(c.text, _LABEL_LIMIT)) for c in sweep.candidates)
    left = 34 + round(7.2 * max(columns, 6))
    rows = _ROW * len(sweep.candidates)
    height = rows + _GAP + _ENTROPY
    lay_out(
        sheet,
        title=_TITLE,
        subtitle="Colour: what each token is drawn with at this temperature, "
        "the other knobs as they are. Empty: removed.",
        caption=lab_caption(lab),
        alt=_alt(sweep),
        plot_height=height,
        left=left,
        right=EDGE + 6,
        below=66,
    )
    bottom = _ENTROPY / height
    sheet.traces = [_heat(sheet, sweep), _line(sweep, theme)]
    _mark_now(sheet, lab, sweep)
    step = _step(sweep)
    across = [sweep.temperatures[0] - step / 2, sweep.temperatures[-1] + step / 2]
    mono = {"family": theme.mono, "size": 12}
    sheet.layout |= {
        "xaxis": axis(theme, "temperature", 12, range=across, nticks=9),
        "xaxis2": axis(
            theme, range=across, anchor="y2", showgrid=False, showline=False, showticklabels=False
        ),
        "yaxis2": axis(
            theme,
            range=[len(sweep.candidates) - 0.5, -0.5],
            anchor="x2",
            domain=[(_ENTROPY + _GAP) / height, 1],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=list(range(len(sweep.candidates))),
            ticktext=[_tick(lab, place, sweep, theme) for place in range(len(sweep.candidates))],
            tickfont={**mono, "color": theme.ink},
        ),
        "yaxis": axis(
            theme,
            "entropy, nats",
            domain=[0, bottom],
            range=[0, 1.08 * max(*sweep.entropies, 0.1)],
            nticks=4,
        ),
    }
    add_key(sheet, [key_entry(theme.ink, "the knob", "┃")], left, offset=44)
    return sheet.figure()


def _step(sweep: Sweep) -> float:
    temperatures = sweep.temperatures
    return temperatures[1] - temperatures[0] if len(temperatures) > 1 else 1.0


def _heat(sheet: Sheet, sweep: Sweep) -> Properties:
    return {
        "type": "heatmap",
        "name": "probability",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": list(sweep.temperatures),
        "y": list(range(len(sweep.candidates))),
        "z": [[prob if prob > 0 else None for prob in row] for row in sweep.probs],
        "zmin": 0,
        "zmax": 1,
        "colorscale": sheet.theme.colorscale(),
        "xgap": 0,
        "ygap": 2,
        "hovertext": [
            [_hover(place, at, sweep) for at in range(len(sweep.temperatures))]
            for place in range(len(sweep.candidates))
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": True,
        "showscale": True,
        "colorbar": probability_bar(sheet, left=0, offset=48),
    }


def _hover(place: int, at: int, sweep: Sweep) -> str:
    prob = sweep.probs[place][at]
    state = percent(prob) if prob > 0 else "removed"
    token = show_token(sweep.candidates[place].text, 40)
    return f"<b>{token}</b><br>temperature {sweep.temperatures[at]:g}<br>{state}"


def _line(sweep: Sweep, theme: Theme) -> Properties:
    return {
        "type": "scatter",
        "name": "entropy",
        "mode": "lines",
        "x": list(sweep.temperatures),
        "y": list(sweep.entropies),
        "line": {"color": theme.first, "width": 2.5},
        "hovertext": [
            f"temperature {t:g}<br>entropy {h:.3f} nats<br>{kept:,} tokens can be drawn"
            for t, h, kept in zip(sweep.temperatures, sweep.entropies, sweep.kept, strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "cliponaxis": False,
    }


def _mark_now(sheet: Sheet, lab: LabStep, sweep: Sweep) -> None:
    now = lab.config.shaping.temperature
    if not sweep.temperatures[0] <= now <= sweep.temperatures[-1]:
        return
    line = {"color": sheet.theme.ink, "width": 2}
    place = {"x0": now, "x1": now, "y0": 0, "y1": 1, "yref": "paper"}
    sheet.shapes.append({"name": "now", "type": "line", "line": line, **place})


def _tick(lab: LabStep, place: int, sweep: Sweep, theme: Theme) -> str:
    candidate = sweep.candidates[place]
    token = show_token(candidate.text, _LABEL_LIMIT)
    if candidate.token_id == lab.step.token_id:
        token = f'<span style="color:{theme.accent_text()};font-weight:700">{token}</span>'
    return f"{token} "


def _alt(sweep: Sweep) -> str:
    ends: Sequence[int] = (0, len(sweep.temperatures) - 1)
    words = "; ".join(
        f"at {number(sweep.temperatures[at])} the entropy is {sweep.entropies[at]:.2f} nats and "
        f"{sweep.kept[at]} tokens can be drawn"
        for at in ends
    )
    top = visible_token(sweep.candidates[0].text, 24)
    return (
        f"Heatmap of {len(sweep.candidates)} tokens' probability over temperature, the likeliest "
        f"being {top}, with the entropy below: {words}."
    ).replace(NBSP, " ")


def lab_sweep_data(sweep: Sweep) -> pd.DataFrame:
    """A row for each temperature and token."""
    names = "temperature entropy tokens_left rank token_id token prob".split()
    records = [
        (
            value,
            sweep.entropies[at],
            sweep.kept[at],
            candidate.rank,
            candidate.token_id,
            table_text(candidate.text),
            sweep.probs[place][at],
        )
        for at, value in enumerate(sweep.temperatures)
        for place, candidate in enumerate(sweep.candidates)
    ]
    return pd.DataFrame(records, columns=names)
