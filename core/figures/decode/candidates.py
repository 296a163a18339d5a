"""Candidates of one step: raw and final probabilities side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd

from ...decoding.counting import span_key
from ...decoding.record.steps import Candidate, TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr, trn
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    escaped,
    percent,
    percent_ticks,
    settings_caption,
    visible_token,
)
from ..base.marks import FRAME, token_bars
from ..base.paper import SCREEN, Paper
from ..base.records import (
    CANDIDATE_COLUMNS,
    LABEL_LIMIT,
    by_position,
    candidate_hover,
    candidate_record,
    forced_words,
    numbered_place,
    ranked_labels,
    removed_words,
    shaped_words,
    state_line,
    texts_in,
    token_place,
    widest,
)
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .knobs import knobs_of

SHOWN = 8
"""Number of candidates in the figure of a step, besides the chosen one; its table has all."""
# A bar's label follows its end: "12.3 %" needs about 60 px, even in a figure 400 px wide.
_LABEL_SHARE = 0.26
_GROUPED: Properties = {"barmode": "group", "bargap": 0.2, "bargroupgap": 0.14}


@table(CANDIDATE_COLUMNS)
def _candidates_data(step: TokenStep | None, count: int | None) -> TableRows:
    if step is None:
        return []
    candidates = step.candidates if count is None else _shown(step, count)
    return [candidate_record(step, candidate) for candidate in candidates]


def candidate_bars_data(
    step: TokenStep | None, trace: Trace, *, count: int | None = None, reads: bool = False
) -> pd.DataFrame:
    """Return one row for each candidate, with raw token texts: all recorded ones, or the first
    `count`.

    Args:
        reads: as of `candidate_bars`; the first column is `position` then.
    """
    return by_position(_candidates_data(step, count), trace, reads=reads)


def _comparison(step: TokenStep, shown: Sequence[Candidate], trace: Trace, picked: str = "") -> str:
    """Return the words on the bars of a step."""
    if step.origin == "server":
        return tr("Bars: the model's probability. The server drew the chosen one.")
    text_of = texts_in(trace)
    if words := forced_words(step, LABEL_LIMIT, lambda token_id: picked or text_of(token_id)):
        return f"{escaped(words[:1].upper() + words[1:])}."
    if step.origin == "forced":
        return tr("The upper bars are raw. The chosen token was forced.")
    if step.compared:
        return tr("The upper bars are raw. The highest score is chosen.")
    if any(_quiet(candidate) for candidate in shown):
        return tr("The upper bars are raw. Greedy keeps the highest.")
    return tr("The upper bars are raw, the lower ones final.")


def _outcome(step: TokenStep, shown: Sequence[Candidate]) -> str:
    """Return the alt text's words on the chosen token."""
    chosen = {
        "token": visible_token(step.chosen.text, 24),
        "rank": step.chosen.rank,
        "probability": percent(step.chosen.raw_prob),
    }
    if step.origin == "server":
        return tr("Chosen: {token}, rank {rank}, {probability}, drawn by the server.", **chosen)
    chosen["final"] = percent(step.chosen.prob)
    removed = sum(c.removed_by is not None for c in shown)
    if not removed:
        return tr(
            "Chosen: {token}, rank {rank}, {probability} before and {final} after shaping. None of "
            "those shown was removed.",
            **chosen,
        )
    return trn(
        "Chosen: {token}, rank {rank}, {probability} before and {final} after shaping. {removed} "
        "of those shown was removed.",
        "Chosen: {token}, rank {rank}, {probability} before and {final} after shaping. {removed} "
        "of those shown were removed.",
        removed,
        removed=removed,
        **chosen,
    )


