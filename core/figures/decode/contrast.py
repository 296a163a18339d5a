"""One step of contrastive search: each compared token's probability against its likeness."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.counting import nth
from core.decoding.record.compared import Compared
from core.decoding.record.trace import TokenStep, Trace
from core.figures.base.axes import axis, key_entry, named_axis
from core.figures.base.labels import (
    NBSP,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from core.figures.base.marks import FRAME, add_note
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.records import chosen_label, widest
from core.figures.base.sheet import Canvas, Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.decode.candidates import token_bars

CONTRAST_COLUMNS = "step token_id token chosen probability largest_cosine score".split()
_TITLE = "Probability against likeness"
_ROW_HEIGHT, _LABEL_LIMIT = 44, 12
# A column of scores at the right, px.
_SCORES = 66
# A bar's label is drawn after its end.
_LABEL_SHARE, _LABEL = 0.17, 46


def contrast_bars(
    step: TokenStep | None, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> go.Figure:
    """The compared tokens as pairs of bars, probability above and largest cosine below, with their
    scores; the chosen one framed."""
    canvas = Canvas(theme, paper, _TITLE, settings_caption(trace, paper))
    if step is None or not step.compared or not isinstance(trace.config, ContrastiveSearch):
        return canvas.sentence("No step is selected, or it is not of a run by contrastive search.")
    alpha, shown = trace.config.penalty_alpha, step.compared
    left = 34 + round(7.2 * widest((own.text for own in shown), _LABEL_LIMIT))
    keys = [
        key_entry(theme.muted, f"probability, in the token's {theme.hue}"),
        key_entry(theme.accent, "chosen", "<b>□</b>"),
        key_entry(theme.rest, "largest cosine"),
    ]
    sheet = canvas.lay_out(
        subtitle=f"Step {nth(step.index)}. Score = {1 - alpha:g} × probability − {alpha:g} × "
        "largest "
        "cosine with a token before; the highest is chosen.",
        alt=_alt(step, shown),
        plot_height=_ROW_HEIGHT * len(shown),
        left=left,
        right=_SCORES + 14,
        above=16,
        below=62,
        traces=[_probabilities(step, shown, theme), _cosines(step, shown, theme)],
        key=["".join(keys)],
        key_offset=44,
        layout={
            "barmode": "group",
            "bargap": 0.28,
            "bargroupgap": 0.06,
            **_axes(step, shown, theme, paper.width - left - _SCORES - 14),
        },
    )
    _add_scores(sheet, step, shown)
    return sheet.figure()


def _probabilities(step: TokenStep, shown: Sequence[Compared], theme: Theme) -> Properties:
    ranks = {candidate.token_id: candidate.rank for candidate in step.candidates}
    frames = [FRAME if own.token_id == step.token_id else 0 for own in shown]
    return _bars(
        step,
        shown,
        name="probability",
        x=[own.prob for own in shown],
        text=[percent(own.prob) for own in shown],
        marker={
            "color": [theme.token_color(ranks.get(own.token_id, 0)) for own in shown],
            "line": {"width": frames, "color": theme.accent},
        },
        textfont={"size": 11, "color": theme.ink},
    )


def _cosines(step: TokenStep, shown: Sequence[Compared], theme: Theme) -> Properties:
    return _bars(
        step,
        shown,
        name="largest cosine",
        x=[own.penalty for own in shown],
        text=[_signed(own.penalty, 2) for own in shown],
        marker={"color": theme.rest},
        textfont={"size": 11, "color": theme.muted},
    )


def _bars(step: TokenStep, shown: Sequence[Compared], **properties: object) -> Properties:
    hovers = [_hover(step, own) for own in shown]
    return token_bars(step, [own.token_id for own in shown], hovers, **properties)


def _hover(step: TokenStep, own: Compared) -> str:
    lines = [
        f"<b>{show_token(own.text, 40)}</b>",
        *(["chosen"] if own.token_id == step.token_id else []),
        f"step {nth(step.index)} · id {own.token_id}",
        f"probability {percent(own.prob)}",
        f"largest cosine {_signed(own.penalty)}",
        f"score {_signed(own.score)}",
    ]
    return "<br>".join(lines)


def _signed(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _axes(step: TokenStep, shown: Sequence[Compared], theme: Theme, room: float) -> Properties:
    tokens = [(show_token(own.text, _LABEL_LIMIT), own.token_id) for own in shown]
    names = [
        chosen_label(token, theme) if token_id == step.token_id else token
        for token, token_id in tokens
    ]
    low = min(0.0, *(own.penalty for own in shown))
    share = max(_LABEL_SHARE, _LABEL * (1 - low) / (room - 2 * _LABEL))
    across = {"range": [low - (share if low else 0), 1 + share]}
    places = [at for at in (-1, -0.5, 0, 0.5, 1) if at >= low]
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": [_signed(at, 1) for at in places]}
    ends = [len(shown) - 0.5, -0.5]
    return {
        "xaxis": axis(theme, "probability, and cosine", 6, **across, **ticks),
        "yaxis": named_axis(
            theme, [f"{name}{NBSP}" for name in names], "compared token", range=ends
        ),
    }


def _add_scores(sheet: Sheet, step: TokenStep, shown: Sequence[Compared]) -> None:
    theme = sheet.theme
    where = {"xref": "paper", "xanchor": "right", "xshift": _SCORES}
    add_note(
        sheet, "score", "score", 1, -0.5, size=12, color=theme.muted, yanchor="bottom", **where
    )
    for row, own in enumerate(shown):
        text = _signed(own.score)
        text = chosen_label(text, theme) if own.token_id == step.token_id else text
        add_note(sheet, "score", text, 1, row, size=12, color=theme.ink, **where)


def _alt(step: TokenStep, shown: Sequence[Compared]) -> str:
    told = "; ".join(
        f"{visible_token(own.text, 24)} {percent(own.prob)}, cosine {_signed(own.penalty)}, "
        f"score {_signed(own.score)}"
        for own in shown
    )
    text = (
        f"Bar chart of the {len(shown)} tokens that contrastive search compared at step "
        f"{nth(step.index)}: {told}. Chosen: {visible_token(step.chosen.text, 24)}."
    )
    return text.replace(NBSP, " ")


def contrast_bars_data(
    step: TokenStep | None,
    trace: Trace,  # noqa: ARG001 - called like the figure
) -> pd.DataFrame:
    """The bars that `contrast_bars` draws, one compared token a row, with the tokens' raw text."""
    rows = [
        (
            nth(step.index),
            own.token_id,
            table_text(own.text),
            own.token_id == step.token_id,
            own.prob,
            own.penalty,
            own.score,
        )
        for own in (step.compared or () if step else ())
        if step
    ]
    return pd.DataFrame(rows, columns=CONTRAST_COLUMNS)
