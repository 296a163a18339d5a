"""Test of losslessness: counts over many runs, and an enumeration on three tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...decoding.record.trace import Trace
from ...decoding.speculative.acceptance import AcceptanceTable, TableRow
from ...decoding.speculative.config import Acceptance
from ...decoding.speculative.measurement.report import Losslessness, TextCount
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    escaped,
    lines,
    percent,
    percent_ticks,
    settings_caption,
    show_token,
    table_text,
    text_columns,
    visible_token,
)
from ..base.marks import OUTSIDE, hover_texts, strokes
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import bar_color, rule_words, shown_kind

_MOST = 12
# Significance level: chance no longer explains a smaller p-value.
DOUBT = 0.01


def p_words(p_value: float) -> str:
    """Return a p-value such as `0.43` or `0.0021`; a tiny one as a bound."""
    return f"{p_value:.2g}" if p_value >= 1e-4 else tr("below 0.0001")


def lossless_words(found: Losslessness, rule: Acceptance, *, claims: bool) -> str:
    """Return the result of the test in one or two sentences; plain text.

    Args:
        rule: acceptance rule of the runs.
        claims: whether the rule keeps the target's distribution.
    """
    runs = {"rule": rule_words(rule), "runs": found.runs, "tokens": found.tokens}
    if not found.outcomes:
        return tr(
            "Acceptance rule {rule}, {runs} runs each of {tokens} tokens: no run was finished, so "
            "there is nothing to test.",
            **runs,
        )
    if found.p_value is None and not found.outcomes[0].token_ids:
        return tr(
            "Acceptance rule {rule}, {runs} runs each of {tokens} tokens: every text was too rare "
            "to test; take fewer tokens or more runs.",
            **runs,
        )
    if found.p_value is None:
        return tr(
            "Acceptance rule {rule}, {runs} runs each of {tokens} tokens: only one text came out "
            "of both, so there is nothing to test.",
            **runs,
        )
    test = tr(
        "Acceptance rule {rule}, {runs} runs each of {tokens} tokens: chi-square {square:.1f} with "
        "{degrees} degrees of freedom, p-value {p_value}.",
        square=found.chi_square,
        degrees=found.degrees,
        p_value=p_words(found.p_value),
        **runs,
    )
    return f"{test} {_judged(found.p_value, claims=claims)}"


def _judged(p_value: float, *, claims: bool) -> str:
    if p_value < DOUBT and claims:
        return tr(
            "By chance alone this happens in fewer than {doubt:.0%} of such tests. Run it again "
            "with another seed: it should not stay so.",
            doubt=DOUBT,
        )
    if p_value < DOUBT:
        return tr("The two distributions differ, as this rule lets them.")
    if claims:
        return tr("Nothing speaks against one and the same distribution.")
    return tr(
        "Nothing speaks against one and the same distribution. This rule doesn't claim it, and "
        "more runs may show a difference."
    )


@table("token_ids text speculative target_only")
def spec_outcomes_data(found: Losslessness) -> TableRows:
    """Return a row for each outcome; those too rare for the test are pooled in the last row."""
    for outcome in found.outcomes:
        text = table_text(outcome.text) if outcome.token_ids else "all others"
        yield (
            " ".join(map(str, outcome.token_ids)),
            text,
            outcome.speculative,
            outcome.target_only,
        )


@figure(
    N_("Test of losslessness"),
    lambda found, trace, paper: (
        f"{settings_caption(trace, paper)} · "
        + tr("{runs} runs each, first {tokens} tokens", runs=found.runs, tokens=found.tokens)
    ),
    spec_outcomes_data,
    subtitle=lambda found: (
        tr("Outcomes too rare for the test are counted together."),
        found.p_value is not None and tr("p-value {p_value}.", p_value=p_words(found.p_value)),
        len(found.outcomes) > _MOST
        and tr("{count} more outcomes are in the table.", count=len(found.outcomes) - _MOST),
    ),
    alt=lambda shown: (
        tr("Bars of how often short texts came out, speculative and target-only:"),
        tr("; ").join(
            tr(
                "{outcome} {ours} and {alone} times",
                outcome=_label(o),
                ours=o.speculative,
                alone=o.target_only,
            )
            for o in shown[:5]
        )
        + tr("."),
    ),
    key=lambda theme: [[(theme.first, tr("speculative")), (theme.rest, tr("target only"))]],
)
def spec_outcomes(
    found: Losslessness, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the counts of each short text in speculative and in target-only decoding."""
    shown = list(found.outcomes[:_MOST])
    if not shown:
        return tr("No run was finished, so there is nothing to compare.")
    labels = [_label(outcome) for outcome in shown]
    ours, alone = [o.speculative for o in shown], [o.target_only for o in shown]
    return Sheet(
        theme,
        paper,
        facts={"shown": shown},
        plot_height=30 * len(shown),
        left=24 + round(7.3 * max(map(text_columns, labels))),
        right=40,
        below=64,
        traces=[
            _outcome_bars("speculative", shown, ours, theme.first, -0.2),
            _outcome_bars("target only", shown, alone, theme.rest, 0.2),
        ],
        key_offset=42,
        layout={
            "barmode": "overlay",
            "xaxis": axis(theme, tr("runs"), range=[0, max(*ours, *alone) * 1.04], nticks=6),
            "yaxis": named_axis(
                theme, [f"{escaped(label)} " for label in labels], range=[len(shown) - 0.5, -0.5]
            ),
        },
    )


