"""One position of a round: both distributions, what they share, the residual, and the dice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go

from core.decoding.speculative_types import DraftRound, DraftToken, ExtraToken, PairCandidate
from core.decoding.types import Trace
from core.figures.furniture import NO_FADE, add_key, axis, key_entry
from core.figures.labels import (
    NBSP,
    percent,
    percent_ticks,
    settings_caption,
    show_token,
    table_text,
    text_columns,
    visible_token,
)
from core.figures.sheet import Properties, Sheet, lay_out, plain_sentence
from core.figures.spec.words import (
    EXTRA,
    SIGNS,
    Kind,
    extra_kind,
    kind_color,
    kind_words,
    number,
    rule_of,
    soft_color,
    token_at,
)
from core.figures.theme import LIGHT, Theme

_ROW, _STRIP, _GAP, _LIMIT = 24, 20, 48, 11
# The share of the width that the labels behind a bar take.
_LABELS = 0.3
_SPLIT = (0.7, 0.76)
_DATA = (
    "round position token_id token drafted added target_prob draft_prob shared excess residual "
    "target_raw_prob draft_raw_prob"
).split()


@dataclass(frozen=True)
class _Look:
    """A position as it is drawn: `place` as it was asked for, `position` where it stands."""

    trace: Trace
    at: int
    place: int
    step: DraftRound
    position: int
    drafted: DraftToken | None
    extra: ExtraToken | None
    candidates: tuple[PairCandidate, ...]

    @property
    def residual_mass(self) -> float:
        """0 where the rule knows no residual."""
        speculative = rule_of(self.trace) == "speculative"
        return self.drafted.residual_mass if self.drafted and speculative else 0.0

    def kind_of(self, candidate: PairCandidate) -> Kind | None:
        """What the token is here: the drafted one, the one that the target added, or neither."""
        if self.drafted is not None and candidate.token_id == self.drafted.token_id:
            return self.drafted.outcome
        if self.extra is not None and candidate.token_id == self.extra.token_id:
            return extra_kind(self.step)
        return None


class _Segment(NamedTuple):
    start: float
    end: float
    color: str
    words: str


def _look(trace: Trace, at: int, place: int) -> _Look | None:
    if token_at(trace, at, place) is None:
        return None
    step = trace.rounds[at]
    reached = len(step.accepted)
    position = reached if place == EXTRA else place
    drafted = step.drafted[position] if position < len(step.drafted) else None
    extra = step.extra if position == reached else None
    if drafted is not None:
        return _Look(trace, at, place, step, position, drafted, extra, drafted.candidates)
    assert extra is not None
    return _Look(trace, at, place, step, position, None, extra, extra.candidates)


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
    look = _look(trace, at, place)
    if look is None:
        sentence = "No token is selected: click one in the timeline."
        caption = settings_caption(trace)
        return plain_sentence(theme, sentence, title="The trial of a token", caption=caption)
    shown = _shown(look, count)
    height = _STRIP + _GAP + _ROW * len(shown)
    labels = [_tick(look, candidate, theme) for candidate in shown]
    left = 24 + round(7.4 * max(text_columns(plain) for plain, _ in labels))
    sheet = Sheet(theme)
    lay_out(
        sheet,
        title=f"Round {at}, position {look.position}",
        subtitle=_subtitle(look),
        caption=settings_caption(trace),
        alt=_alt(look, shown),
        plot_height=height,
        left=left,
        right=18,
        above=20,
        below=70,
    )
    rows_share = _ROW * len(shown) / height
    _add_strip(sheet, look, 1 - _STRIP / height)
    _add_bars(sheet, look, shown)
    sheet.layout |= _axes(look, shown, [text for _, text in labels], rows_share, theme)
    sheet.layout |= {"barmode": "stack"}
    add_key(sheet, _key(look, theme), left, offset=44)
    return sheet.figure()


def _shown(look: _Look, count: int) -> list[PairCandidate]:
    """The likeliest in either model, by falling target_prob."""
    own = {token.token_id for token in (look.drafted, look.extra) if token is not None}
    rest = sorted(
        (c for c in look.candidates if c.token_id not in own),
        key=lambda c: -max(c.target_prob, c.draft_prob or 0.0),
    )
    # A probability of 0 in both has nothing to show.
    rest = [c for c in rest if max(c.target_prob, c.draft_prob or 0.0) > 0]
    keep = own | {c.token_id for c in rest[: max(0, count - len(own))]}
    chosen = [c for c in look.candidates if c.token_id in keep]
    return sorted(chosen, key=lambda c: (-c.target_prob, -(c.draft_prob or 0.0)))


def _subtitle(look: _Look) -> str:
    if look.drafted is None:
        return "The bonus comes from the target alone: the draft has no say at this position."
    if rule_of(look.trace) != "speculative":
        return "Both models’ probabilities for the same position, one over the other."
    missing = percent(look.residual_mass)
    return (
        f"The shaded part is min(target, draft). The blue rest is the residual, {missing} in all: "
        "the probability that a token drafted here is rejected."
    )


def _tick(look: _Look, candidate: PairCandidate, theme: Theme) -> tuple[str, str]:
    plain = visible_token(candidate.text, _LIMIT)
    token, kind = show_token(candidate.text, _LIMIT), look.kind_of(candidate)
    if kind is None:
        return plain, f"{token}{NBSP}"
    sign = f'<span style="color:{kind_color(kind, theme)}">{SIGNS[kind]}</span>'
    return f"{plain}  ", f"{sign}{NBSP}<b>{token}</b>{NBSP}"


def _segments(look: _Look, theme: Theme) -> tuple[list[_Segment], float | None, str]:
    """The strip's parts, where the mark stands, and what it says there."""
    yes, no = soft_color("accepted", theme), soft_color("rejected", theme)
    token = look.drafted
    if token is not None and look.place != EXTRA:
        if token.threshold is not None:
            parts = [
                _Segment(0, token.threshold, no, "reject"),
                _Segment(token.threshold, 1, yes, "accept"),
            ]
            return parts, token.target_prob, f"target_prob {number(token.target_prob)}"
        says = f"number {number(token.uniform or 0.0)}"
        if rule_of(look.trace) == "exact":
            own = [] if token.interval is None else [_Segment(*token.interval, yes, "")]
            return [_Segment(0, 1, theme.panel, ""), *own], token.uniform, says
        edge = token.accept_prob
        parts = [_Segment(0, edge, yes, "accept"), _Segment(edge, 1, no, "reject")]
        return parts, token.uniform, says
    extra = look.extra
    base = [_Segment(0, 1, theme.panel, "")]
    if extra is None or extra.interval is None or extra.uniform is None:
        return base, None, ""
    own = [_Segment(*extra.interval, kind_color(extra_kind(look.step), theme), "")]
    return [*base, *own], extra.uniform, f"number {number(extra.uniform)}"


