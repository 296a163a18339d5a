"""Softmax of one step, written out for three tokens from logit to probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from ...decoding.counting import nth, span_key
from ...decoding.record.steps import Candidate, TokenStep
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import PENALTIES
from ...language import N_, tr
from ..base.axes import bare_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    escaped,
    percent,
    settings_caption,
    show_token,
    stage_name,
    table_text,
    visible_token,
)
from ..base.marks import add_line, add_note
from ..base.measure import widest
from ..base.paper import SCREEN, Paper
from ..base.records import NO_STAGES, chosen_label
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme

_TOKENS, _HEAD, _LABEL_LIMIT = 3, 2, 10
# exp of a larger number overflows a float.
_OVERFLOW = 709.0
# Smallest gap between two columns, px.
_BETWEEN = 4
# Height, name, cells and colour of a line.
_Line: TypeAlias = tuple[float, str, list[str], str]


class Worked(NamedTuple):
    """Numbers of a token from logit to probability.

    Args:
        divided: the logit divided by the temperature.
        exponential: exp(`divided` minus the largest one of all tokens).
        share: `exponential` divided by the sum over all tokens, as the run recorded it.
    """

    candidate: Candidate
    divided: float
    exponential: float
    share: float


class Arithmetic(NamedTuple):
    """Numbers of a step's softmax: a row for each shown token, by rank; the temperature; the sum of
    exponentials over all tokens; and the number of tokens.
    """

    rows: tuple[Worked, ...]
    temperature: float
    total: float
    tokens: int


def worked_out(step: TokenStep, trace: Trace) -> Arithmetic:
    """Return the softmax of a step at the run's temperature, or at 1 if no temperature or first a
    penalty acts.

    It covers the most probable tokens and the chosen one.
    """
    names = [stage.name for stage in step.stages]
    tempered = len(names) > 1 and names[1] == "temperature" and not {*PENALTIES} & {*names}
    stage = step.stages[1 if tempered else 0]
    temperature = trace.config.shaping.temperature if tempered else 1.0
    by_rank = sorted(range(len(step.candidates)), key=lambda at: step.candidates[at].rank)
    chosen = next(at for at in by_rank if step.candidates[at].token_id == step.token_id)
    shown = by_rank[:_TOKENS]
    if chosen not in shown:
        shown = [*shown[: _TOKENS - 1], chosen]
    divided = [candidate.logit / temperature for candidate in step.candidates]
    highest = stage.probs[by_rank[0]]
    return Arithmetic(
        tuple(
            Worked(
                step.candidates[at],
                divided[at],
                _exp(divided[at] - divided[by_rank[0]]),
                stage.probs[at],
            )
            for at in shown
        ),
        temperature,
        1 / highest if highest > 0 else math.inf,
        stage.kept,
    )


def _exp(value: float) -> float:
    """Return exp(value), bounded: an untrusted file may hold logits that contradict its ranks."""
    return math.exp(value) if value < _OVERFLOW else math.inf


@table("step token_id token rank chosen logit divided exponential share final_prob")
def softmax_row_data(step: TokenStep | None, trace: Trace) -> TableRows:
    """Return the numbers of `softmax_row`, one row for each token, with the tokens' raw text."""
    return [
        (
            nth(step.index),
            row.candidate.token_id,
            table_text(row.candidate.text),
            row.candidate.rank,
            row.candidate.token_id == step.token_id,
            row.candidate.logit,
            *row[1:],
            row.candidate.prob,
        )
        for row in (worked_out(step, trace).rows if step and step.stages else ())
        if step
    ]


