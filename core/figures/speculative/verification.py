"""One position of a round: both distributions, what they share, the residual, and the draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.decoding.counting import nth, span_key
from core.decoding.record.trace import Trace
from core.decoding.speculative.types import PairCandidate
from core.figures.base.axes import axis, key_entry, named_axis
from core.figures.base.figure import TableRows, figure, table
from core.figures.base.labels import (
    NBSP,
    percent,
    percent_ticks,
    settings_caption,
    show_token,
    table_text,
    text_columns,
    visible_token,
)
from core.figures.base.marks import token_bars
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.sheet import Properties, Sheet, no_selection
from core.figures.base.theme import LIGHT, Theme
from core.figures.speculative.position import VerifiedPosition, position_at, shown_candidates
from core.figures.speculative.verification_strip import add_strip
from core.figures.speculative.words import (
    EXTRA,
    SIGNS,
    extra_kind,
    kind_color,
    kind_words,
    rule_of,
    token_at,
    where_words,
)

_ROW, _STRIP, _GAP, _LIMIT, _RIGHT = 24, 20, 48, 11, 18
# Where the bars end and the residual's begin, as shares of the width.
_SPLIT = (0.74, 0.8)
# The narrowest figure whose numbers must not be cut, and a digit of them, px.
_NARROW, _DIGIT = 366, 5.8


@table(
    "round position token_id token drafted added target_prob draft_prob shared excess residual "
    "target_raw_prob draft_raw_prob"
)
def spec_verification_data(trace: Trace, at: int, place: int) -> TableRows:
    """Every recorded candidate of the position, one a row, with the tokens' raw text."""
    verified = position_at(trace, at, place)
    if verified is None:
        return
    drafted, extra, mass = verified.drafted, verified.extra, verified.residual_mass
    for c in verified.candidates:
        both = c.draft_prob is not None
        here = drafted is not None and c.token_id == drafted.token_id
        added = extra is not None and c.token_id == extra.token_id
        who = (
            nth(at),
            nth(verified.position),
            c.token_id,
            table_text(c.text),
            here,
            added,
        )
        shared = min(c.target_prob, c.draft_prob or 0.0) if both else None
        yield (
            *who,
            c.target_prob,
            c.draft_prob,
            shared,
            c.excess if both else None,
            c.excess / mass if mass > 0 else None,
            c.target_raw_prob,
            c.draft_raw_prob,
        )


