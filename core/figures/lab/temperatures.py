"""Temperature sweep: the final distribution at every temperature, with its entropy below."""

from __future__ import annotations

from ...decoding.lab.types import LabStep, Sweep
from ...language import N_, tr
from ..base.axes import axis, bare_axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.grid import probability_cells
from ..base.labels import lines, percent, show_token, table_text, visible_token
from ..base.marks import add_line, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.records import chosen_label, widest
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import lab_caption, number

_LABEL_LIMIT = 12
_ENTROPY, _GAP = 96, 26


@table("temperature entropy tokens_left rank token_id token prob")
def lab_sweep_data(sweep: Sweep) -> TableRows:
    """Return a row for each temperature and token."""
    for at, value in enumerate(sweep.temperatures):
        for candidate, probs in zip(sweep.candidates, sweep.probs, strict=True):
            yield (
                value,
                sweep.entropies[at],
                sweep.kept[at],
                candidate.rank,
                candidate.token_id,
                table_text(candidate.text),
                probs[at],
            )


@figure(
    N_("Temperature sweep"),
    lab_caption,
    lab_sweep_data,
    subtitle=lambda theme: tr(
        "The {hue} is a token's probability at this temperature, with the other knobs as they are. "
        "Removed tokens are empty.",
        hue=tr(theme.hue),
    ),
    alt=lambda sweep: (
        tr(
            "Heatmap of {tokens} tokens' probability over temperature, the likeliest being "
            "{token}, with the entropy below:",
            tokens=len(sweep.candidates),
            token=visible_token(sweep.candidates[0].text, 24),
        ),
        tr("; ").join(
            tr(
                "at {temperature} the entropy is {entropy:.2f} nats and {kept} tokens can be drawn",
                temperature=number(sweep.temperatures[at]),
                entropy=sweep.entropies[at],
                kept=sweep.kept[at],
            )
            for at in (0, -1)
        )
        + tr("."),
    ),
    key=lambda theme: [[(theme.ink, tr("the knob"), "┃")]],
)
def lab_sweep(
    lab: LabStep, sweep: Sweep, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw tokens down, temperatures across, colours for final probabilities, and the entropy
    below.
    """
    if not sweep.temperatures:
        return tr("No temperature was tried.")
    columns = widest((c.text for c in sweep.candidates), _LABEL_LIMIT)
    left = 34 + round(7.2 * max(columns, 6))
    height = 24 * len(sweep.candidates) + _GAP + _ENTROPY
    now = lab.config.shaping.temperature
    sheet = Sheet(
        theme,
        paper,
        plot_height=height,
        left=left,
        right=EDGE + 6,
        below=66,
        key_offset=44,
        layout=_axes(lab, sweep, height, theme),
    )
    sheet.traces = [
        _heat(sheet, sweep),
        {
            "type": "scatter",
            "name": "entropy",
            "mode": "lines",
            "x": list(sweep.temperatures),
            "y": list(sweep.entropies),
            "line": {"color": theme.second, "width": 2.5},
            **hover_texts(
                [
                    lines(
                        tr("temperature {temperature:g}", temperature=t),
                        tr("entropy {entropy:.3f} nats", entropy=h),
                        tr("{count:,} tokens can be drawn", count=count),
                    )
                    for t, h, count in zip(
                        sweep.temperatures, sweep.entropies, sweep.kept, strict=True
                    )
                ]
            ),
            "cliponaxis": False,
        },
    ]
    if sweep.temperatures[0] <= now <= sweep.temperatures[-1]:
        add_line(sheet, "now", now, (0, 1), theme.ink, 2, yref="paper")
    return sheet


def _heat(sheet: Sheet, sweep: Sweep) -> Properties:
    hovers = [
        [
            lines(
                f"<b>{show_token(candidate.text, 40)}</b>",
                tr("temperature {temperature:g}", temperature=value),
                percent(prob) if prob > 0 else tr("removed"),
            )
            for value, prob in zip(sweep.temperatures, probs, strict=True)
        ]
        for candidate, probs in zip(sweep.candidates, sweep.probs, strict=True)
    ]
    cells = [[prob if prob > 0 else None for prob in row] for row in sweep.probs]
    return {
        **probability_cells(sheet, sweep.temperatures, cells, left=0, offset=48),
        **hover_texts(hovers),
        "xgap": 0,
        "ygap": 2,
        "xaxis": "x2",
        "yaxis": "y2",
        "hoverongaps": True,
    }


def _axes(lab: LabStep, sweep: Sweep, height: int, theme: Theme) -> Properties:
    """Return the axes of tokens over temperatures above and of the entropy below, for a height in
    px.
    """
    temperatures = sweep.temperatures
    step = temperatures[1] - temperatures[0] if len(temperatures) > 1 else 1.0
    across = [temperatures[0] - step / 2, temperatures[-1] + step / 2]
    names = [
        f"{chosen_label(show_token(c.text, _LABEL_LIMIT), theme, c.token_id == lab.step.token_id)} "
        for c in sweep.candidates
    ]
    return {
        "xaxis": axis(theme, tr("temperature"), 12, range=across, nticks=9),
        "xaxis2": bare_axis(theme, range=across, anchor="y2"),
        "yaxis2": named_axis(
            theme,
            names,
            anchor="x2",
            showline=False,
            range=[len(names) - 0.5, -0.5],
            domain=[(_ENTROPY + _GAP) / height, 1],
        ),
        "yaxis": axis(
            theme,
            tr("entropy, nats"),
            nticks=4,
            range=[0, 1.08 * max(*sweep.entropies, 0.1)],
            domain=[0, _ENTROPY / height],
        ),
    }
