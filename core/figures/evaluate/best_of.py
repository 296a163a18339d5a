"""Best of N: accuracy of each rule that selects one of N samples, by N."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted
from ...evaluation.types import AnswerRule
from ...evaluation.votes.best_of import SIZES, RulePoint, Sampled, by_samples
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.color import blend, contrast
from ..base.figure import TableRows, figure, given, table
from ..base.labels import NBSP, unspaced
from ..base.marks import hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..reasoning.compare import RULE_WORDS
from ..reasoning.words import share_errors, share_record, share_words

_APART = 0.13
_MARKS: dict[AnswerRule, tuple[str, str, str]] = {
    "majority": ("blue", "circle", "●"),
    "best_of_n": ("orange", "square", "■"),
    "reward": ("purple", "diamond", "◆"),
    "verifier": ("green", "triangle-up", "▲"),
}


@table("rule samples right trials accuracy wilson_low wilson_high")
def best_of_data(sampled: Sequence[Sampled]) -> TableRows:
    """Return a row for each rule and number of samples; a trial is a block of that many samples."""
    return [(p.rule, p.samples, *share_record(p.correct)) for p in by_samples(sampled)]


@figure(
    N_("Accuracy of best-of-N rules"),
    given,
    best_of_data,
    subtitle=lambda: tr(
        "Every rule chooses among the same samples. The line is the 95{nbsp}% interval over "
        "questions.",
        nbsp=NBSP,
    ),
    alt=lambda points, most: (
        tr(
            "Right answers with one sample {share:g} %, with {most}:",
            share=next(point.correct.percent for point in points if point.samples == 1),
            most=most,
        ),
        tr("; ").join(
            unspaced(f"{tr(RULE_WORDS[p.rule])} {p.correct.percent:g}{NBSP}%")
            for p in points
            if p.samples == most
        )
        + tr("."),
    ),
    key=lambda rules, theme: [[(_ink(r, theme), tr(RULE_WORDS[r]), _MARKS[r][2]) for r in rules]],
)
def best_of(
    sampled: Sequence[Sampled], *, caption: str = "", theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the accuracy of each rule by the number of samples, with 95 % intervals."""
    points = by_samples(sampled)
    if not points:
        return tr("No question has several samples yet.")
    rules = list(dict.fromkeys(point.rule for point in points))
    sizes = sorted({point.samples for point in points})
    ticks = {"tickvals": list(range(len(sizes))), "ticktext": list(map(str, sizes))}
    return Sheet(
        theme,
        paper,
        facts={"points": points, "rules": rules, "most": sizes[-1]},
        plot_height=250,
        left=62,
        right=EDGE + 8,
        below=66,
        traces=[
            _line([p for p in points if p.rule == rule], at - (len(rules) - 1) / 2, theme)
            for at, rule in enumerate(rules)
        ],
        rows=tr("right answers"),
        key_offset=46,
        layout={
            "xaxis": axis(
                theme, tr("samples a question, N"), 6, range=[-0.5, len(sizes) - 0.5], **ticks
            ),
            "yaxis": axis(theme, range=[-0.02, 1.04], **PERCENT_TICKS),
        },
    )


def _line(points: Sequence[RulePoint], apart: float, theme: Theme) -> Properties:
    """Return a rule's shares, shifted slightly from those of other rules."""
    ink = _ink(points[0].rule, theme)
    shares = [point.correct for point in points]
    texts = [
        f"<b>{tr(RULE_WORDS[p.rule])}</b>, {tr(counted(p.samples, 'sample'))}"
        f"<br>{share_words(p.correct)}"
        for p in points
    ]
    return {
        "type": "scatter",
        "name": points[0].rule,
        "mode": "lines+markers",
        "x": [SIZES.index(point.samples) + _APART * apart for point in points],
        "y": [share.value for share in shares],
        "line": {"color": ink, "width": 1.5},
        "marker": {"color": ink, "size": 9, "symbol": _MARKS[points[0].rule][1]},
        "error_y": {**share_errors(shares, ink), "width": 3},
        **hover_texts(texts),
        "cliponaxis": False,
    }


def _ink(rule: AnswerRule, theme: Theme) -> str:
    """Return a rule's colour, dark enough for a line."""
    color = theme.named[_MARKS[rule][0]]
    return blend(color, theme.ink, 0.4) if contrast(color, theme.paper) < 1.9 else color
