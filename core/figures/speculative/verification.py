"""One position of a round: both distributions, their overlap, the residual, and the draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...decoding.constraints.reading import constrained_position
from ...decoding.counting import nth, span_key
from ...decoding.record.trace import Trace
from ...decoding.speculative.types import PairCandidate
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
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
from ..base.marks import token_bars
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sentences, Sheet, no_selection
from ..base.theme import LIGHT, Theme
from ..constraint.words import allowed_words
from .position import VerifiedPosition, position_at, shown_candidates
from .verification_strip import add_strip
from .words import (
    EXTRA,
    SIGNS,
    extra_kind,
    kind_color,
    round_words,
    rule_of,
    shown_kind,
)

_ROW, _STRIP, _GAP, _LIMIT, _RIGHT = 24, 20, 48, 11, 18
# End of the bars and start of the residual's bars, as shares of the width.
_SPLIT = (0.74, 0.8)
# Width of the narrowest figure whose numbers must not be cut, and of a digit, px.
_NARROW, _DIGIT = 366, 5.8


@table(
    "round position token_id token drafted added target_prob draft_prob shared excess residual "
    "target_raw_prob draft_raw_prob"
)
def spec_verification_data(trace: Trace, at: int, place: int) -> TableRows:
    """Return every recorded candidate of the position, one per row, with the tokens' raw text."""
    verified = position_at(trace, at, place)
    if verified is None:
        return
    drafted, extra, mass = verified.drafted, verified.extra, verified.residual_mass
    for c in verified.candidates:
        both = c.draft_prob is not None
        yield (
            nth(at),
            nth(verified.position),
            c.token_id,
            table_text(c.text),
            drafted is not None and c.token_id == drafted.token_id,
            extra is not None and c.token_id == extra.token_id,
            c.target_prob,
            c.draft_prob,
            min(c.target_prob, c.draft_prob or 0.0) if both else None,
            c.excess if both else None,
            c.excess / mass if mass > 0 else None,
            c.target_raw_prob,
            c.draft_raw_prob,
        )


def _alt(verified: VerifiedPosition, shown: Sequence[PairCandidate]) -> Sentences:
    drafted, own = verified.drafted, verified.place == EXTRA or verified.drafted is None
    token = verified.extra if own else drafted
    kind = extra_kind(verified.step) if own or drafted is None else drafted.outcome
    assert token is not None
    return (
        tr(
            "Bars of both models' probabilities, round {round}, position {position}:",
            round=nth(verified.at),
            position=nth(verified.position),
        ),
        tr("{part}.", part=tr(", ").join(map(_in_words, shown[:3]))),
        tr("{token} is {kind}.", token=visible_token(token.text, 24), kind=shown_kind(kind)),
        verified.residual_mass > 0
        and tr("The residual is {mass}.", mass=percent(verified.residual_mass)),
    )


def _in_words(candidate: PairCandidate) -> str:
    values = {"token": visible_token(candidate.text, 24), "target": percent(candidate.target_prob)}
    if candidate.draft_prob is None:
        return tr("{token} target {target}", **values)
    return tr(
        "{token} target {target} and draft {draft}", draft=percent(candidate.draft_prob), **values
    )


def _subtitle(verified: VerifiedPosition) -> Sentences:
    """Return what is drawn, and what the constraint allowed the target."""
    allowed = constrained_position(verified.trace, verified.at, verified.place)
    drafted, own = verified.drafted, verified.place == EXTRA
    refused = drafted is not None and drafted.refused and not own
    return (
        _drawn(verified),
        refused
        and tr(
            "The constraint doesn’t allow the drafted token: the target gives it 0{nbsp}%.",
            nbsp=NBSP,
        ),
        allowed is not None and escaped(allowed_words(allowed)),
    )


def _drawn(verified: VerifiedPosition) -> str:
    if verified.drafted is None:
        return tr("The bonus comes from the target alone: the draft has no say at this position.")
    if rule_of(verified.trace) != "speculative":
        return tr("Both models’ probabilities at the same position, overlaid.")
    return tr(
        "The overlap is min(target, draft). The target’s rest is the residual, {mass} in all: the "
        "probability that a token drafted here is rejected.",
        mass=percent(verified.residual_mass),
    )


