"""One position of a round: both distributions, what they share, the residual, and the dice."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.decoding.speculative.types import PairCandidate
from core.decoding.trace import Trace
from core.figures.base.axes import NO_FADE, add_key, axis, key_entry
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
from core.figures.base.sheet import Properties, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.speculative.verification_data import Look, look_at, shown_candidates
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
_DATA = (
    "round position token_id token drafted added target_prob draft_prob shared excess residual "
    "target_raw_prob draft_raw_prob"
).split()


def spec_trial(
    trace: Trace, at: int, place: int, *, count: int = 10, theme: Theme = LIGHT
) -> go.Figure:
    """Both models' probabilities at a position, overlaid; the residual; where the number fell.

    Args:
        at: the round.
        place: of the drafted token; -1 for the target's own, which shares its position with the
            rejected one.
        count: so many tokens are drawn at most, the drafted and the added one always among them.
    """
    look = look_at(trace, at, place)
    if look is None:
        sentence = "No token is selected: click one in the timeline."
        caption = settings_caption(trace)
        return plain_sentence(theme, sentence, title="The trial of a token", caption=caption)
    shown = shown_candidates(look, count)
    height = _STRIP + _GAP + _ROW * len(shown)
    labels = [_tick(look, candidate, theme) for candidate in shown]
    left = 24 + round(7.4 * max(text_columns(plain) for plain, _ in labels))
    sheet = Sheet(theme)
    lay_out(
        sheet,
        title=f"Round {at}, {where_words(place)}",
        subtitle=_subtitle(look),
        caption=settings_caption(trace),
        alt=_alt(look, shown),
        plot_height=height,
        left=left,
        right=_RIGHT,
        above=20,
        below=70,
    )
    rows_share = _ROW * len(shown) / height
    add_strip(sheet, look, 1 - _STRIP / height)
    _add_bars(sheet, look, shown)
    behind = _label_share(look, shown, left)
    sheet.layout |= _axes(look, shown, [text for _, text in labels], rows_share, behind, theme)
    sheet.layout |= {"barmode": "stack"}
    add_key(sheet, _key(look, theme), left, offset=44)
    return sheet.figure()


def _subtitle(look: Look) -> str:
    if look.drafted is None:
        return "The bonus comes from the target alone: the draft has no say at this position."
    if rule_of(look.trace) != "speculative":
        return "Both models’ probabilities for the same position, one over the other."
    missing = percent(look.residual_mass)
    return (
        f"The shaded part is min(target, draft). The blue rest is the residual, {missing} in all: "
        "the probability that a token drafted here is rejected."
    )


def _tick(look: Look, candidate: PairCandidate, theme: Theme) -> tuple[str, str]:
    plain = visible_token(candidate.text, _LIMIT)
    token, kind = show_token(candidate.text, _LIMIT), look.kind_of(candidate)
    if kind is None:
        return plain, f"{token}{NBSP}"
    sign = f'<span style="color:{kind_color(kind, theme)}">{SIGNS[kind]}</span>'
    return f"{plain}  ", f"{sign}{NBSP}<b>{token}</b>{NBSP}"


def _add_bars(sheet: Sheet, look: Look, shown: Sequence[PairCandidate]) -> None:
    theme = sheet.theme
    shared = [min(c.target_prob, c.draft_prob or 0.0) for c in shown]
    only_target = [c.target_prob - s for c, s in zip(shown, shared, strict=True)]
    only_draft = [(c.draft_prob or 0.0) - s for c, s in zip(shown, shared, strict=True)]
    shade = {"shape": "/", "fgcolor": theme.muted, "bgcolor": theme.rest, "size": 6}
    common = _common(look, shown)
    pattern = {"color": theme.rest, "line": {"width": 0}, "pattern": {**shade, "solidity": 0.25}}
    sheet.traces += [
        {**common, "name": "both", "x": shared, "marker": pattern},
        {**common, "name": "target only", "x": only_target, "marker": _filled(theme.first)},
        {
            **common,
            "name": "draft only",
            "x": only_draft,
            "marker": _filled(theme.second),
            "text": [_pair_text(look, c, theme) for c in shown],
            "textposition": "outside",
            "textangle": 0,
            "textfont": {"size": 11, "color": theme.ink},
            "cliponaxis": False,
            "constraintext": "none",
        },
    ]
    if look.residual_mass > 0:
        sheet.traces.append({**common, **_residual_bars(look, shown, theme)})


def _common(look: Look, shown: Sequence[PairCandidate]) -> Properties:
    return {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(shown))),
        "width": 0.72,
        "hovertext": [_hover(look, c) for c in shown],
        "hovertemplate": "%{hovertext}<extra></extra>",
        **NO_FADE,
    }


def _residual_bars(look: Look, shown: Sequence[PairCandidate], theme: Theme) -> Properties:
    widths = [2 * (look.kind_of(c) == "recovered") for c in shown]
    colors = [_residual_color(look, c, theme) for c in shown]
    return {
        "name": "residual",
        "xaxis": "x2",
        "x": [c.excess / look.residual_mass for c in shown],
        "marker": {"color": colors, "line": {"color": theme.ink, "width": widths}},
    }


def _filled(color: str) -> Properties:
    return {"color": color, "line": {"width": 0}}


def _residual_color(look: Look, candidate: PairCandidate, theme: Theme) -> str:
    recovered = look.kind_of(candidate) == "recovered"
    return kind_color("recovered", theme) if recovered else theme.first


def _pair_text(look: Look, candidate: PairCandidate, theme: Theme) -> str:
    target = f'<span style="color:{theme.first}">{percent(candidate.target_prob)}</span>'
    if look.drafted is None or candidate.draft_prob is None:
        return f"{NBSP}{target}"
    draft = f'<span style="color:{theme.second}">{percent(candidate.draft_prob)}</span>'
    return f"{NBSP}{target}{NBSP}|{NBSP}{draft}"


def _hover(look: Look, candidate: PairCandidate) -> str:
    kind = look.kind_of(candidate)
    lines = [f"<b>{show_token(candidate.text, 40)}</b>"]
    if kind is not None:
        lines.append(kind_words(kind))
    lines.append(f"target_prob {percent(candidate.target_prob)}")
    if candidate.draft_prob is not None:
        lines.append(f"draft_prob {percent(candidate.draft_prob)}")
    if look.residual_mass > 0:
        lines.append(f"residual {percent(candidate.excess / look.residual_mass)}")
    lines.append(f"target before shaping {percent(candidate.target_raw_prob)}")
    if candidate.draft_raw_prob is not None:
        lines.append(f"draft before shaping {percent(candidate.draft_raw_prob)}")
    return "<br>".join(lines)


def _label_share(look: Look, shown: Sequence[PairCandidate], left: int) -> float:
    """The share of the bars' panel that the numbers take where the figure is narrow."""
    panel = (_NARROW - left - _RIGHT) * (_SPLIT[0] if look.residual_mass > 0 else 1)
    longest = max(len(_pair_numbers(look, candidate)) for candidate in shown)
    return min(0.65, (longest + 2) * _DIGIT / panel)


