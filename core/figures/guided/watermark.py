"""Detector of a watermark along a run: its score as the text grows, and each step's numbers."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted, nth
from ...decoding.reading.watermarks import (
    ENOUGH,
    NO_OPENING,
    THRESHOLD,
    Detection,
    Opening,
    detections,
)
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import SETTINGS
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.figure import TableRows, figure, table
from ..base.labels import lines, percent, settings_caption, show_token, table_text
from ..base.marks import add_frame, add_line, hover_texts, strokes
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

# Names of the texts in the table, and with their verdicts.
_OWN, _EDITED = "this text", "edited"
_VERDICTS = {_OWN: N_("This text: {verdict}."), _EDITED: N_("Edited: {verdict}.")}
# Parts of the plotting area: scores above, steps below.
_ABOVE, _BELOW = [0.42, 1.0], [0.0, 0.3]
_FEW = 80


@table(
    "watermark text step token_id token counted score mean_before mean_after scored_tokens "
    "mean_score z_score p_value"
)
def watermark_data(
    trace: Trace, edited: Trace | None = None, opening: Opening = NO_OPENING
) -> TableRows:
    """Return the numbers of every step, for each watermark and text.

    Args:
        opening: beginning of a text that was read, as of `detections`.
    """
    for name, run in _texts(trace, edited):
        for found in detections(run, opening):
            rows = zip(
                run.token_steps, found.marks, found.scored, found.counts, found.means,
                found.z_scores, found.p_values, strict=True,
            )  # fmt: skip
            for step, mark, scored, count, mean, z_score, p_value in rows:
                yield (
                    SETTINGS[found.name].name,
                    name,
                    nth(step.index),
                    step.token_id,
                    table_text(step.chosen.text),
                    scored,
                    *(mark or (None,) * 3),
                    count,
                    mean,
                    z_score,
                    p_value,
                )


def _texts(trace: Trace, edited: Trace | None) -> list[tuple[str, Trace]]:
    return [(_OWN, trace), *([(_EDITED, edited)] if edited else [])]


def verdict(found: Detection) -> str:
    """Return the detector's numbers of a whole text."""
    if found.z_score is None or found.p_value is None or found.means[-1] is None:
        return tr("no token can be scored")
    numbers = {
        "mean": percent(found.means[-1]),
        "tokens": counted(found.counts[-1], "token"),
        "expected": percent(found.expected),
        "z": _number(found.z_score),
        "p": _chance(found.p_value),
    }
    if found.name == "watermark_bias":
        return tr("{mean} green of {tokens} (unmarked: {expected}), z = {z}, p = {p}", **numbers)
    return tr("{mean} mean g-value of {tokens} (unmarked: {expected}), z = {z}, p = {p}", **numbers)


def _chance(p_value: float) -> str:
    """Return a p-value as a percentage, a small one as a fraction with two digits."""
    if p_value >= 1e-4:
        return percent(p_value)
    if p_value < 1e-12:
        return tr("under 1 in 1,000,000,000,000")
    return tr("1 in {number:,}", number=int(float(f"{1 / p_value:.2g}")))


def _number(value: float) -> str:
    return f"{value:.1f}".replace("-", "−")


def _meaning(found: Sequence[tuple[str, Detection]]) -> list[str]:
    texts = [tr(_VERDICTS[name], verdict=verdict(one)) for name, one in found]
    few = any(one.counts[-1] < ENOUGH and (one.z_score or 0) < THRESHOLD for _, one in found)
    low = tr("A low z of a text with fewer than {enough} tokens proves nothing.", enough=ENOUGH)
    return [*texts, low if few else ""]


