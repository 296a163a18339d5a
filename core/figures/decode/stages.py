"""Stages of one step, from the model's distribution to the draw."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...decoding.counting import counted, nth, span_key
from ...decoding.methods import choice_words
from ...decoding.record.steps import Candidate, Stage, TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import bare_axis
from ..base.color import with_alpha
from ..base.figure import figure
from ..base.labels import (
    escaped,
    lines,
    percent,
    settings_caption,
    show_token,
    stage_name,
    stage_setting,
    text_columns,
    visible_token,
)
from ..base.marks import (
    add_note,
    label_bar,
    label_pair,
    mono,
)
from ..base.paper import SCREEN, Paper
from ..base.records import NO_STAGES, removed_words
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .draw import SCORE_ROW, add_scores, drawn_segments, mark_uniform, scored
from .stage_bars import (
    BAR,
    Segment,
    across,
    add_segments,
    drawn_interval,
    others_name,
    shown_stages,
    stage_segments,
    step_stages_data,
)

# Width of a column of the bars' labels, px.
_COLUMN = 6.5
_ROW = 60
_SIDE = 16
_GAP = 66
# Smallest share of a segment that has room for a percentage, even in a figure 400 px wide.
_WIDE = 0.26
# Share of its width at which a page beside an open sidebar draws the figure.
_NARROWEST = 0.8
# Shown as more than 99.9 %.
_NOT_ALL = 0.99999
# A server doesn't report its shaping.
_SERVER = N_("by its own settings")


def _outcome(step: TokenStep) -> str:
    """Return the words of the alt text on the token's origin."""
    chosen = {
        "token": visible_token(step.chosen.text, 24),
        "first": percent(step.chosen.raw_prob),
        "last": percent(step.chosen.prob),
    }
    if step.origin == "forced":
        return tr("Forced: {token}, {first} at first and {last} in the end.", **chosen)
    if step.origin == "server":
        return tr(
            "Drawn by the server, with its own dice: {token}, {first} at first and {last} in the "
            "end.",
            **chosen,
        )
    if step.draw.uniform is None:
        return tr(
            "Drawn by {method}: {token}, {first} at first and {last} in the end.",
            method=choice_words("draw", step.draw.method),
            **chosen,
        )
    return tr(
        "Drawn by {method} with the number {number:.4f}: {token}, {first} at first and {last} in "
        "the end.",
        method=choice_words("draw", step.draw.method),
        number=step.draw.uniform,
        **chosen,
    )


def _stage_words(stage: Stage) -> str:
    """Return the words of the alt text on a stage."""
    if stage.name == "server":
        return f"{stage_name(stage.name)}: {tr(_SERVER)}"
    return tr(
        "{stage}: {mass} removed, {kept:,} kept",
        stage=stage_name(stage.name),
        mass=_removed_mass(stage),
        kept=stage.kept,
    )