def _pair_numbers(look: Look, candidate: PairCandidate) -> str:
    both = look.drafted is not None and candidate.draft_prob is not None
    draft = f" | {percent(candidate.draft_prob or 0.0)}" if both else ""
    return percent(candidate.target_prob) + draft


def _axes(
    look: Look,
    shown: Sequence[PairCandidate],
    labels: Sequence[str],
    rows: float,
    behind: float,
    theme: Theme,
) -> Properties:
    """Args: `rows` is the bars' share of the height, `behind` the labels' share of the width."""
    top = max(*(max(c.target_prob, c.draft_prob or 0.0) for c in shown), 1e-9)
    two = look.residual_mass > 0
    across = {
        "range": [0, top / (1 - behind)],
        "domain": [0, _SPLIT[0] if two else 1],
        **percent_ticks(top, 3),
    }
    down = axis(
        theme,
        range=[len(shown) - 0.5, -0.5],
        domain=[0, rows],
        showgrid=False,
        tickmode="array",
        tickvals=list(range(len(shown))),
        ticktext=labels,
        tickfont={"family": theme.mono, "size": 12, "color": theme.ink},
    )
    found: Properties = {"xaxis": axis(theme, "probability", 6, **across), "yaxis": down}
    if two:
        most = max(*(c.excess / look.residual_mass for c in shown), 1e-9)
        right = {"range": [0, most * 1.08], "domain": [_SPLIT[1], 1], **percent_ticks(most, 2)}
        found["xaxis2"] = axis(theme, "residual", 6, anchor="y", **right)
    return found


def _key(look: Look, theme: Theme) -> list[str]:
    keys = [key_entry(theme.first, "target")]
    if look.drafted is not None:
        keys = [
            key_entry(theme.muted, "both", "▨"),
            key_entry(theme.first, "target only"),
            key_entry(theme.second, "draft only"),
        ]
    kinds = [kind for kind in map(look.kind_of, look.candidates) if kind is not None]
    marks = [key_entry(kind_color(k, theme), kind_words(k), SIGNS[k]) for k in dict.fromkeys(kinds)]
    return ["".join(keys), "".join(marks)]


def _alt(look: Look, shown: Sequence[PairCandidate]) -> str:
    token = token_at(look.trace, look.at, look.place)
    assert token is not None
    kind = look.drafted.outcome if look.drafted and look.place != EXTRA else extra_kind(look.step)
    top = ", ".join(
        f"{visible_token(c.text, 24)} target {percent(c.target_prob)}"
        + ("" if c.draft_prob is None else f" and draft {percent(c.draft_prob)}")
        for c in shown[:3]
    )
    residual = f" The residual is {percent(look.residual_mass)}." if look.residual_mass else ""
    return (
        f"Bars of both models' probabilities, round {look.at}, position {look.position}: {top}. "
        f"{visible_token(token.text, 24)} is {kind_words(kind)}.{residual}"
    )


def spec_trial_data(trace: Trace, at: int, place: int) -> pd.DataFrame:
    """Every recorded candidate of the position, one a row, with the tokens' raw text."""
    look = look_at(trace, at, place)
    records = []
    for c in look.candidates if look else ():
        assert look is not None
        mass = look.residual_mass
        records.append(
            (
                at,
                look.position,
                c.token_id,
                table_text(c.text),
                look.drafted is not None and c.token_id == look.drafted.token_id,
                look.extra is not None and c.token_id == look.extra.token_id,
                c.target_prob,
                c.draft_prob,
                None if c.draft_prob is None else min(c.target_prob, c.draft_prob),
                None if c.draft_prob is None else c.excess,
                c.excess / mass if mass > 0 else None,
                c.target_raw_prob,
                c.draft_raw_prob,
            )
        )
    return pd.DataFrame(records, columns=_DATA)
