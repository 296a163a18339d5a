"""Kullback-Leibler divergence of two models along a text, with the favourites that differ."""

from __future__ import annotations

import math

from ...decoding.counting import nth
from ...decoding.reading.types import ModelDivergence, TokenDivergence
from ...language import N_, tr
from ..base.axes import MOST_TICKS, READ_TOKENS, power_axis, token_sheet
from ..base.color import blend
from ..base.figure import TableRows, figure, given, table
from ..base.labels import lines, plain_name, show_token, table_text, visible_token
from ..base.marks import add_rings, hover_texts, strokes
from ..base.paper import SCREEN, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from .words import number

# Divergences below this are drawn at it: double precision sums no finer over a vocabulary.
_LEAST = 1e-12
# Divergences above this are drawn at it: they are infinite where the second model lacks a token.
_MOST = 1e3


@table(
    "position token_id token kl total_variation favourite_1_id favourite_1 favourite_2_id "
    "favourite_2 flipped surprisal_1 surprisal_2"
)
def model_divergence_data(divergence: ModelDivergence) -> TableRows:
    """One token of the text a row; nats, raw text. The models count from 1."""
    for token in divergence.tokens:
        (one, other), texts = token.favourites, token.favourite_texts
        yield (
            nth(token.place),
            token.token_id,
            table_text(token.text),
            token.kl,
            token.total_variation,
            one,
            table_text(texts[0]),
            other,
            table_text(texts[1]),
            token.flipped,
            *token.surprisals,
        )


@figure(
    N_("Two models along the text"),
    given,
    model_divergence_data,
    subtitle=lambda divergence: (
        tr("Mean KL {number} nats;", number=number(divergence.mean_kl)),
        tr(
            "the favourite differs at {flipped} of {tokens} tokens.",
            flipped=divergence.flipped,
            tokens=len(divergence.tokens),
        ),
    ),
    alt=lambda divergence, worst: (
        tr(
            "Divergence of {other} from {model} at {tokens} tokens: mean {mean} "
            "nats, most {most} nats before {token}.",
            other=visible_token(divergence.names[1], 60),
            model=visible_token(divergence.names[0], 60),
            tokens=len(divergence.tokens),
            mean=number(divergence.mean_kl),
            most=number(worst.kl),
            token=visible_token(worst.text, 24),
        ),
        tr("The most probable token differs at {flipped} tokens.", flipped=divergence.flipped),
    ),
    key=lambda theme, divergence: [
        [
            (theme.second, tr("KL divergence"), "●"),
            divergence.flipped > 0 and (theme.ink, tr("the favourite differs"), "◇"),
        ]
    ],
)
def model_divergence(
    divergence: ModelDivergence,
    *,
    caption: str = "",
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """KL of the second model from the first before each token, over the whole vocabulary.

    A click on a point hands over `customdata = [place, token id]`.
    """
    tokens = divergence.tokens
    if not tokens:
        return tr("No token of this text was compared.")
    values = [math.log10(min(max(token.kl, _LEAST), _MOST)) for token in tokens]
    low, high = min(values), max(*values, min(values) + 1)
    sheet = token_sheet(
        theme,
        paper,
        [(nth(token.place), token.text) for token in tokens],
        power_axis(theme, tr("KL divergence, nats"), low, high),
        left=58,
        title=READ_TOKENS,
        facts={"worst": max(tokens, key=lambda token: token.kl)},
    )
    places = [nth(token.place) for token in tokens]
    floor = low - 0.5
    stems = (((x, floor), (x, y)) for x, y in zip(places, values, strict=True))
    sheet.traces.append(
        {**strokes(stems), "line": {"color": blend(theme.second, theme.paper, 0.5), "width": 2}}
    )
    marker = {"color": theme.second, "size": 7 if len(tokens) <= 2 * MOST_TICKS else 4}
    sheet.traces.append(
        {
            "type": "scatter",
            "name": "divergence",
            "mode": "markers",
            "x": places,
            "y": values,
            "marker": marker,
            "customdata": [[token.place, token.token_id] for token in tokens],
            **hover_texts([_hover(divergence, token) for token in tokens]),
        }
    )
    flipped = [at for at, token in enumerate(tokens) if token.flipped]
    if flipped:
        add_rings(sheet, "flipped", [places[at] for at in flipped], [values[at] for at in flipped])
    return sheet


def _hover(divergence: ModelDivergence, token: TokenDivergence) -> str:
    names = [plain_name(name, 40) for name in divergence.names]
    pairs = zip(names, token.favourite_texts, token.surprisals, strict=True)
    return lines(
        f"<b>{show_token(token.text, 40)}</b>",
        tr("token {place} · KL {kl:.3g} nats", place=nth(token.place), kl=token.kl),
        tr("total variation {total_variation:.3g}", total_variation=token.total_variation),
        *(
            tr(
                "{model}: {token} first, surprisal {surprisal:.3f}",
                model=show_token(name, 40),
                token=show_token(text, 24),
                surprisal=surprisal,
            )
            for name, text, surprisal in pairs
        ),
    )
