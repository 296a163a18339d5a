"""The draw of one step: where the number fell on the cumulative bar, or which score won."""

from __future__ import annotations

from functools import partial

from core.decoding.lab.types import LabStep
from core.decoding.record.steps import Candidate
from core.figures.base.axes import bare_axis
from core.figures.base.figure import TableRows, figure, table
from core.figures.base.labels import percent, show_token, table_text, visible_token
from core.figures.base.marks import add_note, label_pair, mono
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.sheet import EDGE, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.decode.draw import drawn_segments, mark_uniform
from core.figures.decode.stage_bars import (
    BAR,
    Segment,
    across,
    add_segments,
)
from core.figures.lab.scores import draw_alt, noisy_scores
from core.figures.lab.words import lab_caption

# The lower bar stands so far above the axis that the number fits between them.
_ROW, _BELOW = 64, 34
# Segments of this share have room for a percentage too.
_WIDE = 0.24


@table("rank token_id token drawn raw_prob final_prob cumulative_from score uniform")
def lab_draw_data(lab: LabStep) -> TableRows:
    """Every candidate with its probabilities and what the noise gave it."""
    step = lab.step
    lows = {segment.candidate: segment.low for segment in drawn_segments(step)}
    for place, (candidate, score) in enumerate(
        zip(step.candidates, step.draw.scores or (None,) * len(step.candidates), strict=True)
    ):
        head = (
            candidate.rank,
            candidate.token_id,
            table_text(candidate.text),
            candidate.token_id == step.token_id,
            candidate.raw_prob,
            candidate.prob,
        )
        yield (*head, lows.get(place), score, step.draw.uniform)


@figure("No dice", lab_caption, lab_draw_data)
def lab_draw(lab: LabStep, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw of the token: by a number on the cumulative bar, or by a noisy score for each."""
    if lab.step.draw.method == "argmax":
        return (
            "Temperature 0 draws nothing: the most probable token is taken, "
            f"{visible_token(lab.step.chosen.text, 24)}."
        )
    return (
        _cumulative(lab, theme, paper)
        if lab.draw == "inverse_cdf"
        else noisy_scores(lab, theme, paper)
    )


def _cumulative(lab: LabStep, theme: Theme, paper: Paper) -> Sheet:
    step = lab.step
    segments = [*_raw_segments(lab), *drawn_segments(step, 1)]
    rows = (("the model's own", lab.raw_pick), ("after the knobs", step.chosen))
    sheet = Sheet(
        theme,
        paper,
        title="Where the number falls",
        subtitle="Tokens by falling probability, end to end. The number stays; the bar moves.",
        alt=draw_alt(lab),
        plot_height=_ROW * 2 + _BELOW,
        left=EDGE + 2,
        right=EDGE + 8,
        below=42,
        layout={
            "xaxis": across(theme, "cumulative probability"),
            "yaxis": bare_axis(theme, range=[1.35 + _BELOW / _ROW, -0.62]),
        },
    )
    add_segments(
        sheet,
        step,
        segments,
        partial(_segment_text, step.draw.uniform),
        _hover,
        ("other tokens", lambda segment: f"<b>other tokens</b><br>{percent(segment.share)}"),
    )
    for row, (name, token) in enumerate(rows):
        falls = f"falls on {mono(show_token(token.text, 14), theme)}"
        label_pair(sheet, row - BAR / 2, f"<b>{name}</b>", falls, yshift=3)
    if step.draw.uniform is not None:
        _mark_number(sheet, step.draw.uniform)
    return sheet


def _raw_segments(lab: LabStep) -> list[Segment]:
    """The cumulative bar of the model's own distribution, by rank."""
    segments: list[Segment] = []
    at = 0.0
    known = [p for p, c in enumerate(lab.step.candidates) if c.rank == p + 1]
    for place in known:
        prob = lab.step.candidates[place].raw_prob
        segments.append(Segment(0, place, at, prob))
        at += prob
    return [*segments, Segment(0, None, at, max(0.0, 1 - at))]


def _hover(candidate: Candidate, segment: Segment) -> str:
    where = f"{percent(segment.share)}, from {percent(segment.low)}"
    return f"<b>{show_token(candidate.text, 40)}</b><br>{where}"


def _segment_text(number: float | None, candidate: Candidate, segment: Segment) -> str:
    """Text that fits; none where the mark of the number would cross it: that is named beside."""
    if number is not None and segment.low <= number < segment.low + segment.share:
        return ""
    wide = segment.share >= _WIDE
    token = show_token(candidate.text, 9 if wide else 10)
    return f"{token} {percent(segment.share)}" if wide else token


def _mark_number(sheet: Sheet, number: float) -> None:
    """A line through each bar at the same place, and the number below them."""
    for row in (0, 1):
        mark_uniform(sheet, number, row)
    side, text, shift = "center", f"▲<br><b>{number:.4f}</b>", 0
    if number < 0.12:
        side, text, shift = "left", f"<b>▲ {number:.4f}</b>", -6
    elif number > 0.88:
        side, text, shift = "right", f"<b>{number:.4f} ▲</b>", 6
    where = {"xanchor": side, "yanchor": "top", "xshift": shift, "borderpad": 0}
    ink = sheet.theme.ink
    add_note(sheet, "uniform", text, number, 1 + BAR / 2, size=12, color=ink, **where)
