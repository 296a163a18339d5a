"""Surprisal or probability along a text and along the model's own continuation, on one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from ...decoding.counting import counted, nth
from ...decoding.reading.types import TextToken
from ...language import N_, tr
from ..base.axes import MOST_TICKS, PERCENT_TICKS, READ_TOKENS, axis, token_sheet
from ..base.figure import TableRows, figure, given, table
from ..base.labels import escaped, percent, plain_name, table_text
from ..base.marks import add_frame, add_line, add_note, hover_texts
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import NOTHING_READ, number, token_hover

Quantity: TypeAlias = Literal["surprisal", "probability"]


class TokenLine(NamedTuple):
    """Tokens of one text under a name."""

    name: str
    tokens: tuple[TextToken, ...]

    def values(self, quantity: Quantity, first: int = 0) -> list[float | None]:
        """Return the quantity of each token from the first on; None without a prediction."""
        return [_value(token, quantity) for token in self.tokens[first:]]

    def mean_after(self, opening: int, quantity: Quantity = "surprisal") -> float | None:
        """Return the mean over the tokens after the opening; None without any."""
        values = [value for value in self.values(quantity, opening) if value is not None]
        return math.fsum(values) / len(values) if values else None


def _value(token: TextToken, quantity: Quantity) -> float | None:
    if quantity == "surprisal" or token.surprisal is None:
        return token.surprisal
    return math.exp(-token.surprisal)


@table("text position token_id token surprisal probability rank in_opening", whole="rank")
def surprisal_lines_data(texts: Sequence[TokenLine], opening: int) -> TableRows:
    """One token of a text a row; surprisal in nats."""
    for text in texts:
        for token in text.tokens:
            yield (
                table_text(text.name),
                nth(token.place),
                token.token_id,
                table_text(token.text),
                token.surprisal,
                _value(token, "probability"),
                token.rank,
                token.place < opening,
            )


@figure(
    N_("The text and the model's own"),
    given,
    surprisal_lines_data,
    subtitle=lambda means, quantity: (
        tr("Mean {quantity} after the opening:", quantity=tr(quantity)),
        tr("{part}.", part=tr(", ").join(f"{escaped(name)} {mean}" for name, mean in means)),
    ),
    alt=lambda texts, opening, means, quantity: (
        tr(
            "{quantity} along {texts} with the same opening of {tokens}.",
            quantity=tr(quantity.capitalize()),
            texts=counted(len(texts), "text"),
            tokens=counted(opening, "token"),
        ),
        tr("; ").join(tr("{name}: mean {mean}", name=name, mean=mean) for name, mean in means)
        + tr("."),
    ),
    key=lambda names, colors: [
        [
            (color, escaped(name), sign)
            for color, name, sign in zip(colors, names, "●◆▲", strict=False)
        ]
    ],
)
def surprisal_lines(
    texts: Sequence[TokenLine],
    opening: int,
    *,
    quantity: Quantity = "surprisal",
    caption: str = "",
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Surprisal or probability of each token, a line for each text, after Holtzman et al. 2020,
    figure 2, which has the probability.

    Args:
        texts: at most three; the first one's tokens are named below.
        opening: number of tokens that all texts share.
    """
    values = [value for text in texts for value in text.values(quantity)]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return NOTHING_READ
    longest = max(texts, key=lambda text: len(text.tokens)).tokens
    named = [*texts[0].tokens, *longest[len(texts[0].tokens) :]]
    colors = [theme.first, theme.second, theme.categories[0]]
    names = [plain_name(text.name, 24) for text in texts]
    means = [text.mean_after(opening, quantity) for text in texts]
    sheet = token_sheet(
        theme,
        paper,
        [(nth(at), token.text) for at, token in enumerate(named)],
        _value_axis(theme, quantity, max(finite)),
        title=READ_TOKENS,
        above=14,
        facts={
            "names": names,
            "colors": colors,
            "means": [
                (
                    name,
                    percent(mean)
                    if quantity == "probability"
                    else tr("{number} nats", number=number(mean)),
                )
                for name, mean in zip(names, means, strict=True)
                if mean is not None
            ],
        },
    )
    if opening:
        _add_opening(sheet, opening)
    looks = zip(texts, colors, ("circle", "diamond", "triangle-up"), means, strict=False)
    for text, color, symbol, mean in looks:
        _add_text(sheet, text, quantity, opening, color, symbol)
        if mean is not None:
            end = len(text.tokens) + 0.5
            y = (mean, mean)
            add_line(sheet, "mean", (opening + 0.5, end), y, color, 1.5, dash="dash")
    return sheet


def _value_axis(theme: Theme, quantity: Quantity, highest: float) -> Properties:
    if quantity == "probability":
        return axis(theme, tr("probability"), 6, range=[0, 1.04], **PERCENT_TICKS)
    return axis(theme, tr("surprisal, nats"), 6, range=[0, max(1.0, highest) * 1.08], nticks=6)


def _add_opening(sheet: Sheet, opening: int) -> None:
    theme = sheet.theme
    look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
    add_frame(sheet, "opening", (0.5, opening + 0.5), (0, 1), theme.panel, 0, **look)
    where = {"yref": "paper", "xanchor": "left", "yanchor": "bottom", "borderpad": 0}
    add_note(sheet, "opening", tr("opening"), 0.5, 1, size=SMALL, color=theme.muted, **where)


def _add_text(
    sheet: Sheet, text: TokenLine, quantity: Quantity, opening: int, color: str, symbol: str
) -> None:
    """A line from the end of the opening on; the first text has the opening too."""
    first = sheet.traces == []
    tokens = text.tokens if first else text.tokens[max(opening - 1, 0) :]
    few = len(tokens) <= 2 * MOST_TICKS
    sheet.traces.append(
        {
            "type": "scatter",
            "name": escaped(plain_name(text.name)),
            "mode": "lines+markers",
            "x": [nth(token.place) for token in tokens],
            "y": [_value(token, quantity) for token in tokens],
            "line": {"color": color, "width": 1.5},
            "marker": {"color": color, "symbol": symbol, "size": 7 if few else 4},
            "customdata": [[token.place, token.token_id] for token in tokens],
            **hover_texts([token_hover(token) for token in tokens]),
            "cliponaxis": False,
        }
    )
