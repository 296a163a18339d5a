"""All filters over one distribution: each filter's bar, with the tokens that it keeps filled."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted
from ...decoding.lab.types import Cut, LabStep
from ...decoding.shaping.config import SETTINGS
from ...language import N_, tr
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    escaped,
    percent,
    show_token,
    stage_name,
    table_text,
    text_columns,
    visible_token,
)
from ..base.marks import add_frame, hover_texts, label_pair, level_bars, overlaid
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme
from .words import lab_caption, number

_BAR = 0.44
# Width of a character as a share of a bar 360 px long.
_CHARACTER = 0.0185
# Narrower pieces have no outline, which would cover them.
_SLIVER = 0.008


@table("filter value is_on tokens_kept probability_kept token_id token probability kept")
def lab_cuts_data(lab: LabStep, cuts: Sequence[Cut]) -> TableRows:
    """Return whether each filter keeps each candidate."""
    for cut in cuts:
        for token, keeps in zip(lab.step.candidates, cut.keeps, strict=True):
            who = (token.token_id, table_text(token.text), token.raw_prob, keeps)
            yield (cut.name, cut.value, cut.on, cut.kept, cut.mass, *who)


@figure(
    N_("All cuts over one distribution"),
    lab_caption,
    lab_cuts_data,
    subtitle=N_("Each filter alone on the model's own probabilities; hollow is what it removes."),
    alt=lambda lab, cuts: (
        tr(
            "Bars of {tokens} tokens, one for each of {filters} filters.",
            tokens=len(lab.step.candidates),
            filters=len(cuts),
        ),
        tr("; ").join(
            tr("{filter} keeps {tokens}", filter=_name(cut), tokens=_kept(cut)) for cut in cuts
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (theme.muted, tr("kept, in the token's {hue}", hue=tr(theme.hue))),
            (theme.unnamed, tr("kept, less likely tokens")),
        ]
    ],
)
def lab_cuts(
    lab: LabStep, cuts: Sequence[Cut], *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw a bar per filter, the tokens end to end by falling probability; filters that are off
    have their usual value, in pale names.
    """
    if not cuts:
        return tr("Cutting the step with every filter.")
    sheet = Sheet(
        theme,
        paper,
        plot_height=50 * (len(cuts) + 1),
        left=EDGE + 2,
        right=EDGE + 4,
        below=24,
        layout={
            **overlaid(SMALL),
            "xaxis": axis(theme, range=[0, 1], visible=False),
            "yaxis": axis(theme, range=[len(cuts) + 0.5, -0.62], visible=False),
        },
    )
    everything = (True,) * len(lab.step.candidates)
    _add_bar(sheet, 0, lab, "the model", everything, 1.0)
    own = tr("the model's own")
    label_pair(sheet, -_BAR / 2, f"<b>{own}</b>", "", size=11, yshift=3)
    for row, cut in enumerate(cuts, start=1):
        _add_bar(sheet, row, lab, cut.name, cut.keeps, cut.mass)
        words = escaped(_name(cut))
        name = f"<b>{words}</b>" if cut.on else f'<span style="color:{theme.muted}">{words}</span>'
        label_pair(sheet, row - _BAR / 2, name, _kept(cut), size=11, yshift=3)
    return sheet


def _name(cut: Cut) -> str:
    """Return a filter's name with its value; plain text."""
    name = f"{stage_name(cut.name)} {number(cut.value)}"
    acts = cut.name not in SETTINGS or not SETTINGS[cut.name].per_step
    name = name if acts else tr("{filter}, where it acts", filter=name)
    return name if cut.on else tr("{filter} (off)", filter=name)


def _kept(cut: Cut) -> str:
    return f"{tr(counted(cut.kept, 'token'))} · {percent(cut.mass)}"


def _add_bar(
    sheet: Sheet, row: int, lab: LabStep, name: str, keeps: Sequence[bool], mass: float
) -> None:
    """Add the candidates' pieces and the pieces of all other tokens, kept and removed."""
    theme = sheet.theme
    add_frame(sheet, "bar", (0, 1), (row - _BAR / 2, row + _BAR / 2), theme.rest, 1, layer="below")
    pieces: list[tuple[str, str, float, str | None]] = []
    for token, kept in zip(lab.step.candidates, keeps, strict=True):
        color = theme.token_color(token.rank) if kept else None
        hover = f"<b>{show_token(token.text, 40)}</b> {percent(token.raw_prob)}"
        pieces.append((visible_token(token.text, 20), hover, token.raw_prob, color))
    kept_mass = sum(piece[2] for piece in pieces if piece[3])
    rest = max(0.0, 1 - sum(piece[2] for piece in pieces))
    kept_rest = min(max(0.0, mass - kept_mass), rest)
    pieces.append(
        ("", tr("less likely tokens {share}", share=percent(kept_rest)), kept_rest, theme.unnamed)
    )
    removed = tr("less likely tokens {share}", share=percent(rest - kept_rest))
    pieces.append(("", removed, rest - kept_rest, None))
    lows, low = [], 0.0
    for _, _, length, _ in pieces:
        lows.append(low)
        low += length
    fills = [color or theme.paper for *_, color in pieces]
    sheet.traces.append(
        {
            **level_bars([row] * len(pieces), lows, [piece[2] for piece in pieces], _BAR),
            "name": name,
            "text": [
                escaped(text) if color and text_columns(text) * _CHARACTER < length else ""
                for text, _, length, color in pieces
            ],
            "textfont": {
                "family": theme.mono,
                "size": 11,
                "color": [theme.text_on(fill) for fill in fills],
            },
            **hover_texts(
                [
                    f"{hover}<br>{escaped(stage_name(name))}: "
                    f"{tr('kept') if color else tr('removed')}"
                    for _, hover, _, color in pieces
                ]
            ),
            "marker": {
                "color": fills,
                "line": {
                    "color": [theme.paper if color else theme.rest for *_, color in pieces],
                    "width": [0.8 if piece[2] > _SLIVER else 0 for piece in pieces],
                },
            },
        }
    )