@figure(
    N_("The verification of a token"),
    settings_caption,
    spec_verification_data,
    subtitle=_subtitle,
    alt=_alt,
    key=lambda verified, theme: [
        [(theme.first, tr("target"))]
        if verified.drafted is None
        else [
            (theme.muted, tr("both"), "▨"),
            (theme.first, tr("target only")),
            (theme.second, tr("draft only")),
        ],
        [
            (kind_color(kind, theme), shown_kind(kind), SIGNS[kind])
            for kind in dict.fromkeys(map(verified.kind_of, verified.candidates))
            if kind
        ],
    ],
)
def spec_verification(
    trace: Trace,
    at: int,
    place: int,
    *,
    count: int = 10,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw both models' probabilities at a position, overlaid, the residual, and the uniform
    number.

    Args:
        at: the round.
        place: place of the drafted token; -1 for the target's own token, which has the position of
            the rejected one.
        count: maximum number of tokens; the drafted and the added token are always included.
    """
    verified = position_at(trace, at, place)
    if verified is None:
        return no_selection(paper, N_("token"), N_("one in the timeline"))
    shown = shown_candidates(verified, count)
    place_key = "own-token" if place == EXTRA else span_key("position", place)
    height = _STRIP + _GAP + _ROW * len(shown)
    names, columns = _names(verified, shown, theme)
    left = 24 + round(7.4 * columns)
    sheet = Sheet(
        theme,
        paper,
        title=round_words(verified.step, at, place),
        facts={"verified": verified, "shown": shown},
        meta={"shown": [span_key("round", at), place_key]},
        plot_height=height,
        left=left,
        right=_RIGHT,
        above=20,
        below=70,
        key_offset=44,
        layout={
            **_axes(verified, shown, names, (left, height), theme),
            "barmode": "stack",
        },
    )
    add_strip(sheet, verified, 1 - _STRIP / height)
    sheet.traces += _bars(verified, shown, theme)
    if verified.drafted is not None:
        sheet.explained.append(tr("beside a bar: the target's probability | the draft's"))
    return sheet


def _pair(found: VerifiedPosition, candidate: PairCandidate) -> list[float]:
    """Return the probabilities beside a bar: the target's, and the draft's if it has one."""
    alone = found.drafted is None or candidate.draft_prob is None
    return (
        [candidate.target_prob] if alone else [candidate.target_prob, candidate.draft_prob or 0.0]
    )


def _names(
    found: VerifiedPosition, shown: Sequence[PairCandidate], theme: Theme
) -> tuple[list[str], int]:
    """Return the tokens, the drafted and the added one with their signs, and the columns of the
    widest.
    """
    names, columns = [], []
    for candidate in shown:
        token, kind = show_token(candidate.text, _LIMIT), found.kind_of(candidate)
        columns.append(text_columns(visible_token(candidate.text, _LIMIT)) + 2 * bool(kind))
        if kind:
            sign = f'<span style="color:{kind_color(kind, theme)}">{SIGNS[kind]}</span>'
            token = f"{sign}{NBSP}<b>{token}</b>"
        names.append(f"{token}{NBSP}")
    return names, max(columns)


def _axes(
    found: VerifiedPosition,
    shown: Sequence[PairCandidate],
    names: Sequence[str],
    plot: tuple[int, int],
    theme: Theme,
) -> Properties:
    """Return the axes of a plotting area with this left margin and height, px."""
    two, rows = found.residual_mass > 0, _ROW * len(shown) / plot[1]
    end = _SPLIT[0] if two else 1
    # Room for the numbers after the bars in a narrow figure.
    longest = max(len(" | ".join(map(percent, _pair(found, c)))) for c in shown)
    behind = min(0.65, (longest + 2) * _DIGIT / ((_NARROW - plot[0] - _RIGHT) * end))
    top = max(*(max(c.target_prob, c.draft_prob or 0.0) for c in shown), 1e-9)
    most = max(*(c.excess / (found.residual_mass or 1.0) for c in shown), 1e-9)
    look = {
        "range": [0, most * 1.08],
        "domain": [_SPLIT[1], 1],
        # Turned, the last one would leave a narrow paper.
        "tickangle": 0,
        **percent_ticks(most, 2),
    }
    return {
        "xaxis": axis(
            theme,
            tr("probability"),
            6,
            range=[0, top / (1 - behind)],
            domain=[0, end],
            **percent_ticks(top, 3),
        ),
        "yaxis": named_axis(theme, names, range=[len(shown) - 0.5, -0.5], domain=[0, rows]),
        **({"xaxis2": axis(theme, tr("residual"), 6, anchor="y", **look)} if two else {}),
    }


def _bars(
    found: VerifiedPosition, shown: Sequence[PairCandidate], theme: Theme
) -> Iterator[Properties]:
    """Yield the bars of both models' common and separate probabilities, and of the residual."""
    hovers = [
        lines(
            f"<b>{show_token(c.text, 40)}</b>",
            kind and shown_kind(kind),
            f"target_prob {percent(c.target_prob)}",
            c.draft_prob is not None and f"draft_prob {percent(c.draft_prob)}",
            found.residual_mass > 0
            and tr("residual {share}", share=percent(c.excess / found.residual_mass)),
            tr("target before shaping {prob}", prob=percent(c.target_raw_prob)),
            c.draft_raw_prob is not None
            and tr("draft before shaping {prob}", prob=percent(c.draft_raw_prob)),
        )
        for c, kind in ((c, found.kind_of(c)) for c in shown)
    ]
    shared = [min(c.target_prob, c.draft_prob or 0.0) for c in shown]
    plain = {"line": {"width": 0}}
    hatch = {"shape": "/", "fgcolor": theme.muted, "bgcolor": theme.rest, "size": 6}
    hatched = {**plain, "pattern": {**hatch, "solidity": 0.25}}
    target = [c.target_prob - s for c, s in zip(shown, shared, strict=True)]
    draft = [(c.draft_prob or 0.0) - s for c, s in zip(shown, shared, strict=True)]
    texts = [
        NBSP
        + f"{NBSP}|{NBSP}".join(
            f'<span style="color:{color}">{percent(prob)}</span>'
            for color, prob in zip((theme.first, theme.second), _pair(found, c), strict=False)
        )
        for c in shown
    ]
    look: Properties = {"width": 0.72}
    yield token_bars(theme, "both", shared, hovers, theme.rest, marker=hatched, **look)
    yield token_bars(theme, "target only", target, hovers, theme.first, marker=plain, **look)
    yield token_bars(
        theme, "draft only", draft, hovers, theme.second, texts=texts, marker=plain, **look
    )
    if found.residual_mass > 0:
        recovered = [found.kind_of(candidate) == "recovered" for candidate in shown]
        line = {"color": theme.ink, "width": [2 * hit for hit in recovered]}
        yield token_bars(
            theme,
            "residual",
            [candidate.excess / found.residual_mass for candidate in shown],
            hovers,
            [kind_color("recovered", theme) if hit else theme.first for hit in recovered],
            marker={"line": line},
            xaxis="x2",
            **look,
        )
