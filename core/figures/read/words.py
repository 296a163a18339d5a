"""Captions, names and hover texts of figures of a text that a model has read."""

from __future__ import annotations

import math

from ...decoding.counting import counted, nth
from ...decoding.reading.types import TextToken, text_tokens, totals_of
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.labels import (
    lines,
    percent,
    plain_name,
    show_token,
    with_text,
)
from ..base.paper import SCREEN, Paper

NOTHING_READ = N_("No token of this text has a prediction, so there is nothing to show.")


def reading_caption(trace: Trace, paper: Paper = SCREEN) -> str:
    """Model, number type, length and perplexity; plain text."""
    totals = totals_of(text_tokens(trace))
    parts = [
        plain_name(trace.model_id, 80),
        plain_name(trace.dtype, 20),
        tr("{tokens} predicted", tokens=counted(totals.tokens, "token")),
        tr("perplexity {number}", number=number(totals.perplexity)),
    ]
    return with_text(" · ".join(filter(None, parts)), trace, paper)


def number(value: float) -> str:
    """A positive number with three digits; plain text."""
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}"


def token_hover(token: TextToken) -> str:
    """A token with the prediction before it; escaped Plotly text."""
    predicted = token.surprisal is not None
    return lines(
        f"<b>{show_token(token.text, 40)}</b>",
        tr("token {number} · id {token_id}", number=nth(token.place), token_id=token.token_id),
        not predicted and tr("nothing stands before it to predict it from"),
        predicted
        and tr("model {probability}", probability=percent(math.exp(-(token.surprisal or 0.0)))),
        predicted
        and tr(
            "rank {rank:,}, surprisal {surprisal:.3f} nats",
            rank=token.rank or 0,
            surprisal=token.surprisal,
        ),
        predicted and tr("entropy {entropy:.3f} nats", entropy=token.entropy),
        *(
            tr(
                "guess {number}: {token} {probability}",
                number=at,
                token=show_token(guess.text, 30),
                probability=percent(guess.raw_prob),
            )
            for at, guess in enumerate(token.expected[:3], start=1)
        ),
    )