def _label(outcome: TextCount) -> str:
    return visible_token(outcome.text, 18) if outcome.token_ids else tr("all others")


def _outcome_bars(
    name: str, shown: Sequence[TextCount], values: Sequence[int], color: str, shift: float
) -> Properties:
    texts = [
        lines(
            f"<b>{show_token(o.text, 40)}</b>",
            f"{tr('speculative')} {o.speculative}",
            f"{tr('target only')} {o.target_only}",
        )
        for o in shown
    ]
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [at + shift for at in range(len(shown))],
        "x": list(values),
        "width": 0.38,
        "marker": {"color": color, "line": {"width": 0}},
        "text": [str(value) for value in values],
        **OUTSIDE,
        **hover_texts(texts),
    }


def normalised(weights: Sequence[float]) -> list[float]:
    """Return weights as a distribution; uniform if all are 0."""
    total = sum(weights)
    return [w / total if total > 0 else 1 / len(weights) for w in weights]


@table(f"token {' '.join(TableRow._fields)} emitted")
def spec_enumeration_data(table: AcceptanceTable, names: Sequence[str]) -> TableRows:
    """Return a row for each token with the parts of its emitted probability."""
    return [(name, *row, row.emitted) for name, row in zip(names, table.rows, strict=True)]


@figure(
    N_("Emitted and target distribution"),
    lambda table, rule: tr(
        "{count} tokens, one drafted · rule {rule} · enumerated, nothing is drawn",
        count=len(table.rows),
        rule=rule,
    ),
    spec_enumeration_data,
    subtitle=lambda table: enumeration_words(table),
    alt=lambda table, names: (
        tr("Bars of what one verification emits:"),
        tr("; ").join(
            tr(
                "{token} emitted with {emitted}, target {target}",
                token=name,
                emitted=percent(row.emitted),
                target=percent(row.target_prob),
            )
            for name, row in zip(names, table.rows, strict=True)
        )
        + tr("."),
        enumeration_words(table),
    ),
    key=lambda theme: [
        [
            (bar_color("accepted", theme), tr("accepted")),
            (bar_color("recovered", theme), tr("recovered")),
            (theme.ink, tr("target"), "<b>━</b>"),
            (theme.second, tr("draft"), "━"),
        ]
    ],
)
def spec_enumeration(
    table: AcceptanceTable,
    names: Sequence[str],
    rule: str,
    *,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the emitted probability of every token in one verification, beside the target's."""
    rows = table.rows
    top = 1.08 * max(max(row.emitted, row.target_prob, row.draft_prob) for row in rows)
    ticks = percent_ticks(max(top, 0.01))
    return Sheet(
        theme,
        paper,
        plot_height=210,
        left=56,
        right=20,
        below=58,
        traces=[
            _stack("accepted", rows, [row.accepted for row in rows], theme),
            _stack("recovered", rows, [row.recovered for row in rows], theme),
            *(
                {
                    **strokes(((at - 0.33, p), (at + 0.33, p)) for at, p in enumerate(values)),
                    "name": name,
                    "line": {"color": color, "width": width},
                    "cliponaxis": False,
                }
                for name, values, color, width in (
                    ("target", [row.target_prob for row in rows], theme.ink, 4),
                    ("draft", [row.draft_prob for row in rows], theme.second, 2),
                )
            ),
        ],
        key_offset=30,
        layout={
            "barmode": "stack",
            "xaxis": named_axis(
                theme,
                [show_token(name) for name in names],
                range=[-0.5, len(rows) - 0.5],
                tickfont={"size": 13, "color": theme.ink},
            ),
            "yaxis": axis(theme, tr("probability"), range=[0, top or 1], **ticks),
        },
    )


def enumeration_words(table: AcceptanceTable) -> str:
    """Return the comparison of the emitted distribution with the target's; plain text."""
    lost = table.total_variation
    rejected = percent(table.rejected)
    if lost < 1e-9:
        return tr(
            "A drafted token is rejected with a probability of {rejected}. The emitted "
            "distribution is the target’s exactly.",
            rejected=rejected,
        )
    return tr(
        "A drafted token is rejected with a probability of {rejected}. The emitted distribution is "
        "not the target’s: their total variation distance is {lost}.",
        rejected=rejected,
        lost=percent(lost),
    )


def _stack(
    name: Literal["accepted", "recovered"],
    rows: Sequence[TableRow],
    values: Sequence[float],
    theme: Theme,
) -> Properties:
    texts = [
        lines(
            f"{shown_kind(name)} {percent(value)}",
            f"{tr('emitted')} {percent(row.emitted)}",
            f"{tr('target')} {percent(row.target_prob)}",
        )
        for row, value in zip(rows, values, strict=True)
    ]
    return {
        "type": "bar",
        "name": name,
        "x": list(range(len(rows))),
        "y": list(values),
        "width": 0.5,
        "marker": {"color": bar_color(name, theme), "line": {"width": 0}},
        **hover_texts(texts),
    }
