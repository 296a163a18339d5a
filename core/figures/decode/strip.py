"""Colours and texts of the generated tokens, for a strip that the page draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ...decoding.counting import nth
from ...decoding.record.characters import is_byte_part
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.labels import BREAK, percent, visible_token
from ..base.records import forced_words, texts_in, token_place
from ..base.theme import LIGHT, Theme

By: TypeAlias = Literal["probability", "entropy", "rank", "surprisal"]

_PART = "·"
_LABELS = {
    "step": N_("Step {number}: {token}, {words}"),
    "token": N_("Token {number}: {token}, {words}"),
}
# Fixed upper ends, so that a colour has the same meaning in every run.
_TOP_ENTROPY = 5.0


class Legend(NamedTuple):
    """Legend of a strip's colours: names of both ends, and the colours between them.

    A stronger colour marks a less expected token.
    """

    title: str
    low: str
    high: str
    stops: tuple[str, ...]


def token_share(step: TokenStep, by: By) -> float:
    """Return a step's position on the scale of `by`, in [0, 1]; 1 is the least expected.

    The scales are: probability of the chosen token from 1 down to 0, entropy up to 5 nats,
    surprisal up to 8 nats, logarithm of the rank up to rank 1,000; all from the raw distribution.
    """
    if by == "probability":
        value = 1 - step.chosen.raw_prob
    elif by == "entropy":
        value = step.entropy / _TOP_ENTROPY
    elif by == "surprisal":
        value = step.surprisal / 8.0
    else:
        value = math.log(step.chosen.rank) / math.log(1000)
    return min(max(value, 0.0), 1.0)


def token_colors(
    trace: Trace, by: By = "probability", theme: Theme = LIGHT
) -> list[tuple[str, str]]:
    """Return background and text colour of every generated token; their contrast is 4.5 or more."""
    grounds = [theme.uncertainty_color(token_share(step, by)) for step in trace.token_steps]
    return [(ground, theme.text_on(ground)) for ground in grounds]


def legend(by: By = "probability", theme: Theme = LIGHT) -> Legend:
    """Return the legend of `token_colors`, for a gradient with two labels."""
    titles = {
        "probability": (
            tr("probability of the chosen token, before shaping"),
            percent(1),
            percent(0),
        ),
        "entropy": (tr("entropy before the draw"), tr("0 nats"), tr("5 nats or more")),
        "surprisal": (tr("surprisal of the chosen token"), tr("0 nats"), tr("8 nats or more")),
        "rank": (tr("rank of the chosen token"), tr("rank 1"), tr("rank 1,000 or lower")),
    }
    return Legend(*titles[by], theme.uncertainty)


def _adds_text(added: str) -> bool:
    """Return False for the end of a text, and for bytes that form no character."""
    return bool(added.strip("\ufffd"))


def shown_texts(steps: Sequence[TokenStep]) -> list[str]:
    """Return the strip's text of each token; bytes of a character that a later token completes are
    dots before it.
    """
    texts, pending = list[str](), list[int]()
    for at, step in enumerate(steps):
        if not step.text and is_byte_part(step.chosen.text):
            pending.append(at)
        else:
            if step.text and "\ufffd" not in step.text:
                for part in pending:
                    texts[part] = _PART
            pending.clear()
        texts.append(shown_text(step.text, step.chosen.text))
    return texts


def shown_text(added: str, token: str) -> str:
    """Return the strip's text for a token that added this text."""
    if not _adds_text(added):
        return visible_token(token)
    # Bytes of tokens before it that form no character: those tokens show them.
    if "\ufffd" in added:
        added = token
    # A token of whitespace alone would be a gap that can't be seen or clicked.
    return visible_token(added) if added.isspace() else added.replace("\n", BREAK)


def kind_of(added: str) -> str:
    """Return `special` for a token that adds no text by itself, `line` before a line break."""
    if not _adds_text(added):
        return "special"
    return "line" if "\n" in added else ""


def step_label(
    step: TokenStep,
    trace: Trace,
    text_of: Callable[[int], str] | None = None,
    *,
    reads: bool = False,
) -> str:
    """Return a token's label: its place, its text, and its probability or why it was forced.

    Args:
        text_of: the text of a token that a given one replaced; by default as the run names it.
        reads: the trace is a text that was read: the place is the token's position in the text.
    """
    token, (kind, at) = step.chosen, token_place(step, trace, reads=reads)
    words = forced_words(step, text_of=text_of or texts_in(trace)) or tr(
        "probability {probability}, rank {rank}",
        probability=percent(token.raw_prob),
        rank=token.rank,
    )
    return tr(_LABELS[kind], number=nth(at), token=visible_token(token.text), words=words)