@figure(
    N_("The candidates of a step"),
    settings_caption,
    candidate_bars_data,
    subtitle=_comparison,
    alt=lambda step, shown, place: (
        tr(
            "Bar chart of {count} candidates at {place}. Most probable: {likeliest}.",
            count=len(shown),
            place=place,
            likeliest=tr(", ").join(
                f"{visible_token(c.text, 24)} {percent(c.raw_prob)}" for c in shown[:3]
            ),
        ),
        _outcome(step, shown),
    ),
    key=lambda step, theme, shown: [
        [
            (theme.muted, tr("raw"), "□"),
            step.origin != "server" and (theme.muted, theme.token_words(tr("final"))),
            (theme.accent, tr("chosen"), "<b>□</b>"),
            any(map(_marked, shown)) and (theme.muted, tr("removed"), "▨"),
        ]
    ],
)
def candidate_bars(
    step: TokenStep | None,
    trace: Trace,
    *,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
    count: int = SHOWN,
    picked: str = "",
    reads: bool = False,
) -> Sheet | str:
    """Draw a step's candidates as pairs of bars: raw above, final below; the chosen one is framed.

    Args:
        count: number of candidates by rank; the chosen one is added if it ranks lower.
        picked: text of the token that a given one replaced, where the trace names it nowhere.
        reads: the trace is a text that was read: its token has its position in the text.

    A click on a bar hands over `customdata = [step index, token id]`.
    """
    if step is None or not step.candidates:
        return tr("No step is selected, or it holds no candidates.")
    shown, place = _shown(step, count), token_place(step, trace, reads=reads)
    unit, at = place
    named = numbered_place(*place)
    names, marked = partial(ranked_labels, step, shown, theme), list(filter(_marked, shown))
    finals = [] if step.origin == "server" else [candidate.prob for candidate in shown]
    top = max(*(candidate.raw_prob for candidate in shown), *finals, 1e-9)
    sheet = Sheet(
        theme,
        paper,
        title=tr("Candidates at {place}", place=named),
        facts={"shown": shown, "place": named},
        meta={"shown": [span_key(unit, at)]},
        plot_height=27 * len(shown),
        left=52
        + round(7.2 * widest((c.text for c in shown), LABEL_LIMIT))
        + 6 * len(str(shown[-1].rank)),
        right=18,
        below=62,
        traces=_bars(step, shown, theme, place),
        rows=tr("token and its rank"),
        key_offset=44,
        layout={
            **_GROUPED,
            "xaxis": axis(
                theme,
                tr("probability"),
                6,
                range=[0, top / (1 - _LABEL_SHARE)],
                **percent_ticks(top),
            ),
            "yaxis": named_axis(theme, names(marked), range=[len(shown) - 0.5, -0.5]),
        },
    )
    if paper.live and (knobs := knobs_of(step, trace, _LABEL_SHARE)) is not None:
        labels = list(zip(names(()), names(shown), strict=True))
        sheet.meta |= {"knobs": knobs, "labels": labels, **_live_words(step, shown)}
    return sheet


def _live_words(step: TokenStep, shown: Sequence[Candidate]) -> Properties:
    """Return the texts that a reader's browser uses for a step shaped by its knobs."""
    return {
        "shaped": tr("Upper bar: the model's probability. Lower: under the settings above."),
        "states": [state_line(step, candidate) for candidate in shown],
        "removed": {
            **{name: removed_words(name) for name in ("argmax", "top_k", "top_p", "min_p")},
            "either": tr("removed"),
        },
        "remaining": shaped_words("{}"),
    }


def _quiet(candidate: Candidate) -> bool:
    """Return whether greedy decoding or a forced token removed it with all others, which needs no
    words.
    """
    return candidate.removed_by in ("argmax", "forced", "server")


def _marked(candidate: Candidate) -> bool:
    """Return whether its row names the stage that removed it."""
    return candidate.removed_by is not None and not _quiet(candidate)


def _shown(step: TokenStep, count: int) -> list[Candidate]:
    shown = list(step.candidates[: max(count, 1)])
    if all(c.token_id != step.token_id for c in shown):
        shown += [c for c in step.candidates if c.token_id == step.token_id]
    return shown


def _bars(
    step: TokenStep, shown: Sequence[Candidate], theme: Theme, place: tuple[str, int]
) -> list[Properties]:
    """Return the raw bars and the final bars; for a server only the raw ones, as its final
    distribution is unknown.
    """
    hovers = [candidate_hover(step, candidate, place) for candidate in shown]
    ids = [[step.index, candidate.token_id] for candidate in shown]
    chosen, by_server = [c.token_id == step.token_id for c in shown], step.origin == "server"
    framed = [by_server and is_chosen for is_chosen in chosen]
    pattern = {
        "shape": ["/" if _marked(candidate) else "" for candidate in shown],
        "fillmode": "overlay",
        "fgcolor": theme.muted,
        "size": 5,
        "solidity": 0.25,
    }
    line = {
        "width": [FRAME if is_framed else 1 for is_framed in framed],
        "color": [theme.accent if is_framed else theme.muted for is_framed in framed],
    }
    raw = token_bars(
        theme,
        "raw",
        [c.raw_prob for c in shown],
        hovers,
        theme.paper,
        texts=[percent(c.raw_prob) for c in shown],
        ink=theme.muted,
        marker={"pattern": pattern, "line": line},
        customdata=ids,
    )
    final = token_bars(
        theme,
        "final",
        [c.prob for c in shown],
        hovers,
        [theme.token_color(candidate.rank) for candidate in shown],
        texts=[
            removed_words(c.removed_by or "")
            if _marked(c)
            else ""
            if c.removed_by
            else percent(c.prob)
            for c in shown
        ],
        ink=[theme.muted if c.removed_by else theme.ink for c in shown],
        chosen=chosen,
        customdata=ids,
    )
    return [raw] if by_server else [raw, final]
