"""One step's candidates: the model's probability beside the one that was drawn from."""

from __future__ import annotations

from collections.abc import Sequence

from core.decoding.counting import nth, span_key
from core.decoding.record.steps import Candidate, TokenStep
from core.decoding.record.trace import Trace
from core.figures.base.axes import axis, key_entry, named_axis
from core.figures.base.figure import TableRows, figure, table
from core.figures.base.labels import (
    percent,
    percent_ticks,
    settings_caption,
    visible_token,
)
from core.figures.base.marks import FRAME, token_bars
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.records import (
    CANDIDATE_COLUMNS,
    candidate_hover,
    candidate_record,
    ranked_label,
    removed_words,
    shaped_words,
    state_line,
    widest,
)
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.decode.knobs import knobs_of

SHOWN = 8
"""So many candidates has the figure of a step, beside the chosen one; its table has all."""
_LABEL_LIMIT = 12
# A bar's label is drawn after its end: "12.3 %" needs about 60 px, in a figure 400 px wide too.
_LABEL_SHARE = 0.26


@table(CANDIDATE_COLUMNS)
def candidate_bars_data(
    step: TokenStep | None,
    trace: Trace,
    *,
    count: int | None = None,
) -> TableRows:
    """One candidate a row, with the tokens' raw text: all that the step holds, or so many."""
    if step is None:
        return []
    candidates = step.candidates if count is None else _shown(step, count)
    return [candidate_record(step, candidate) for candidate in candidates]


@figure("The candidates of a step", settings_caption, candidate_bars_data)
def candidate_bars(
    step: TokenStep | None,
    trace: Trace,
    *,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
    count: int = SHOWN,
) -> Sheet | str:
    """A step's candidates as pairs of bars: raw above, final below, the chosen one framed.

    Args:
        count: so many candidates by rank; the chosen one is added when it ranks lower.

    A click on a bar hands over `customdata = [step index, token id]`.
    """
    if step is None or not step.candidates:
        return "No step is selected, or it holds no candidates."
    shown = _shown(step, count)
    by_server = step.origin == "server"
    columns = widest((c.text for c in shown), _LABEL_LIMIT)
    sheet = Sheet(
        theme,
        paper,
        title=f"Candidates at step {nth(step.index)}",
        subtitle=_subtitle(step, shown),
        alt=_alt(step, shown),
        meta={"shown": [span_key("step", step.index)]},
        plot_height=27 * len(shown),
        left=52 + round(7.2 * columns) + 6 * len(str(shown[-1].rank)),
        right=18,
        below=62,
        traces=_bars(step, shown, theme),
        rows="token and its rank",
        key=_key(shown, theme, final=not by_server),
        key_offset=44,
        layout={
            "barmode": "group",
            "bargap": 0.2,
            "bargroupgap": 0.14,
            **_axes(step, shown, theme),
        },
    )
    if paper.live:
        _add_knobs(sheet, step, trace, shown)
    return sheet


def _subtitle(step: TokenStep, shown: Sequence[Candidate]) -> str:
    if step.origin == "server":
        return "Bars: the model's own. The server drew the chosen one."
    if step.origin == "forced":
        return "Upper bar: the model's own. Forced: the chosen one was put there."
    if step.compared:
        return "Upper bar: the model's own. Only the one with the highest score is kept."
    if any(_quiet(candidate) for candidate in shown):
        return "Upper bar: the model's own. Greedy keeps only the top one."
    return "Upper bar: the model's own. Lower: what was drawn from."


def _add_knobs(sheet: Sheet, step: TokenStep, trace: Trace, shown: Sequence[Candidate]) -> None:
    """Write into the figure's meta what a reader's browser needs to shape the step anew."""
    data = knobs_of(step, trace, _LABEL_SHARE)
    if data is not None:
        both = [_names(step, shown, sheet.theme, faint) for faint in ((), shown)]
        sheet.meta |= {
            "knobs": data,
            "labels": list(zip(*both, strict=True)),
            "shaped": "Upper bar: the model's own. Lower: under the settings above.",
            "states": [state_line(step, candidate) for candidate in shown],
            "removed": {name: removed_words(name) for name in ("argmax", "top_k", "top_p")},
            "remaining": shaped_words("{}"),
        }