def _strip_title(look: _Look) -> str:
    token = look.drafted
    if look.place == EXTRA or token is None:
        of = "residual" if look.residual_mass > 0 else "target’s distribution"
        return f"where the number fell on the {of}"
    if token.threshold is not None:
        return f"threshold {number(token.threshold)}"
    if rule_of(look.trace) == "exact":
        return "where the number fell on the target’s distribution"
    return f"accept_prob {number(token.accept_prob)}"


def _add_strip(sheet: Sheet, look: _Look, bottom: float) -> None:
    theme = sheet.theme
    segments, mark, says = _segments(look, theme)
    for segment in segments:
        sheet.traces.append(
            {
                "type": "bar",
                "name": "strip",
                "orientation": "h",
                "xaxis": "x3",
                "yaxis": "y3",
                "y": [0],
                "base": [segment.start],
                "x": [segment.end - segment.start],
                "width": [1],
                "text": [segment.words if _is_readable(segment, mark) else ""],
                "textposition": "inside",
                "insidetextanchor": _anchor(segment, mark),
                "textfont": {"size": 11, "color": theme.ink},
                "marker": {"color": segment.color, "line": {"width": 0}},
                "hoverinfo": "skip",
                "cliponaxis": False,
                **NO_FADE,
            }
        )
    if mark is not None:
        _add_number(sheet, mark, bottom)
    _label_strip(sheet, _strip_title(look), says)
    sheet.layout |= {
        "xaxis3": axis(
            theme, range=[0, 1], anchor="y3", showgrid=False, tickvals=[0, 0.5, 1], showline=False
        ),
        "yaxis3": axis(
            theme,
            range=[-0.5, 0.5],
            anchor="x3",
            domain=[bottom, 1],
            showgrid=False,
            showline=False,
            showticklabels=False,
        ),
    }


