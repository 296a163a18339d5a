"""The draw of one step by noise: the score of each token, and which is the highest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.decoding.counting import nth
from core.decoding.lab.types import LabStep
from core.figures.base.axes import axis, key_entry, named_axis
from core.figures.base.labels import percent, show_token, visible_token
from core.figures.base.marks import FRAME, hover_texts, numbers_behind
from core.figures.base.paper import Paper
from core.figures.base.records import chosen_label
from core.figures.base.sheet import EDGE, Properties, Sheet
from core.figures.base.theme import Theme
from core.figures.decode.draw import Scored, scored


def noisy_scores(lab: LabStep, theme: Theme, paper: Paper) -> Sheet:
    """The tokens with the highest scores: what each had, and what the noise made of it."""
    step, items, gumbel = lab.step, scored(lab.step), lab.draw == "gumbel"
    added = "Every token gets Gumbel noise on its ln p; the highest sum is drawn."
    divided = "Every p is divided by an exponential number; the highest quotient is drawn."
    candidates = [step.candidates[item.candidate] for item in items]
    won = [candidate.token_id == step.token_id for candidate in candidates]
    names = [show_token(candidate.text, 11) for candidate in candidates]
    colors = [theme.token_color(candidate.rank) for candidate in candidates]
    frames = [FRAME if first else 0 for first in won]
    names = [chosen_label(n, theme) if first else n for n, first in zip(names, won, strict=True)]
    sheet = Sheet(
        theme,
        paper,
        title="Noise, and the highest score" if gumbel else "Quotients, and the highest",
        subtitle=added if gumbel else divided,
        alt=draw_alt(lab),
        plot_height=30 * max(len(items), 1),
        left=112,
        right=EDGE + 52,
        below=66,
        key=[
            key_entry(theme.rest, "ln p" if gumbel else "p")
            + key_entry(theme.muted, "noise added" if gumbel else "p ÷ exponential number")
            + key_entry(theme.accent, "drawn", "<b>□</b>")
        ],
        key_offset=46,
        layout={
            "yaxis": named_axis(
                theme,
                [f"{name} " for name in names],
                range=[len(items) - 0.5, -0.5],
                showline=False,
            ),
            "barmode": "overlay",
            "bargap": 0.35,
        },
    )
    (_add_sums if gumbel else _add_quotients)(sheet, items, colors, frames)
    return sheet


def _add_sums(
    sheet: Sheet, items: Sequence[Scored], colors: Sequence[str], frames: Sequence[float]
) -> None:
    """From the axis' low end to ln p in grey, from there to the score in colour."""
    theme = sheet.theme
    logs, sums = [item.log_prob for item in items], [item.score for item in items]
    noise = [total - value for total, value in zip(sums, logs, strict=True)]
    low, high = min([*logs, *sums], default=0.0), max([*logs, *sums], default=1.0)
    floor = low - 0.08 * max(high - low, 1.0)
    sheet.traces += [
        {
            **_bars("ln p", [value - floor for value in logs], theme.rest),
            "base": [floor] * len(items),
            **hover_texts([f"ln p {value:.3f} nats" for value in logs]),
        },
        {
            **_bars("noise", noise, colors, _framed(frames, theme)),
            "base": logs,
            "width": 0.34,
            **hover_texts(
                [
                    f"noise {added:+.3f}, score {total:.3f} nats"
                    for added, total in zip(noise, sums, strict=True)
                ]
            ),
        },
        _numbers(logs, sums, [f"{value:.2f}".replace("-", "−") for value in sums], theme),
    ]
    sheet.layout["xaxis"] = axis(theme, "ln p and score, nats", range=[floor, high], nticks=6)


def _add_quotients(
    sheet: Sheet, items: Sequence[Scored], colors: Sequence[str], frames: Sequence[float]
) -> None:
    """p in grey, and p divided by its exponential number in colour."""
    theme = sheet.theme
    probs = [math.exp(item.log_prob) for item in items]
    quotients = [math.exp(item.score) for item in items]
    sheet.traces += [
        {
            **_bars("quotient", quotients, colors, _framed(frames, theme)),
            **hover_texts(
                [f"{p:.4f} ÷ {p / q:.4f} = {q:.4f}" for p, q in zip(probs, quotients, strict=True)]
            ),
        },
        {
            **_bars("p", probs, theme.rest),
            "width": 0.26,
            "marker": {"color": theme.rest, "line": {"color": theme.paper, "width": 1}},
            **hover_texts([f"p {percent(p)}" for p in probs]),
        },
        _numbers(probs, quotients, [f"{q:.3g}" for q in quotients], theme),
    ]
    sheet.layout["xaxis"] = axis(
        theme, "p, and p ÷ E", range=[0, max([*quotients, *probs], default=1.0)], nticks=6
    )


def _framed(frames: Sequence[float], theme: Theme) -> Properties:
    return {"line": {"color": theme.accent, "width": frames}}


def _bars(
    name: str, lengths: Sequence[float], color: object, frame: Properties | None = None
) -> Properties:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": list(range(len(lengths))),
        "x": lengths,
        "marker": {"color": color, **(frame or {})},
    }


def _numbers(
    before: Sequence[float], after: Sequence[float], texts: Sequence[str], theme: Theme
) -> Properties:
    """The scores, right of whatever reaches farther."""
    ends = [max(pair) for pair in zip(before, after, strict=True)]
    font = {"size": 11, "color": theme.ink, "family": theme.mono}
    return numbers_behind("scores", ends, texts, font)


def draw_alt(lab: LabStep) -> str:
    """Alt text of a draw's figure."""
    chosen, raw = lab.step.chosen, lab.raw_pick
    number = lab.step.draw.uniform
    how = (
        f"The number {number:.4f} on the cumulative bar"
        if number is not None
        else f"Throw {nth(lab.throw)} by {lab.draw}"
    )
    return (
        f"{how} picks {visible_token(chosen.text, 24)}, with a probability of "
        f"{percent(chosen.prob)}. The same dice on the model's own distribution pick "
        f"{visible_token(raw.text, 24)}, with {percent(raw.raw_prob)}."
    )