@figure(
    N_("Shaping stages of a step"),
    settings_caption,
    step_stages_data,
    subtitle=lambda step, trace, theme: (
        tr("Step {number}.", number=nth(step.index)),
        tr("A token keeps its {hue}; the chosen one is framed.", hue=tr(theme.hue))
        if trace.known is None
        else tr("Palest: tokens that the server doesn't name."),
    ),
    alt=lambda step, stages: (
        tr("The stages of step {number} as bars of 100 percent.", number=nth(step.index)),
        tr("; ").join(map(_stage_words, stages)) + tr("."),
        _outcome(step),
    ),
)
def step_stages(
    step: TokenStep | None, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw one bar of 100 % for each stage, with candidates in the order of the draw, and the draw
    below.

    A token has one colour in all bars; a frame and a ribbon mark the chosen token. A click hands
    over `customdata = [step index, token id]`.
    """
    if step is None or not step.stages:
        return tr(NO_STAGES)
    stages, scores = shown_stages(step), scored(step)
    lower = SCORE_ROW * len(scores) + _GAP if scores else 0
    upper = _ROW * (len(stages) + 1) + (-24 if drawn_interval(step) is None else 4)
    segments = [
        segment for row, stage in enumerate(stages) for segment in stage_segments(row, stage, step)
    ]
    segments += drawn_segments(step, len(stages))
    sheet = Sheet(
        theme,
        paper,
        facts={"stages": stages},
        meta={"shown": [span_key("step", step.index)]},
        plot_height=upper + lower,
        left=_SIDE,
        right=_SIDE + 6,
        below=44,
        layout={
            "xaxis": {**across(theme, tr("share of all probability")), "anchor": "y"},
            "yaxis": bare_axis(
                theme,
                range=[upper / _ROW - 0.5 - 0.17, -0.5 - 0.17],
                domain=[lower / (upper + lower), 1],
            ),
        },
    )
    _add_bars(sheet, step, [*(stage.name for stage in stages), "final"], segments, trace)
    _add_ribbon(sheet, step, segments)
    for row, stage in enumerate(stages):
        setting = stage_setting(stage.name, trace.config)
        note = tr(", the model's own") if row == 0 else ""
        if row == len(stages) - 1 > 0:
            note = tr(" → final")
        removal = _removed(step, stage, row)
        if trace.known is not None and row == 0:
            removal = tr("{known:,} of {tokens} named", known=trace.known, tokens=removal)
        room = int(sheet.room / _COLUMN)
        stacked = text_columns(f"{setting}{note}  {removal}") > room
        # A page may draw the figure narrower than it is laid out.
        room = int(_NARROWEST * room) - text_columns(note)
        if text_columns(setting) > room:
            setting = setting.split(",")[0]
        if text_columns(setting) > room:
            setting = setting[: max(room - 1, 1)] + "…"
        name = f"<b>{escaped(setting)}</b>{note}"
        label_pair(sheet, row - BAR / 2, name, removal, yshift=1, clear=True, stacked=stacked)
    _label_draw(sheet, step, len(stages))
    if scores:
        add_scores(sheet, step, scores, (lower - _GAP) / (upper + lower))
    return sheet


def _label_draw(sheet: Sheet, step: TokenStep, row: int) -> None:
    """Write over the draw's bar how the token was drawn, and mark the number."""
    number = step.draw.uniform
    y, token = row - BAR / 2, mono(show_token(step.chosen.text, 16), sheet.theme)
    if drawn_interval(step) is not None:
        falls = tr("{number:.4f} falls on {token}", number=number, token=token)
        label_pair(sheet, y, tr("<b>draw</b>"), falls, yshift=1, clear=True)
        if number is not None:
            mark_uniform(sheet, number, row)
            below: Properties = {
                "yanchor": "top",
                "yshift": 1,
                "borderpad": 0,
                "color": sheet.theme.ink,
            }
            add_note(sheet, "uniform", "▲", number, row + BAR / 2, size=11, **below)
        return
    if step.origin == "forced":
        how = tr("<b>no draw counts</b>: {token} is forced", token=token)
    elif step.origin == "server":
        how = tr("<b>draw</b>: the server takes {token}, with its own dice", token=token)
    elif step.draw.method == "argmax" and step.compared:
        how = tr("<b>no draw</b>: argmax takes the highest score, {token}", token=token)
    elif step.draw.method == "argmax":
        how = tr("<b>no draw</b>: argmax takes the most probable, {token}", token=token)
    else:
        how = tr(
            "<b>draw</b>: {method} adds noise and takes {token}",
            method=choice_words("draw", step.draw.method),
            token=token,
        )
    label_bar(sheet, y, how, yshift=1, clear=True)


def _add_bars(
    sheet: Sheet, step: TokenStep, names: Sequence[str], segments: Sequence[Segment], trace: Trace
) -> None:
    """Add the segments; `names` are the names of the rows' stages."""
    others = others_name(step, trace)

    def text(candidate: Candidate, segment: Segment) -> str:
        # In the draw's row the name stands beside the bar, as the mark of the draw would cross it.
        if segment.row == len(names) - 1 and candidate.token_id == step.token_id:
            return ""
        if segment.share < _WIDE:
            return show_token(candidate.text, 12)
        return f"{show_token(candidate.text, 9)} {percent(segment.share)}"

    def hover(candidate: Candidate, segment: Segment) -> str:
        out = candidate.removed_by not in (None, "server") and candidate.removed_by
        return lines(
            f"<b>{show_token(candidate.text, 40)}</b>",
            tr(
                "rank {rank:,} · id {token_id}",
                rank=candidate.rank,
                token_id=candidate.token_id,
            ),
            f"{escaped(stage_name(names[segment.row]))} {percent(segment.share)}",
            out and removed_words(out),
        )

    def hover_others(segment: Segment) -> str:
        # The chosen token may split them into two segments, which are described as one.
        whole = sum(o.share for o in segments if o.candidate is None and o.row == segment.row)
        name = escaped(stage_name(names[segment.row]))
        return f"<b>{others}</b><br>{name} {percent(whole)}"

    shown = [segment for segment in segments if segment.candidate is None or segment.share]
    add_segments(sheet, step, shown, text, hover, (others, hover_others))


def _removed(step: TokenStep, stage: Stage, row: int) -> str:
    if row == 0:
        return tr(counted(stage.kept, "token"))
    if stage.name == "server":
        return tr(_SERVER)
    if stage.removed_mass <= 0 and stage.kept == step.stages[row - 1].kept:
        return tr("nothing removed")
    return tr(
        "{mass} removed, {kept:,} of {all:,} kept",
        mass=_removed_mass(stage),
        kept=stage.kept,
        all=step.stages[0].kept,
    )


def _removed_mass(stage: Stage) -> str:
    """Return the removed probability; never 100 %, as tokens are left."""
    return percent(min(stage.removed_mass, _NOT_ALL))


def _add_ribbon(sheet: Sheet, step: TokenStep, segments: Sequence[Segment]) -> None:
    """Add shapes that join the chosen token's segments from bar to bar."""
    place = [c.token_id for c in step.candidates].index(step.token_id)
    chosen = [segment for segment in segments if segment.candidate == place]
    for upper, lower in pairwise(chosen):
        top, bottom = upper.row + BAR / 2, lower.row - BAR / 2
        corners = (
            *((upper.low, top), (upper.low + upper.share, top)),
            *((lower.low + lower.share, bottom), (lower.low, bottom)),
        )
        sheet.shapes.append(
            {
                "name": "ribbon",
                "type": "path",
                "path": "M " + " L ".join(f"{x:.6f},{y:.3f}" for x, y in corners) + " Z",
                "fillcolor": with_alpha(sheet.theme.accent, 0.22),
                "line": {"width": 0},
                "layer": "below",
            }
        )
    sheet.explained.append([(sheet.theme.accent, tr("the chosen token, from bar to bar"), "▱")])
    # Most segments are too short for their token's name.
    named = [(sheet.theme.token_color(c.rank), show_token(c.text)) for c in step.candidates]
    sheet.explained += [[entry] for entry in named if entry[0] != sheet.theme.unnamed]