@figure("The verification of a token", settings_caption, spec_verification_data)
def spec_verification(
    trace: Trace,
    at: int,
    place: int,
    *,
    count: int = 10,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Both models' probabilities at a position, overlaid; the residual; where the number fell.

    Args:
        at: the round.
        place: of the drafted token; -1 for the target's own, which shares its position with the
            rejected one.
        count: so many tokens are drawn at most, the drafted and the added one always among them.
    """
    verified = position_at(trace, at, place)
    if verified is None:
        return no_selection(paper, "token", "one in the timeline")
    shown = shown_candidates(verified, count)
    height = _STRIP + _GAP + _ROW * len(shown)
    labels = [_tick(verified, candidate, theme) for candidate in shown]
    left = 24 + round(7.4 * max(text_columns(plain) for plain, _ in labels))
    sheet = Sheet(
        theme,
        paper,
        title=f"Round {nth(at)}, {where_words(place)}",
        subtitle=_subtitle(verified),
        alt=_alt(verified, shown),
        meta={"shown": [span_key("round", at), _place_key(place)]},
        plot_height=height,
        left=left,
        right=_RIGHT,
        above=20,
        below=70,
        key=_key(verified, theme),
        key_offset=44,
        layout={
            **_axes(verified, shown, [text for _, text in labels], (left, height), theme),
            "barmode": "stack",
        },
    )
    add_strip(sheet, verified, 1 - _STRIP / height)
    sheet.traces += _bars(verified, shown, theme)
    if verified.drafted is not None:
        sheet.explained.append("beside a bar: the target's probability | the draft's")
    return sheet


def _place_key(place: int) -> str:
    """A token's place in a file's name."""
    return "own-token" if place == EXTRA else span_key("position", place)


def _subtitle(found: VerifiedPosition) -> str:
    if found.drafted is None:
        return "The bonus comes from the target alone: the draft has no say at this position."
    if rule_of(found.trace) != "speculative":
        return "Both models’ probabilities for the same position, one over the other."
    missing = percent(found.residual_mass)
    return (
        "What both give is min(target, draft). The target’s rest is the residual, "
        f"{missing} in all: the probability that a token drafted here is rejected."
    )


def _tick(found: VerifiedPosition, candidate: PairCandidate, theme: Theme) -> tuple[str, str]:
    plain = visible_token(candidate.text, _LIMIT)
    token, kind = show_token(candidate.text, _LIMIT), found.kind_of(candidate)
    if kind is None:
        return plain, f"{token}{NBSP}"
    sign = f'<span style="color:{kind_color(kind, theme)}">{SIGNS[kind]}</span>'
    return f"{plain}  ", f"{sign}{NBSP}<b>{token}</b>{NBSP}"


def _bars(
    found: VerifiedPosition, shown: Sequence[PairCandidate], theme: Theme
) -> Iterator[Properties]:
    """The bars of both models' shared and single probabilities, and of the residual."""
    hovers = [_hover(found, candidate) for candidate in shown]
    shared = [min(c.target_prob, c.draft_prob or 0.0) for c in shown]
    plain = {"line": {"width": 0}}
    lines = {"shape": "/", "fgcolor": theme.muted, "bgcolor": theme.rest, "size": 6}
    hatched = {**plain, "pattern": {**lines, "solidity": 0.25}}
    target = [c.target_prob - s for c, s in zip(shown, shared, strict=True)]
    draft = [(c.draft_prob or 0.0) - s for c, s in zip(shown, shared, strict=True)]
    texts = [_pair_text(found, candidate, theme) for candidate in shown]
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


def _pair_text(found: VerifiedPosition, candidate: PairCandidate, theme: Theme) -> str:
    target = f'<span style="color:{theme.first}">{percent(candidate.target_prob)}</span>'
    if found.drafted is None or candidate.draft_prob is None:
        return f"{NBSP}{target}"
    draft = f'<span style="color:{theme.second}">{percent(candidate.draft_prob)}</span>'
    return f"{NBSP}{target}{NBSP}|{NBSP}{draft}"


def _hover(found: VerifiedPosition, candidate: PairCandidate) -> str:
    kind = found.kind_of(candidate)
    lines = [f"<b>{show_token(candidate.text, 40)}</b>"]
    if kind is not None:
        lines.append(kind_words(kind))
    lines.append(f"target_prob {percent(candidate.target_prob)}")
    if candidate.draft_prob is not None:
        lines.append(f"draft_prob {percent(candidate.draft_prob)}")
    if found.residual_mass > 0:
        lines.append(f"residual {percent(candidate.excess / found.residual_mass)}")
    lines.append(f"target before shaping {percent(candidate.target_raw_prob)}")
    if candidate.draft_raw_prob is not None:
        lines.append(f"draft before shaping {percent(candidate.draft_raw_prob)}")
    return "<br>".join(lines)


def _label_share(found: VerifiedPosition, shown: Sequence[PairCandidate], left: int) -> float:
    """The share of the bars' panel that the numbers take where the figure is narrow."""
    panel = (_NARROW - left - _RIGHT) * (_SPLIT[0] if found.residual_mass > 0 else 1)
    longest = 0
    for candidate in shown:
        two = found.drafted is not None and candidate.draft_prob is not None
        draft = f" | {percent(candidate.draft_prob or 0.0)}" if two else ""
        longest = max(longest, len(percent(candidate.target_prob) + draft))
    return min(0.65, (longest + 2) * _DIGIT / panel)


def _axes(
    found: VerifiedPosition,
    shown: Sequence[PairCandidate],
    labels: Sequence[str],
    plot: tuple[int, int],
    theme: Theme,
) -> Properties:
    """The axes of a plotting area by its left margin and its height, px."""
    behind, rows = _label_share(found, shown, plot[0]), _ROW * len(shown) / plot[1]
    top = max(*(max(c.target_prob, c.draft_prob or 0.0) for c in shown), 1e-9)
    two = found.residual_mass > 0
    axes: Properties = {
        "xaxis": axis(
            theme,
            "probability",
            6,
            range=[0, top / (1 - behind)],
            domain=[0, _SPLIT[0] if two else 1],
            **percent_ticks(top, 3),
        ),
        "yaxis": named_axis(theme, labels, range=[len(shown) - 0.5, -0.5], domain=[0, rows]),
    }
    if two:
        most = max(*(c.excess / found.residual_mass for c in shown), 1e-9)
        axes["xaxis2"] = axis(
            theme,
            "residual",
            6,
            anchor="y",
            range=[0, most * 1.08],
            domain=[_SPLIT[1], 1],
            **percent_ticks(most, 2),
        )
    return axes


def _key(found: VerifiedPosition, theme: Theme) -> list[str]:
    keys = [key_entry(theme.first, "target")]
    if found.drafted is not None:
        keys = [
            key_entry(theme.muted, "both", "▨"),
            key_entry(theme.first, "target only"),
            key_entry(theme.second, "draft only"),
        ]
    kinds = [kind for kind in map(found.kind_of, found.candidates) if kind is not None]
    return [
        "".join(keys),
        "".join(
            [key_entry(kind_color(k, theme), kind_words(k), SIGNS[k]) for k in dict.fromkeys(kinds)]
        ),
    ]


def _alt(found: VerifiedPosition, shown: Sequence[PairCandidate]) -> str:
    token = token_at(found.trace, found.at, found.place)
    assert token is not None
    kind = (
        found.drafted.outcome if found.drafted and found.place != EXTRA else extra_kind(found.step)
    )
    top = ", ".join(
        f"{visible_token(c.text, 24)} target {percent(c.target_prob)}"
        + ("" if c.draft_prob is None else f" and draft {percent(c.draft_prob)}")
        for c in shown[:3]
    )
    residual = f" The residual is {percent(found.residual_mass)}." if found.residual_mass else ""
    return (
        f"Bars of both models' probabilities, round {nth(found.at)}, position "
        f"{nth(found.position)}: {top}. "
        f"{visible_token(token.text, 24)} is {kind_words(kind)}.{residual}"
    )