def _quiet(candidate: Candidate) -> bool:
    """Return whether greedy or a forced token left it out, as all others: nothing to tell of it."""
    return candidate.removed_by in ("argmax", "forced", "server")


def _marked(candidate: Candidate) -> bool:
    """Return whether its row says what removed it."""
    return candidate.removed_by is not None and not _quiet(candidate)


def _shown(step: TokenStep, count: int) -> list[Candidate]:
    shown = list(step.candidates[: max(count, 1)])
    if all(c.token_id != step.token_id for c in shown):
        shown += [c for c in step.candidates if c.token_id == step.token_id]
    return shown


def _bars(step: TokenStep, shown: Sequence[Candidate], theme: Theme) -> list[Properties]:
    """The raw bars, and the final ones; what a server drew from is known by its outcome alone."""
    hovers = [candidate_hover(step, candidate) for candidate in shown]
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
        texts=[_final_text(c) for c in shown],
        ink=[theme.muted if c.removed_by else theme.ink for c in shown],
        chosen=chosen,
        customdata=ids,
    )
    return [raw] if by_server else [raw, final]


def _final_text(candidate: Candidate) -> str:
    if candidate.removed_by is None:
        return percent(candidate.prob)
    return "" if _quiet(candidate) else removed_words(candidate.removed_by)


def _axes(step: TokenStep, shown: Sequence[Candidate], theme: Theme) -> Properties:
    names = _names(step, shown, theme, [candidate for candidate in shown if _marked(candidate)])
    by_server = step.origin == "server"
    top = max(*(c.raw_prob if by_server else max(c.raw_prob, c.prob) for c in shown), 1e-9)
    return {
        "xaxis": axis(
            theme, "probability", 6, range=[0, top / (1 - _LABEL_SHARE)], **percent_ticks(top)
        ),
        "yaxis": named_axis(theme, names, range=[len(shown) - 0.5, -0.5]),
    }


def _names(
    step: TokenStep, shown: Sequence[Candidate], theme: Theme, faint: Sequence[Candidate]
) -> list[str]:
    look = {"limit": _LABEL_LIMIT, "digits": max(len(str(candidate.rank)) for candidate in shown)}
    return [
        ranked_label(own, theme, **look, chosen=own.token_id == step.token_id, faint=own in faint)
        for own in shown
    ]


def _key(shown: Sequence[Candidate], theme: Theme, *, final: bool) -> list[str]:
    keys = [
        key_entry(theme.muted, "raw", "□"),
        *([key_entry(theme.muted, f"final, in the token's {theme.hue}")] if final else []),
        key_entry(theme.accent, "chosen", "<b>□</b>"),
    ]
    if any(_marked(c) for c in shown):
        keys.append(key_entry(theme.muted, "removed", "▨"))
    return ["".join(keys)]


def _alt(step: TokenStep, shown: Sequence[Candidate]) -> str:
    chosen = step.chosen
    top = ", ".join(f"{visible_token(c.text, 24)} {percent(c.raw_prob)}" for c in shown[:3])
    removed = sum(c.removed_by is not None for c in shown)
    text = (
        f"Bar chart of {len(shown)} candidates at step {nth(step.index)}. Most probable: {top}. "
        f"Chosen: {visible_token(chosen.text, 24)}, rank {chosen.rank}, {percent(chosen.raw_prob)}"
    )
    if step.origin == "server":
        return f"{text}, drawn by the server."
    return (
        f"{text} before and {percent(chosen.prob)} after shaping. "
        f"{removed} of those shown were removed."
    )
