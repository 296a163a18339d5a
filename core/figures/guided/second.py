"""One step with a second forward: each candidate in both forwards, and after their contrast."""

from __future__ import annotations

from typing import NamedTuple

from ...decoding.counting import nth, span_key
from ...decoding.record.steps import Candidate, Stage, TokenStep
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import CONTRASTS
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    lines,
    percent,
    percent_ticks,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import token_bars
from ..base.paper import SCREEN, Paper
from ..base.records import chosen_label, widest
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

_MOST, _LABEL_LIMIT = 8, 12
# Names of the distributions that a first contrast hands over to a second one.
_AFTER = {
    "guidance_scale": N_("the guided distribution"),
    "dola_layers": N_("DoLa's distribution"),
}


class Contrasted(NamedTuple):
    """A candidate with its probability before the stage, in the second forward, and after it."""

    candidate: Candidate
    model: float
    second: float
    after: float


def _stages(step: TokenStep) -> list[tuple[Stage, Stage]]:
    """Return each stage with a second forward, and the distribution that it contrasts: the model's
    own, or that of the contrast before.
    """
    contrasts = [stage for stage in step.stages if stage.second is not None]
    return list(zip([step.stages[0], *contrasts], contrasts, strict=False))


def _contrasted(step: TokenStep, model: Stage, stage: Stage) -> list[Contrasted]:
    """Return the candidates, the most probable after the stage first."""
    assert stage.second is not None
    rows = zip(step.candidates, model.probs, stage.second.probs, stage.probs, strict=True)
    return sorted((Contrasted(*row) for row in rows), key=lambda row: -row.after)


def _names(model: Stage, stage: Stage) -> tuple[str, str]:
    """Return the names of both forwards."""
    layer = stage.second.layer if stage.second else None
    names = (tr("the prompt"), tr("the negative prompt"))
    if layer is not None:
        names = (tr("the last layer"), tr("layer {layer}", layer=layer))
    elif stage.name == "contrastive_beta":
        names = (tr("the target"), tr("the draft"))
    return tr(_AFTER[model.name]) if model.name in _AFTER else names[0], names[1]


@table("step stage layer token_id token chosen model second after")
def second_forward_data(step: TokenStep | None, trace: Trace) -> TableRows:
    """Return every candidate of the step, with the tokens' raw text."""
    if step is None:
        return
    for model, stage in _stages(step):
        for row in _contrasted(step, model, stage):
            yield (
                nth(step.index),
                stage.name,
                stage.second.layer if stage.second else None,
                row.candidate.token_id,
                table_text(row.candidate.text),
                row.candidate.token_id == step.token_id,
                *row[1:],
            )


@figure(
    N_("Two forwards of a step"),
    settings_caption,
    second_forward_data,
    subtitle=lambda step, names: tr(
        "Step {step}. A token that {first} makes likelier than {second} rises.",
        step=nth(step.index),
        first=names[0],
        second=names[1],
    ),
    alt=lambda step, names, shown: (
        tr(
            "Bar chart of the {count} most probable tokens of step {step}: probability by {first}, "
            "by {second}, and after their contrast:",
            count=len(shown),
            step=nth(step.index),
            first=names[0],
            second=names[1],
        ),
        tr("; ").join(
            f"{visible_token(row.candidate.text, 24)} {percent(row.model)}, {percent(row.second)}, "
            f"{percent(row.after)}"
            for row in shown
        )
        + tr("."),
        tr("Chosen: {token}.", token=visible_token(step.chosen.text, 24)),
    ),
    key=lambda theme, names: [
        [
            (theme.muted, theme.token_words(names[0])),
            (theme.rest, names[1]),
            (theme.ink, tr("after their contrast"), "│"),
            (theme.accent, tr("chosen"), "<b>□</b>"),
        ]
    ],
)
def second_forward(
    step: TokenStep | None,
    trace: Trace,
    *,
    contrast: str = "",
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw candidates as pairs of bars, the model's above and the second forward's below, with a
    mark after the contrast; the chosen one is framed.

    Args:
        contrast: setting of the contrast; empty for the first one of the step.
    """
    stages = [pair for pair in _stages(step) if contrast in ("", pair[1].name)] if step else []
    if step is None or not stages:
        if trace.config.shaping.active(CONTRASTS):
            return tr("No step is selected.")
        return tr("This run has no second forward beside its steps.")
    model, stage = stages[0]
    shown = _contrasted(step, model, stage)[:_MOST]
    most = max(max(row[1:]) for row in shown)
    left = 34 + round(7.2 * widest((row.candidate.text for row in shown), _LABEL_LIMIT))
    return Sheet(
        theme,
        paper,
        meta={"shown": [span_key("step", step.index)]},
        facts={"names": _names(model, stage), "shown": shown},
        plot_height=44 * len(shown),
        left=left,
        right=30,
        above=8,
        below=62,
        traces=_bars(step, shown, _names(model, stage), theme),
        key_offset=44,
        layout={
            "barmode": "group",
            "bargap": 0.28,
            "bargroupgap": 0.06,
            "xaxis": axis(
                theme, tr("probability"), 6, range=[0, 1.25 * most], **percent_ticks(1.25 * most)
            ),
            "yaxis": named_axis(
                theme,
                [
                    chosen_label(
                        show_token(row.candidate.text, _LABEL_LIMIT),
                        theme,
                        row.candidate.token_id == step.token_id,
                    )
                    + NBSP
                    for row in shown
                ],
                tr("candidate"),
                range=[len(shown) - 0.5, -0.5],
            ),
        },
    )


def _bars(
    step: TokenStep, shown: list[Contrasted], names: tuple[str, str], theme: Theme
) -> list[Properties]:
    hovers = [
        lines(
            f"<b>{show_token(row.candidate.text, 40)}</b>",
            row.candidate.token_id == step.token_id and tr("chosen"),
            tr(
                "step {number} · id {token_id}",
                number=nth(step.index),
                token_id=row.candidate.token_id,
            ),
            f"{names[0]} {percent(row.model)}",
            f"{names[1]} {percent(row.second)}",
            f"{tr('after their contrast')} {percent(row.after)}",
        )
        for row in shown
    ]
    ids = [[step.index, row.candidate.token_id] for row in shown]
    marks: Properties = {
        "type": "scatter",
        "mode": "markers",
        "name": "after their contrast",
        "x": [row.after for row in shown],
        "y": list(range(len(shown))),
        "marker": {
            "symbol": "line-ns-open",
            "size": 26,
            "color": theme.ink,
            "line": {"color": theme.ink, "width": 2},
        },
        "cliponaxis": False,
        "customdata": ids,
        "hovertext": hovers,
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    return [
        token_bars(
            theme,
            names[0],
            [row.model for row in shown],
            hovers,
            [theme.token_color(row.candidate.rank) for row in shown],
            texts=[percent(row.model) for row in shown],
            chosen=[row.candidate.token_id == step.token_id for row in shown],
            customdata=ids,
        ),
        token_bars(
            theme,
            names[1],
            [row.second for row in shown],
            hovers,
            theme.rest,
            texts=[percent(row.second) for row in shown],
            ink=theme.muted,
            customdata=ids,
        ),
        marks,
    ]