def _is_readable(segment: _Segment, mark: float | None) -> bool:
    """Whether the words fit in beside the mark."""
    inside = mark is not None and segment.start <= mark <= segment.end
    return segment.end - segment.start > (0.3 if inside else 0.15)


def _anchor(segment: _Segment, mark: float | None) -> str:
    """Where the words stand: away from the mark."""
    if mark is None or not segment.start <= mark <= segment.end:
        return "middle"
    return "start" if mark > (segment.start + segment.end) / 2 else "end"


def _label_strip(sheet: Sheet, *texts: str) -> None:
    """What stands over the strip, at its left and at its right end."""
    for at, text in enumerate(texts):
        sheet.annotations.append(
            {
                "name": "strip",
                "text": text,
                "xref": "paper",
                "yref": "paper",
                "x": at,
                "y": 1,
                "xanchor": "right" if at else "left",
                "yanchor": "bottom",
                "borderpad": 0,
                "showarrow": False,
                "font": {"size": 11, "color": sheet.theme.muted if at else sheet.theme.ink},
            }
        )


def _add_number(sheet: Sheet, at: float, bottom: float) -> None:
    place = {"xref": "x3", "yref": "paper", "x0": at, "x1": at, "y0": bottom - 0.01, "y1": 1.0}
    line = {"color": sheet.theme.ink, "width": 3}
    sheet.shapes.append({"name": "number", "type": "line", "line": line, **place})


def _add_bars(sheet: Sheet, look: _Look, shown: Sequence[PairCandidate]) -> None:
    theme = sheet.theme
    shared = [min(c.target_prob, c.draft_prob or 0.0) for c in shown]
    only_target = [c.target_prob - s for c, s in zip(shown, shared, strict=True)]
    only_draft = [(c.draft_prob or 0.0) - s for c, s in zip(shown, shared, strict=True)]
    shade = {"shape": "/", "fgcolor": theme.muted, "bgcolor": theme.rest, "size": 6}
    common: Properties = {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(shown))),
        "width": 0.72,
        "hovertext": [_hover(look, c) for c in shown],
        "hovertemplate": "%{hovertext}<extra></extra>",
        **NO_FADE,
    }
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
        sheet.traces.append(
            {
                **common,
                "name": "residual",
                "xaxis": "x2",
                "x": [c.excess / look.residual_mass for c in shown],
                "marker": {
                    "color": [_residual_color(look, c, theme) for c in shown],
                    "line": {
                        "color": theme.ink,
                        "width": [2 * (look.kind_of(c) == "recovered") for c in shown],
                    },
                },
            }
        )


def _filled(color: str) -> Properties:
    return {"color": color, "line": {"width": 0}}


def _residual_color(look: _Look, candidate: PairCandidate, theme: Theme) -> str:
    recovered = look.kind_of(candidate) == "recovered"
    return kind_color("recovered", theme) if recovered else theme.first


def _pair_text(look: _Look, candidate: PairCandidate, theme: Theme) -> str:
    target = f'<span style="color:{theme.first}">{percent(candidate.target_prob)}</span>'
    if look.drafted is None or candidate.draft_prob is None:
        return f"{NBSP}{target}"
    draft = f'<span style="color:{theme.second}">{percent(candidate.draft_prob)}</span>'
    return f"{NBSP}{target}{NBSP}|{NBSP}{draft}"


def _hover(look: _Look, candidate: PairCandidate) -> str:
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


def _axes(
    look: _Look,
    shown: Sequence[PairCandidate],
    labels: Sequence[str],
    rows: float,
    theme: Theme,
) -> Properties:
    top = max(*(max(c.target_prob, c.draft_prob or 0.0) for c in shown), 1e-9)
    two = look.residual_mass > 0
    across = {
        "range": [0, top / (1 - _LABELS)],
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


def _key(look: _Look, theme: Theme) -> list[str]:
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


def _alt(look: _Look, shown: Sequence[PairCandidate]) -> str:
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
    look = _look(trace, at, place)
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