@figure(
    N_("Softmax of three tokens"),
    settings_caption,
    softmax_row_data,
    subtitle=lambda step, trace, worked: _order(step, trace, worked),
    alt=lambda step, worked: (
        tr(
            "The softmax of step {step} at temperature {temperature:g}.",
            step=nth(step.index),
            temperature=worked.temperature,
        ),
        tr("; ").join(
            tr(
                "{token}: logit {logit}, divided {divided}, exponential {exponential:.4g}, share "
                "{share}",
                token=visible_token(row.candidate.text, 24),
                logit=_number(row.candidate.logit),
                divided=_number(row.divided),
                exponential=row.exponential,
                share=percent(row.share),
            )
            for row in worked.rows
        )
        + tr("."),
        tr(
            "The exponentials of all {tokens:,} tokens sum to {total:.4g}.",
            tokens=worked.tokens,
            total=worked.total,
        ),
    ),
)
def softmax_row(
    step: TokenStep | None, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw logit, logit / T, exponential and share of three tokens, and the sum over all."""
    if step is None or not step.stages or not step.candidates:
        return tr(NO_STAGES)
    worked = worked_out(step, trace)
    rows = len(worked.rows) + 1
    final = step.draw.method != "argmax" and any(c.prob != c.raw_prob for c in step.candidates)
    two_lines = final and any(row.candidate.removed_by for row in worked.rows)
    table = _table(step, trace, worked, theme, final=final)
    tokens = (visible_token(row.candidate.text, _LABEL_LIMIT) for row in worked.rows)
    names = [*(f"■{NBSP}{token}" for token in tokens), table[-1][1]]
    sheet = Sheet(
        theme,
        paper,
        facts={"worked": worked},
        meta={"shown": [span_key("step", step.index)]},
        plot_height=(37 if two_lines else 30) * (rows + _HEAD),
        left=EDGE + round(widest(names, face="sans bold")),
        layout={
            "xaxis": bare_axis(theme, range=[0, 1]),
            "yaxis": bare_axis(theme, range=[_HEAD + rows - 0.5, -0.5]),
        },
    )
    if _needed(table) > sheet.room:
        table = _table(step, trace, worked, theme, final=final, short=True)
    ends = _right_ends([cells for _, _, cells, _ in table], sheet.room)
    left = {"xref": "paper", "xanchor": "left", "xshift": EDGE - sheet.left, "yanchor": "middle"}
    right = {"xanchor": "right", "yanchor": "middle", "align": "right"}
    for y, name, cells, color in table:
        if name:
            add_note(sheet, "name", name, 0, y, size=12, color=color, **left)
        for end, cell in zip(ends, cells, strict=True):
            add_note(sheet, "number", cell, end, y, size=12, color=color, **right)
    add_line(sheet, "rule", (0, 1), _HEAD + rows - 1.5, theme.grid, 1, xref="paper")
    return sheet


def _table(
    step: TokenStep,
    trace: Trace,
    worked: Arithmetic,
    theme: Theme,
    *,
    final: bool,
    short: bool = False,
) -> list[_Line]:
    """Return the lines with their heights, names, cells and colours.

    Args:
        short: only formulas over the columns, and no name of the stage that removed a token.
    """
    heads = [
        tr("logit<br>x"),
        tr("y is<br>x ÷ T"),
        tr("exp of<br>y − max"),
        tr("share:<br>÷ sum"),
        *[f"{tr('final')}<br>{NBSP}"] * final,
    ]
    if short:
        heads = [*(head.rpartition("<br>")[2] for head in heads[:4]), *[tr("final")] * final]
    # With a temperature only a bound is known for tokens that a server doesn't name.
    most = "≤ " if trace.known is not None and worked.temperature != 1 else ""
    everything = tr("all {tokens:,} tokens", tokens=worked.tokens)
    total = tr("sum {total}", total=f"{most}{worked.total:.4g}")
    return [
        (0.5, "", heads, theme.muted),
        *(
            (
                _HEAD + at,
                f'<span style="color:{theme.token_color(row.candidate.rank)}">■</span>{NBSP}'
                + chosen_label(token, theme, row.candidate.token_id == step.token_id),
                _cells(row, final=final, short=short),
                theme.ink,
            )
            for at, row in enumerate(worked.rows)
            for token in [show_token(row.candidate.text, _LABEL_LIMIT)]
        ),
        (
            _HEAD + len(worked.rows),
            everything,
            ["", "", total, *([percent(1)] * (1 + final))],
            theme.muted,
        ),
    ]


def _order(step: TokenStep, trace: Trace, worked: Arithmetic) -> str:
    """Return the words on the columns, and on the run's temperature if the figure doesn't use
    it.
    """
    named = [stage.name for stage in step.stages]
    numbers = {"step": nth(step.index), "most": _number(worked.rows[0].divided)}
    temperature = trace.config.shaping.temperature
    if "temperature" not in named or worked.temperature == temperature:
        return tr(
            "Softmax at step {step}, from left to right. T is {temperature:g}; max is the largest "
            "y, {most}.",
            temperature=worked.temperature,
            **numbers,
        )
    return tr(
        "Softmax at step {step}, from left to right. T is {temperature:g} (the run's {own:g} acts "
        "after {stage}); max is the largest y, {most}.",
        temperature=worked.temperature,
        own=temperature,
        stage=escaped(stage_name(named[1])),
        **numbers,
    )


def _cells(row: Worked, *, final: bool, short: bool) -> list[str]:
    candidate, ended = row.candidate, tr("removed")
    if not short:
        ended = tr("removed<br>by {stage}", stage=escaped(stage_name(candidate.removed_by or "")))
    return [
        _number(candidate.logit),
        _number(row.divided),
        _short(row.exponential),
        percent(row.share),
        *([ended if candidate.removed_by else percent(candidate.prob)] if final else []),
    ]


def _short(value: float) -> str:
    """Return a number with four digits, or as a power of ten."""
    if not 0 < value < 1e-4:
        return f"{value:.4g}"
    digits, power = f"{value:.2e}".split("e")
    return f"{digits}e−{int(power[1:])}"


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _needed(table: Sequence[_Line]) -> float:
    """Return the width of all columns with a gap before each, px."""
    widths = _widths([cells for _, _, cells, _ in table])
    return sum(widths) + _BETWEEN * len(widths)


def _widths(lines: Sequence[Sequence[str]]) -> list[float]:
    return [
        widest([part for cell in c for part in cell.split("<br>")])
        for c in zip(*lines, strict=True)
    ]


def _right_ends(lines: Sequence[Sequence[str]], room: float) -> list[float]:
    """Return the right ends of the columns of numbers as shares of the room, proportional to their
    widths.
    """
    needed = _widths(lines)
    spare = (room - sum(needed)) / len(needed)
    return [end / room for end in accumulate(width + spare for width in needed)]
