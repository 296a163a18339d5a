"""Layers that DoLa contrasted with along a run."""

from __future__ import annotations

from collections import Counter

from ...decoding.counting import counted, nth
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import lines, settings_caption, show_token, table_text
from ..base.marks import add_frame, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme


def _layer(step: TokenStep) -> int | None:
    """Return the layer of a step; None if it has none."""
    seconds = (stage.second for stage in step.stages if stage.second is not None)
    return next((second.layer for second in seconds if second.layer is not None), None)


@table("step token_id token layer", whole="layer")
def dola_layers_data(trace: Trace) -> TableRows:
    """Return the layer of every step, with the tokens' raw text."""
    for step in trace.token_steps:
        yield (nth(step.index), step.token_id, table_text(step.chosen.text), _layer(step))


@figure(
    N_("Layers that DoLa contrasted"),
    settings_caption,
    dola_layers_data,
    subtitle=N_("The layer whose distribution differed most from the last one's at each step."),
    alt=lambda steps, layers: (
        tr("Layers of {steps}:", steps=counted(len(steps), "step")),
        tr("; ").join(
            tr("layer {layer} at {steps}", layer=layer, steps=counted(n, "step"))
            for layer, n in layers
        )
        + tr("."),
    ),
)
def dola_layers(
    trace: Trace,
    *,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the layer that each step was contrasted with.

    A click on a point hands over `customdata = [step index, token id]`.
    """
    steps = [(step, layer) for step in trace.token_steps if (layer := _layer(step)) is not None]
    if not steps:
        return tr("This run has no layers: set DoLa layers, and press Run.")
    counts = sorted(Counter(layer for _, layer in steps).items())
    most = max(layer for layer, _ in counts)
    ticks = [layer for layer, _ in counts]
    sheet = token_sheet(
        theme,
        paper,
        [(nth(step.index), step.chosen.text) for step, _ in steps],
        axis(
            theme,
            tr("layer"),
            6,
            range=[ticks[0] - 0.7, most + 0.7],
            tickmode="array",
            tickvals=ticks,
            ticktext=[*map(str, ticks)],
        ),
        facts={"steps": steps, "layers": counts},
    )
    hovers = [
        lines(
            f"<b>{show_token(step.chosen.text, 40)}</b>",
            tr("step {number} · layer {layer}", number=nth(step.index), layer=layer),
        )
        for step, layer in steps
    ]
    sheet.traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "layer",
            "x": [nth(step.index) for step, _ in steps],
            "y": [layer for _, layer in steps],
            "line": {"color": theme.grid, "width": 1, "shape": "hvh"},
            "marker": {"color": theme.first, "size": 9 if len(steps) <= 60 else 6},
            "cliponaxis": False,
            "customdata": [[step.index, step.token_id] for step, _ in steps],
            **hover_texts(hovers),
        }
    )
    if selected is not None and paper.selection:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        ends = (selected + 0.5, selected + 1.5)
        add_frame(sheet, "selected", ends, (0, 1), theme.ink, 1.5, **look)
    return sheet