@figure(
    N_("Watermark along the text"),
    settings_caption,
    watermark_data,
    subtitle=lambda found: _meaning(found),
    alt=lambda found: _meaning(found),
    key=lambda theme, found, edited: [
        [
            (theme.first, tr("z-score"), "●"),
            edited is not None and (theme.second, tr("z-score of the edited text"), "◆"),
            (theme.ink, f"z = {THRESHOLD:g}", "┆"),
        ],
        [
            (
                theme.first,
                tr("score of the token: green 100 %") if _green(found) else tr("mean g-value"),
            ),
            (theme.muted, tr("mean of a draw: model"), "○"),
            (theme.ink, tr("with the watermark"), "▬"),
        ],
    ],
)
def watermark(
    trace: Trace,
    edited: Trace | None = None,
    *,
    opening: Opening = NO_OPENING,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the z-score up to each token, and below it the score of each token with the means of a
    draw before and after the watermark.

    A click on a point hands over `customdata = [step index, token id]`.

    Args:
        edited: the text with other tokens, read with the same settings.
        opening: beginning of a text that was read, as of `detections`.
    """
    texts = _texts(trace, edited)
    found = [
        (name, one) for name, run in texts for one in detections(run, opening)[:1] if one.marks
    ]
    if not found:
        return tr(
            "No watermark was on in this run: set Green list or SynthID layers, and press Run."
        )
    sheet = _sheet(found, theme, paper)
    for (_, one), run, color, symbol in zip(
        found, (trace, edited or trace), (theme.first, theme.second), ("circle", "diamond"),
        strict=False,
    ):  # fmt: skip
        sheet.traces.append(_line(one, run, color, symbol))
    sheet.traces += _steps(found[0][1], trace, theme)
    ends = tuple(sheet.layout["xaxis"]["range"])
    add_line(sheet, "threshold", ends, THRESHOLD, theme.ink, 1, dash="dot", layer="below")
    if selected is not None and paper.selection:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        add_frame(
            sheet, "selected", (selected + 0.5, selected + 1.5), (0, 1), theme.ink, 1.5, **look
        )
    return sheet


def _sheet(found: Sequence[tuple[str, Detection]], theme: Theme, paper: Paper) -> Sheet:
    """Return the sheet with its axes: scores above, steps below."""
    size = max(len(one.marks) for _, one in found)
    scores = [z for _, one in found for z in one.z_scores if z is not None]
    low, high = min(-3.0, *scores, 0.0), max(4.0, *scores, 0.0)
    return Sheet(
        theme,
        paper,
        facts={"found": found},
        plot_height=330,
        left=56,
        right=18,
        above=8,
        below=78,
        key_offset=42,
        layout={
            "showlegend": False,
            "bargap": 0.1,
            "xaxis": axis(
                theme,
                tr("generated token"),
                6,
                range=[0.3, max(size, 8) + 0.7],
                showgrid=False,
                anchor="y2",
                nticks=12,
            ),
            "yaxis": axis(
                theme, tr("z-score"), 6, range=[low * 1.06, high * 1.06], domain=_ABOVE, nticks=6
            ),
            "yaxis2": axis(
                theme, tr("token"), 6, range=[0, 1.04], domain=_BELOW, anchor="x", **PERCENT_TICKS
            ),
        },
    )


def _green(found: Sequence[tuple[str, Detection]]) -> bool:
    return found[0][1].name == "watermark_bias"


def _line(found: Detection, run: Trace, color: str, symbol: str) -> Properties:
    """Return the points of a text's z-scores, joined by a line."""
    hovers = [
        lines(
            f"<b>{show_token(step.chosen.text, 40)}</b>",
            tr(
                "token {number} · {tokens} so far",
                number=nth(step.index),
                tokens=counted(count, "scored token"),
            ),
            z_score is not None
            and p_value is not None
            and f"z {_number(z_score)} · p {_chance(p_value)}",
        )
        for step, count, z_score, p_value in zip(
            run.token_steps, found.counts, found.z_scores, found.p_values, strict=True
        )
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "z-score",
        "x": [nth(step.index) for step in run.token_steps],
        "y": list(found.z_scores),
        "line": {"color": color, "width": 1.5},
        "marker": {"color": color, "size": 5 if len(hovers) <= _FEW else 3, "symbol": symbol},
        "cliponaxis": False,
        "customdata": [[step.index, step.token_id] for step in run.token_steps],
        **hover_texts(hovers),
    }


def _steps(found: Detection, run: Trace, theme: Theme) -> list[Properties]:
    """Return the bars of the tokens' scores, and the means of a draw as marks and strokes."""
    steps = [
        (nth(step.index), step, mark)
        for step, mark in zip(run.token_steps, found.marks, strict=True)
        if mark is not None
    ]
    hovers = [
        lines(
            f"<b>{show_token(step.chosen.text, 40)}</b>",
            tr("token {number} · score {score}", number=at, score=percent(mark.score)),
            tr(
                "mean of a draw {before}, with the watermark {after}",
                before=percent(mark.before),
                after=percent(mark.after),
            ),
        )
        for at, step, mark in steps
    ]
    shared: Properties = {
        "x": [at for at, _, _ in steps],
        "yaxis": "y2",
        "customdata": [[step.index, step.token_id] for _, step, _ in steps],
        **hover_texts(hovers),
    }
    bars = {
        "type": "bar",
        "name": "score of the token",
        "y": [mark.score for _, _, mark in steps],
        "marker": {"color": theme.first, "opacity": 0.45, "line": {"width": 0}},
        **shared,
    }
    levels = strokes(((at - 0.4, mark.after), (at + 0.4, mark.after)) for at, _, mark in steps)
    before = {
        "type": "scatter",
        "mode": "markers",
        "name": "mean of a draw: model",
        "y": [mark.before for _, _, mark in steps],
        "marker": {
            "symbol": "circle-open",
            "color": theme.muted,
            "size": 5 if len(steps) <= _FEW else 3,
        },
        "cliponaxis": False,
        **shared,
    }
    look = {"name": "with the watermark", "yaxis": "y2"}
    return [bars, {**levels, **look, "line": {"color": theme.ink, "width": 2}}, before]
