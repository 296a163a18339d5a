"""One measure of two runs along their steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from ...decoding.comparison.measures import PairMeasures, StepMeasures
from ...decoding.counting import counted, nth
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import lines, plain_name, settings_caption, show_token, table_text
from ..base.marks import add_frame, add_line, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import KeyLine, Properties, Sheet
from ..base.theme import LIGHT, Theme

PairMeasure: TypeAlias = Literal["entropy", "surprisal", "kl", "variation"]
MEASURES: dict[PairMeasure, str] = {
    "entropy": N_("Entropy"),
    "surprisal": N_("Surprisal"),
    "kl": N_("KL divergence"),
    "variation": N_("Total variation"),
}
_UNITS: dict[PairMeasure, str] = {
    "entropy": N_("entropy, nats"),
    "surprisal": N_("surprisal, nats"),
    "kl": N_("KL divergence, nats"),
    "variation": N_("total variation"),
}
_TITLES: dict[PairMeasure, str] = {
    "entropy": N_("Entropy of both runs"),
    "surprisal": N_("Surprisal of both runs"),
    "kl": N_("Divergence of the two runs"),
    "variation": N_("Total variation of the two runs"),
}
_OF = {"raw": N_("the models’ own distributions"), "final": N_("the distributions drawn from")}


class Line(NamedTuple):
    """A line of the figure: its name, its colour, its mark and a value a step; None for none."""

    name: str
    color: str
    symbol: str
    values: Sequence[float | None]


@table(
    "step left_token right_token left_entropy right_entropy left_surprisal right_surprisal "
    "kl_left_right kl_right_left total_variation"
)
def pair_lines_data(measures: PairMeasures) -> TableRows:
    """All measures of every step, in nats, with the tokens' raw text; an infinite one is `inf`."""
    for step in measures.steps:
        tokens = [None if text is None else table_text(text) for text in step.tokens]
        divergence = step.divergence or (None, None, None)
        yield (nth(step.at), *tokens, *step.entropy, *step.surprisal, *divergence)


def captions(left: Trace, right: Trace, paper: Paper) -> str:
    """Return the settings of both runs, a line each."""
    return "\n".join(
        f"{name}: {settings_caption(trace, paper)}" for name, trace in (("A", left), ("B", right))
    )


def _meaning(measures: PairMeasures, measure: PairMeasure) -> str:
    if measure in ("entropy", "surprisal"):
        return (
            tr("Each run is measured along its own text.")
            if measures.text == "own"
            else tr("Both models read the text of {name}.", name=_name(measures))
        )
    of = _OF[measures.distribution]
    if measures.exact:
        by = tr(" and ").join(dict.fromkeys(plain_name(name, 40) for name in measures.readers))
        return tr(
            "Over all tokens, of {distribution} at the text of {name}, read by {by}.",
            distribution=tr(of),
            name=_name(measures),
            by=by,
        )
    return tr(
        "The values are lower bounds, from the recorded candidates of {distribution}.",
        distribution=tr(of),
    )


def _name(measures: PairMeasures) -> str:
    return "B" if measures.text == "right" else "A"


def _key(
    drawn: Sequence[Line], parted_at: int | None, infinite: bool, theme: Theme
) -> list[KeyLine]:
    return [
        [
            *((line.color, line.name, "◆" if line.symbol == "diamond" else "●") for line in drawn),
            parted_at is not None and (theme.ink, tr("first different token"), "┆"),
            infinite and (theme.ink, tr("infinite"), "△"),
        ]
    ]


def _alt(measure: PairMeasure, drawn: Sequence[Line], measures: PairMeasures) -> list[str]:
    steps = counted(len(measures.steps), "step")
    said = [tr("{measure} at {steps}.", measure=tr(_TITLES[measure]), steps=steps)]
    for line in drawn:
        known = [value for value in line.values if value is not None]
        values = [value for value in known if math.isfinite(value)]
        parts = []
        if values:
            parts.append(
                tr(
                    "mean {mean:.3g}, most {most:.3g}",
                    mean=sum(values) / len(values),
                    most=max(values),
                )
            )
        if infinite := len(known) - len(values):
            parts.append(
                tr("infinite at {steps}, outside the mean", steps=counted(infinite, "step"))
            )
        if parts:
            said.append(f"{line.name}: {'; '.join(parts)}.")
    if measures.parted_at is not None:
        said.append(tr("The tokens differ from step {step} on.", step=nth(measures.parted_at)))
    return said


