"""Acceptance by class of token."""

from __future__ import annotations

from ....decoding.record.trace import Trace
from ....decoding.speculative.analysis.classes import (
    CLASSES,
    TokenClass,
    VerifiedToken,
    verified_tokens,
)
from ....evaluation.types import Share
from ....language import N_, tr
from ...base.axes import PERCENT_TICKS, axis
from ...base.color import blend
from ...base.figure import TableRows, figure, table
from ...base.labels import NBSP, lines, settings_caption
from ...base.marks import label_bar
from ...base.paper import SCREEN, Paper
from ...base.sheet import EDGE, Properties, Sheet
from ...base.theme import LIGHT, Theme
from ...reasoning.words import share_bars
from .shares import FEW, counts_words, interval_words, is_few, share_of

CLASS_WORDS: dict[TokenClass, str] = {
    "word_start": N_("start of a word"),
    "word_part": N_("rest of a word"),
    "digit": N_("digits"),
    "punctuation": N_("punctuation"),
    "space": N_("spaces and line breaks"),
    "other": N_("other"),
}
# Height of a row, lower edge of its name and place of its bar from its middle, height of the bar;
# px.
_ROW, _NAMED, _BAR, _THICK = 46, -5.0, 9.0, 14.0


def _by_class(trace: Trace) -> dict[TokenClass, Share]:
    verified = list(verified_tokens(trace))
    held: dict[TokenClass, list[VerifiedToken]] = {
        name: [one for one in verified if one.token_class == name] for name in CLASSES
    }
    return {
        name: share_of((one.round, one.accepted) for one in tokens)
        for name, tokens in held.items()
        if tokens
    }


@table("token_class verified accepted share interval_low interval_high few")
def spec_classes_data(trace: Trace) -> TableRows:
    """Return a row for each class of drafted tokens that the target verified."""
    for name, share in _by_class(trace).items():
        yield (name, share.total, share.hits, share.value, share.low, share.high, is_few(share))


@figure(
    N_("Acceptance by class of token"),
    settings_caption,
    spec_classes_data,
    subtitle=lambda shares: (
        tr(
            "Share of the verified tokens that were accepted; the line is the 95{nbsp}% interval.",
            nbsp=NBSP,
        ),
        any(map(is_few, shares.values()))
        and tr("Fewer than {few} tokens are called few.", few=FEW),
    ),
    alt=lambda shares: (
        tr("Bars of the accepted share by class of token."),
        tr("; ").join(
            f"{tr(CLASS_WORDS[name])}: {counts_words(share)}, {interval_words(share)}"
            for name, share in shares.items()
        )
        + tr("."),
    ),
    key=lambda theme, shares: [
        [
            (_color(theme, few=False), tr("accepted")),
            any(map(is_few, shares.values())) and (_color(theme, few=True), tr("few tokens")),
        ]
    ],
)
def spec_classes(trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw the accepted share of each class of drafted tokens."""
    shares = _by_class(trace)
    if not shares:
        return tr("Nothing was drafted in this run.")
    hovers = [
        lines(f"<b>{tr(CLASS_WORDS[name])}</b>", counts_words(share), interval_words(share))
        for name, share in shares.items()
    ]
    look: Properties = {"name": "classes", "below": _BAR / _ROW, "width": _THICK / _ROW}
    sheet = Sheet(
        theme,
        paper,
        facts={"shares": shares},
        plot_height=_ROW * len(shares) + 6,
        left=EDGE,
        right=EDGE,
        below=70,
        traces=[share_bars(list(shares.values()), hovers, theme, **look)],
        key_offset=44,
        layout={
            "xaxis": axis(theme, tr("accepted"), 4, range=[0, 1.02], **PERCENT_TICKS),
            "yaxis": axis(theme, range=[len(shares) - 0.4, -0.5], visible=False),
        },
    )
    # No class is the best one: a share of few tokens is often the highest.
    colors = [_color(theme, few=is_few(share)) for share in shares.values()]
    sheet.traces[0] |= {"marker": {"color": colors, "line": {"width": 0}}}
    for at, (name, share) in enumerate(shares.items()):
        label_bar(sheet, at + _NAMED / _ROW, f"<b>{tr(CLASS_WORDS[name])}</b>")
        label_bar(sheet, at + _NAMED / _ROW, counts_words(share), right=True)
    return sheet


def _color(theme: Theme, *, few: bool) -> str:
    """Return a bar's colour, pale so that the interval over it is visible up to its ends."""
    if few:
        return blend(theme.muted, theme.paper, 0.65)
    return blend(theme.first, theme.paper, 0.45)
