"""The stages of one step: from the model's distribution through every stage to the draw."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from core.decoding.counting import nth, span_key
from core.decoding.record.steps import Candidate, Stage, TokenStep
from core.decoding.record.trace import Trace
from core.figures.base.axes import bare_axis, key_entry
from core.figures.base.color import with_alpha
from core.figures.base.figure import figure
from core.figures.base.labels import (
    escaped,
    percent,
    settings_caption,
    show_token,
    stage_name,
    stage_setting,
    visible_token,
)
from core.figures.base.marks import (
    add_note,
    label_bar,
    label_pair,
    mono,
)
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.records import removed_words
from core.figures.base.sheet import Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.decode.draw import SCORE_ROW, add_scores, drawn_segments, mark_uniform, scored
from core.figures.decode.stage_bars import (
    BAR,
    Segment,
    across,
    add_segments,
    others_name,
    shown_stages,
    stage_segments,
    step_stages_data,
)

_ROW = 60
_SIDE = 16
_GAP = 66
# Segments of this share have room for the percentage, in a figure 400 px wide too.
_WIDE = 0.26
# What its draw does to probabilities isn't told.
_SERVER = "by its own settings"


@figure("From probabilities to a token", settings_caption, step_stages_data)
def step_stages(
    step: TokenStep | None, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """One bar of 100 % for each stage, candidates in the order of the draw, and the draw below.

    A token keeps its colour from bar to bar; a frame and a ribbon follow the chosen one. A click
    hands over `customdata = [step index, token id]`.
    """
    if step is None or not step.stages:
        return "No step is selected, or it holds no stages."
    stages, scores = shown_stages(step), scored(step)
    lower = SCORE_ROW * len(scores) + _GAP if scores else 0
    upper = _ROW * (len(stages) + 1) + (4 if step.draw.interval is not None else -24)
    segments = [
        segment for row, stage in enumerate(stages) for segment in stage_segments(row, stage, step)
    ]
    segments += drawn_segments(step, len(stages))
    sheet = Sheet(
        theme,
        paper,
        subtitle=f"Step {nth(step.index)}. {_subtitle(trace, theme)}",
        alt=_alt(step, stages),
        meta={"shown": [span_key("step", step.index)]},
        plot_height=upper + lower,
        left=_SIDE,
        right=_SIDE + 6,
        below=44,
        layout={
            "xaxis": {**across(theme, "share of all probability"), "anchor": "y"},
            "yaxis": bare_axis(
                theme,
                range=[upper / _ROW - 0.5 - 0.17, -0.5 - 0.17],
                domain=[lower / (upper + lower), 1],
            ),
        },
    )
    _add_segments(sheet, step, stages, segments, others_name(step, trace))
    _add_ribbon(sheet, step, segments)
    for row, stage in enumerate(stages):
        name = escaped(stage_setting(stage.name, trace.config))
        note = ", the model's own" if row == 0 else " → final" if (row == len(stages) - 1) else ""
        removal = _removed(step, stage, row)
        if trace.known is not None and row == 0:
            removal = f"{trace.known:,} of {removal} named"
        label_pair(sheet, row - BAR / 2, f"<b>{name}</b>{note}", removal, yshift=1, clear=True)
    _label_draw(sheet, step, len(stages))
    if scores:
        add_scores(sheet, step, scores, (lower - _GAP) / (upper + lower))
    return sheet


def _subtitle(trace: Trace, theme: Theme) -> str:
    if trace.known is None:
        return f"A token keeps its {theme.hue}; the chosen one is framed."
    return "Palest: tokens that the server doesn't name."


def _add_segments(
    sheet: Sheet,
    step: TokenStep,
    stages: Sequence[Stage],
    segments: Sequence[Segment],
    others: str,
) -> None:
    names = [stage.name for stage in stages] + ["final"]

    def text(candidate: Candidate, segment: Segment) -> str:
        # In the draw's row it is named beside the bar; the mark of the draw would cross it.
        drawn = segment.row == len(stages) and candidate.token_id == step.token_id
        return "" if drawn else _segment_text(candidate, segment.share)

    def hover_others(segment: Segment) -> str:
        # Cut in two by the chosen token, they are told as one.
        whole = sum(o.share for o in segments if o.candidate is None and o.row == segment.row)
        name = escaped(stage_name(names[segment.row]))
        return f"<b>{others}</b><br>{name} {percent(whole)}"

    shown = [segment for segment in segments if segment.candidate is None or segment.share]
    hover = partial(_hover, names)
    add_segments(sheet, step, shown, text, hover, (others, hover_others))


def _segment_text(candidate: Candidate, share: float) -> str:
    if share < _WIDE:
        return show_token(candidate.text, 12)
    return f"{show_token(candidate.text, 9)} {percent(share)}"


def _hover(names: Sequence[str], candidate: Candidate, segment: Segment) -> str:
    lines = [
        f"<b>{show_token(candidate.text, 40)}</b>",
        f"rank {candidate.rank:,} · id {candidate.token_id}",
        f"{escaped(stage_name(names[segment.row]))} {percent(segment.share)}",
    ]
    if candidate.removed_by not in (None, "server"):
        lines.append(removed_words(candidate.removed_by))
    return "<br>".join(lines)


def _label(sheet: Sheet, row: int, text: str) -> None:
    label_bar(sheet, row - BAR / 2, text, yshift=1, clear=True)


def _removed(step: TokenStep, stage: Stage, row: int) -> str:
    if row == 0:
        return f"{stage.kept:,} tokens"
    if stage.name == "server":
        return _SERVER
    if stage.removed_mass <= 0 and stage.kept == step.stages[row - 1].kept:
        return "nothing removed"
    return f"{percent(stage.removed_mass)} removed, {stage.kept:,} of {step.stages[0].kept:,} kept"


def _add_ribbon(sheet: Sheet, step: TokenStep, segments: Sequence[Segment]) -> None:
    """Shapes that join the chosen token's segments from bar to bar."""
    places = [c.token_id for c in step.candidates]
    chosen = [s for s in segments if s.candidate == places.index(step.token_id)]
    for upper, lower in pairwise(chosen):
        top, bottom = upper.row + BAR / 2, lower.row - BAR / 2
        corners = (
            (upper.low, top),
            (upper.low + upper.share, top),
            (lower.low + lower.share, bottom),
            (lower.low, bottom),
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
    sheet.explained.append(key_entry(sheet.theme.accent, "the chosen token, from bar to bar", "▱"))
    # Most segments are too short for their token's name.
    named = [(sheet.theme.token_color(c.rank), c) for c in step.candidates]
    sheet.explained += [
        key_entry(color, show_token(c.text)) for color, c in named if color != sheet.theme.unnamed
    ]


def _label_draw(sheet: Sheet, step: TokenStep, row: int) -> None:
    token, uniform = mono(show_token(step.chosen.text, 16), sheet.theme), step.draw.uniform
    if step.origin == "forced":
        _label(sheet, row, f"<b>no draw counts</b>: {token} is forced")
    elif step.draw.interval is not None:
        label_pair(
            sheet,
            row - BAR / 2,
            "<b>draw</b>",
            f"{uniform:.4f} falls on {token}",
            yshift=1,
            clear=True,
        )
        if uniform is not None:
            mark_uniform(sheet, uniform, row)
            where = {"yanchor": "top", "yshift": 1, "borderpad": 0}
            ink = sheet.theme.ink
            add_note(sheet, "uniform", "▲", uniform, row + BAR / 2, size=11, color=ink, **where)
    elif step.origin == "server":
        _label(sheet, row, f"<b>draw</b>: the server takes {token}, with its own dice")
    elif step.draw.method == "argmax":
        best = "the highest score" if step.compared else "the most probable"
        _label(sheet, row, f"<b>no draw</b>: argmax takes {best}, {token}")
    else:
        method = escaped(step.draw.method)
        _label(sheet, row, f"<b>draw</b>: {method} adds noise and takes {token}")


def _alt(step: TokenStep, stages: Sequence[Stage]) -> str:
    removals = "; ".join(
        f"{stage_name(stage.name)}: {_SERVER}"
        if stage.name == "server"
        else f"{stage_name(stage.name)}: {percent(stage.removed_mass)} removed, {stage.kept:,} kept"
        for stage in stages
    )
    chosen = step.chosen
    number = "" if step.draw.uniform is None else f" with the number {step.draw.uniform:.4f}"
    how = "Forced" if step.origin == "forced" else f"Drawn by {step.draw.method}{number}"
    how = "Drawn by the server, with its own dice" if step.origin == "server" else how
    return (
        f"The stages of step {nth(step.index)} as bars of 100 percent. {removals}. "
        f"{how}: {visible_token(chosen.text, 24)}, "
        f"{percent(chosen.raw_prob)} at first and {percent(chosen.prob)} in the end."
    )
