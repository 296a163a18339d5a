"""Draw of one step: the uniform number on the cumulative bar, or the highest noisy score."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ...decoding.counting import nth
from ...decoding.lab.types import LabStep
from ...decoding.methods import choice_words
from ...decoding.record.steps import Candidate, TokenStep
from ...language import N_, tr
from ..base.axes import bare_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import escaped, percent, show_token, table_text, visible_token
from ..base.marks import add_note, label_pair, mono
from ..base.measure import text_width
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..decode.draw import drawn_segments, mark_uniform
from ..decode.stage_bars import (
    BAR,
    Segment,
    across,
    add_segments,
)
from .scores import noisy_scores
from .words import lab_caption

# Row height, and distance of the lower bar from the axis, with room for the number, px.
_ROW, _BELOW = 64, 34
# Smallest share of a segment that also has room for a percentage.
_WIDE = 0.24
# Part of a segment that its name beside the mark leaves free, px.
_ASIDE = 12


@table("rank token_id token drawn raw_prob final_prob cumulative_from score uniform")
def lab_draw_data(lab: LabStep) -> TableRows:
    """Return every candidate with its probabilities and its noise."""
    step = lab.step
    lows = {segment.candidate: segment.low for segment in drawn_segments(step)}
    for place, (candidate, score) in enumerate(
        zip(step.candidates, step.draw.scores or (None,) * len(step.candidates), strict=True)
    ):
        yield (
            candidate.rank,
            candidate.token_id,
            table_text(candidate.text),
            candidate.token_id == step.token_id,
            candidate.raw_prob,
            candidate.prob,
            lows.get(place),
            score,
            step.draw.uniform,
        )


def _picks(lab: LabStep) -> str:
    """Return the alt text of both figures of a draw."""
    chosen, raw, number = lab.step.chosen, lab.raw_pick, lab.step.draw.uniform
    picked = {"token": visible_token(chosen.text, 24), "prob": percent(chosen.prob)}
    how = (
        tr(
            "Roll {roll} by {method} picks {token}, with a probability of {prob}.",
            roll=nth(lab.throw),
            method=choice_words("draw", lab.draw),
            **picked,
        )
        if number is None
        else tr(
            "The number {number:.4f} on the cumulative bar picks {token}, with a probability of "
            "{prob}.",
            number=number,
            **picked,
        )
    )
    same = tr(
        "The same dice on the model's own distribution pick {token}, with {prob}.",
        token=visible_token(raw.text, 24),
        prob=percent(raw.raw_prob),
    )
    return f"{how} {same}"


@figure(N_("No draw at temperature 0"), lab_caption, lab_draw_data, alt=_picks)
def lab_draw(lab: LabStep, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw how the token was chosen: by a number on the cumulative bar, or by each token's noisy
    score.
    """
    if lab.step.draw.method == "argmax":
        return tr(
            "Temperature 0 draws nothing: the most probable token is taken, {token}.",
            token=visible_token(lab.step.chosen.text, 24),
        )
    return (
        _cumulative(lab, theme, paper)
        if lab.draw == "inverse_cdf"
        else noisy_scores(lab, theme, paper)
    )


def _cumulative(lab: LabStep, theme: Theme, paper: Paper) -> Sheet:
    step, number = lab.step, lab.step.draw.uniform
    rows = ((tr("the model's own"), lab.raw_pick), (tr("after the knobs"), step.chosen))
    sheet = Sheet(
        theme,
        paper,
        title=tr("Where the number falls"),
        subtitle=tr("The number stays where it is; the bar moves under it."),
        plot_height=_ROW * 2 + _BELOW,
        left=EDGE + 2,
        right=EDGE + 8,
        below=42,
        layout={
            "xaxis": across(theme, tr("cumulative probability")),
            "yaxis": bare_axis(theme, range=[1.35 + _BELOW / _ROW, -0.62]),
        },
    )

    def text(candidate: Candidate, segment: Segment) -> str:
        # The mark would cross it; it stands beside the mark instead.
        if number is not None and _holds(segment, number):
            return ""
        if segment.share < _WIDE:
            return show_token(candidate.text, 10)
        return f"{show_token(candidate.text, 9)} {percent(segment.share)}"

    segments = [*_raw_segments(lab), *drawn_segments(step, 1)]
    add_segments(
        sheet,
        step,
        segments,
        text,
        lambda candidate, segment: (
            f"<b>{show_token(candidate.text, 40)}</b><br>"
            + tr("{share}, from {low}", share=percent(segment.share), low=percent(segment.low))
        ),
        (
            tr("other tokens"),
            lambda segment: f"<b>{tr('other tokens')}</b><br>{percent(segment.share)}",
        ),
    )
    for row, (name, token) in enumerate(rows):
        falls = tr("falls on {token}", token=mono(show_token(token.text, 14), theme))
        label_pair(sheet, row - BAR / 2, f"<b>{name}</b>", falls, yshift=3)
        if number is not None:
            mark_uniform(sheet, number, row)
    if number is not None:
        _name_the_hit(sheet, step, segments, number)
        _add_number(sheet, number)
    return sheet


def _holds(segment: Segment, number: float) -> bool:
    return segment.low <= number < segment.low + segment.share


def _name_the_hit(
    sheet: Sheet, step: TokenStep, segments: Sequence[Segment], number: float
) -> None:
    """Write the names of the segments under the number on the wider side of its mark."""
    for segment in segments:
        if segment.candidate is None or not _holds(segment, number):
            continue
        high, token = segment.low + segment.share, step.candidates[segment.candidate]
        low, high = max((segment.low, number), (number, high), key=lambda side: side[1] - side[0])
        name = visible_token(token.text, 9)
        forms = (f"{name} {percent(segment.share)}", name)
        room = (high - low) * sheet.room - _ASIDE
        label = next((form for form in forms if text_width(form, 12, "mono") <= room), None)
        if label is not None:
            color = sheet.theme.text_on(sheet.theme.token_color(token.rank))
            text = mono(escaped(label), sheet.theme)
            add_note(sheet, "hit", text, (low + high) / 2, segment.row, size=12, color=color)


def _add_number(sheet: Sheet, number: float) -> None:
    """Write the number below the bars, inside the figure."""
    side, label, shift = "center", f"▲<br><b>{number:.4f}</b>", 0
    if not 0.12 <= number <= 0.88:
        left = number < 0.12
        side, shift = ("left", -6) if left else ("right", 6)
        label = f"<b>▲ {number:.4f}</b>" if left else f"<b>{number:.4f} ▲</b>"
    where: Properties = {
        "xanchor": side,
        "yanchor": "top",
        "xshift": shift,
        "borderpad": 0,
        "size": 12,
    }
    add_note(sheet, "uniform", label, number, 1 + BAR / 2, color=sheet.theme.ink, **where)


def _raw_segments(lab: LabStep) -> list[Segment]:
    """Return the cumulative bar of the model's own distribution, by rank."""
    known = [(p, c.raw_prob) for p, c in enumerate(lab.step.candidates) if c.rank == p + 1]
    lows = list(accumulate((prob for _, prob in known), initial=0.0))
    segments = [Segment(0, p, low, prob) for (p, prob), low in zip(known, lows, strict=False)]
    return [*segments, Segment(0, None, lows[-1], max(0.0, 1 - lows[-1]))]