@figure(
    N_("Measures of the two runs"),
    captions,
    pair_lines_data,
    subtitle=_meaning,
    alt=_alt,
    key=lambda theme, drawn, measures, infinite: _key(drawn, measures.parted_at, infinite, theme),
)
def pair_lines(
    left: Trace,
    right: Trace,
    measures: PairMeasures,
    *,
    measure: PairMeasure = "entropy",
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Entropy, surprisal, KL divergence or total variation of two runs, a step each.

    A click on a point hands over `customdata = [step index]`.
    """
    steps = measures.steps
    if not steps:
        return tr("These runs record no single steps: read them with their models first.")
    drawn = _lines(steps, measure, theme)
    known = [value for line in drawn for value in line.values if value is not None]
    if not known:
        if measures.other_tokens:
            reason = measures.other_tokens
            return tr("These runs have different tokens: {reason}.", reason=reason)
        return tr("No step of these runs has this measure in both.")
    finite = [value for value in known if math.isfinite(value)]
    top = 1.0 if measure == "variation" or not finite else max(1e-9, *finite) * 1.08
    last = len(steps)
    sheet = Sheet(
        theme,
        paper,
        title=tr(_TITLES[measure]),
        facts={"drawn": drawn, "infinite": len(finite) < len(known)},
        plot_height=190,
        left=56,
        right=18,
        above=8,
        below=60,
        key_offset=42,
        traces=[_trace(line, steps, measure, top) for line in drawn],
        layout={
            "showlegend": False,
            "xaxis": axis(
                theme,
                tr("step"),
                6,
                range=[0.3, max(last, 8) + 0.7],
                showgrid=False,
                nticks=12,
            ),
            "yaxis": axis(theme, tr(_UNITS[measure]), 6, range=[0, top], nticks=6),
        },
    )
    if measures.parted_at is not None:
        at = nth(measures.parted_at)
        add_line(sheet, "parted", at, (0, top), theme.ink, 1.5, dash="dot", layer="below")
    if selected is not None and paper.selection:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        ends = (selected + 0.5, selected + 1.5)
        add_frame(sheet, "selected", ends, (0, 1), theme.ink, 1.5, **look)
    return sheet


def _lines(steps: Sequence[StepMeasures], measure: PairMeasure, theme: Theme) -> list[Line]:
    if measure in ("entropy", "surprisal"):
        pairs = [step.entropy if measure == "entropy" else step.surprisal for step in steps]
        return [
            Line("A", theme.first, "circle", [pair[0] for pair in pairs]),
            Line("B", theme.second, "diamond", [pair[1] for pair in pairs]),
        ]
    divergences = [step.divergence for step in steps]
    if measure == "variation":
        return [
            Line(tr("A and B"), theme.first, "circle", [d and d.variation for d in divergences])
        ]
    return [
        Line("KL(A ‖ B)", theme.first, "circle", [d and d.left for d in divergences]),
        Line("KL(B ‖ A)", theme.second, "diamond", [d and d.right for d in divergences]),
    ]


def _trace(
    line: Line, steps: Sequence[StepMeasures], measure: PairMeasure, top: float
) -> Properties:
    """Points joined by a line; an infinite one is an open triangle at the upper edge."""
    here = [value is not None and math.isinf(value) for value in line.values]
    hovers = [_hover(line, step, value) for step, value in zip(steps, line.values, strict=True)]
    size = 7 if len(steps) <= 60 else 4
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": line.name,
        "x": [nth(step.at) for step in steps],
        "y": [top if far else value for far, value in zip(here, line.values, strict=True)],
        "line": {"color": line.color, "width": 1.5},
        "marker": {
            "color": line.color,
            "size": size,
            "symbol": ["triangle-up-open" if far else line.symbol for far in here],
        },
        "cliponaxis": False,
        "customdata": [[step.at] for step in steps],
        **hover_texts(hovers),
    }


def _hover(line: Line, step: StepMeasures, value: float | None) -> str:
    shown = [
        f"{name}: {show_token(text, 40)}"
        for name, text in zip("AB", step.tokens, strict=True)
        if text is not None
    ]
    number = (
        tr("not known")
        if value is None
        else tr("infinite")
        if math.isinf(value)
        else f"{value:.4g}"
    )
    return lines(tr("step {number}", number=nth(step.at)), *shown, f"{line.name}: {number}")
