"""One step of contrastive search: probability and degeneration penalty of each compared token."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.contrastive.config import ContrastiveSearch
from ...decoding.counting import nth, span_key
from ...decoding.record.compared import Compared
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_note, token_bars
from ..base.paper import SCREEN, Paper
from ..base.records import chosen_label, widest
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

_LABEL_LIMIT = 12
# Width of the column of scores at the right, px.
_SCORES = 66
# Room for a bar's label after its end.
_LABEL_SHARE, _LABEL = 0.17, 46


@table("step token_id token chosen probability largest_cosine score")
def contrast_bars_data(
    step: TokenStep | None,
    trace: Trace,
) -> TableRows:
    """Return the bars of `contrast_bars`, one row for each compared token, with the tokens' raw
    text.
    """
    return [
        (
            nth(step.index),
            token.token_id,
            table_text(token.text),
            token.token_id == step.token_id,
            token.prob,
            token.penalty,
            token.score,
        )
        for token in (step.compared or () if step else ())
        if step
    ]


@figure(
    N_("Probability against similarity"),
    settings_caption,
    contrast_bars_data,
    subtitle=lambda step, alpha: tr(
        "Step {step}. Score = {rest:g} × probability − {alpha:g} × largest cosine with a token "
        "before; the highest is chosen.",
        step=nth(step.index),
        rest=1 - alpha,
        alpha=alpha,
    ),
    alt=lambda step: (
        tr(
            "Bar chart of the {count} tokens that contrastive search compared at step {step}:",
            count=len(step.compared),
            step=nth(step.index),
        ),
        tr("; ").join(
            tr(
                "{token} {probability}, cosine {cosine}, score {score}",
                token=visible_token(token.text, 24),
                probability=percent(token.prob),
                cosine=_signed(token.penalty),
                score=_signed(token.score),
            )
            for token in step.compared
        )
        + tr("."),
        tr("Chosen: {token}.", token=visible_token(step.chosen.text, 24)),
    ),
    key=lambda theme: [
        [
            (theme.muted, theme.token_words(tr("probability"))),
            (theme.accent, tr("chosen"), "<b>□</b>"),
            (theme.rest, tr("largest cosine")),
        ]
    ],
)
def contrast_bars(
    step: TokenStep | None, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the compared tokens as pairs of bars, probability above and largest cosine below, with
    their scores; the chosen one is framed.
    """
    if step is None or not step.compared or not isinstance(trace.config, ContrastiveSearch):
        return tr("No step is selected, or it is not of a run by contrastive search.")
    shown = step.compared
    left = 34 + round(7.2 * widest((token.text for token in shown), _LABEL_LIMIT))
    sheet = Sheet(
        theme,
        paper,
        meta={"shown": [span_key("step", step.index)]},
        facts={"alpha": trace.config.penalty_alpha},
        plot_height=44 * len(shown),
        left=left,
        right=_SCORES + 14,
        above=16,
        below=62,
        traces=_bars(step, shown, theme),
        key_offset=44,
        layout={
            "barmode": "group",
            "bargap": 0.28,
            "bargroupgap": 0.06,
            **_axes(step, shown, theme, paper.width - left - _SCORES - 14),
        },
    )
    where = {"xref": "paper", "xanchor": "right", "xshift": _SCORES}
    add_note(
        sheet, "score", tr("score"), 1, -0.5, size=12, color=theme.muted, yanchor="bottom", **where
    )
    for row, token in enumerate(shown):
        text = chosen_label(_signed(token.score), theme, token.token_id == step.token_id)
        add_note(sheet, "score", text, 1, row, size=12, color=theme.ink, **where)
    return sheet


def _bars(step: TokenStep, shown: Sequence[Compared], theme: Theme) -> list[Properties]:
    ranks = {candidate.token_id: candidate.rank for candidate in step.candidates}
    hovers = [
        lines(
            f"<b>{show_token(token.text, 40)}</b>",
            token.token_id == step.token_id and tr("chosen"),
            tr("step {number} · id {token_id}", number=nth(step.index), token_id=token.token_id),
            tr("probability {number}", number=percent(token.prob)),
            tr("largest cosine {number}", number=_signed(token.penalty)),
            tr("score {number}", number=_signed(token.score)),
        )
        for token in shown
    ]
    ids = [[step.index, token.token_id] for token in shown]
    return [
        token_bars(
            theme,
            "probability",
            [token.prob for token in shown],
            hovers,
            [theme.token_color(ranks.get(token.token_id, 0)) for token in shown],
            texts=[percent(token.prob) for token in shown],
            chosen=[token.token_id == step.token_id for token in shown],
            customdata=ids,
        ),
        token_bars(
            theme,
            "largest cosine",
            [token.penalty for token in shown],
            hovers,
            theme.rest,
            texts=[_signed(token.penalty, 2) for token in shown],
            ink=theme.muted,
            customdata=ids,
        ),
    ]


def _signed(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _axes(step: TokenStep, shown: Sequence[Compared], theme: Theme, room: float) -> Properties:
    names = [
        chosen_label(show_token(token.text, _LABEL_LIMIT), theme, token.token_id == step.token_id)
        for token in shown
    ]
    low = min(0.0, *(compared.penalty for compared in shown))
    share = max(_LABEL_SHARE, _LABEL * (1 - low) / (room - 2 * _LABEL))
    places = [at for at in (-1, -0.5, 0, 0.5, 1) if at >= low]
    return {
        "xaxis": axis(
            theme,
            tr("probability, and cosine"),
            6,
            range=[low - (share if low else 0), 1 + share],
            tickmode="array",
            tickvals=places,
            ticktext=[_signed(at, 1) for at in places],
        ),
        "yaxis": named_axis(
            theme,
            [f"{name}{NBSP}" for name in names],
            tr("compared token"),
            range=[len(shown) - 0.5, -0.5],
        ),
    }
