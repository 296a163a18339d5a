"""Greedy decoding, beam search and the best of some samples side by side."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.beam.compare import Rival
from ...decoding.counting import counted
from ...decoding.record.trace import Trace
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, escaped, nats, plain_name, table_text
from ..base.marks import hover_texts, label_pair
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme
from .words import beam_caption


@table(Rival._fields)
def beam_rivals_data(rivals: Sequence[Rival]) -> TableRows:
    """Return one row for each method; forwards and rows include the prompt's."""
    return [rival._replace(text=table_text(rival.text)) for rival in rivals]


@figure(
    "Gain over greedy",
    beam_caption,
    beam_rivals_data,
    subtitle=lambda rivals: (
        "Each bar is the log-probability of the text; a shorter one is likelier.",
        _really_took(rivals),
    ),
    alt=lambda rivals: (
        "Total log-probabilities:",
        "; ".join(
            f"{plain_name(r.name, 30)} {nats(r.sum_logprob, 2)} nats over "
            f"{counted(r.tokens, 'token')} with {'at least ' if r.at_least else ''}"
            f"{counted(r.forwards, 'forward')}"
            for r in rivals
        )
        + ".",
        _really_took(rivals),
    ),
)
def beam_rivals(
    rivals: Sequence[Rival], trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the total log-probability under the unshaped model, with length, score and number of
    forwards.
    """
    if not rivals:
        return "Nothing was compared yet."
    best = max(rival.score for rival in rivals)
    lowest = min(rival.sum_logprob for rival in rivals)
    sheet = Sheet(
        theme,
        paper,
        plot_height=58 * len(rivals),
        left=EDGE,
        right=EDGE,
        below=44,
        explained=[[(theme.first, "the highest score")]],
        traces=[
            {
                "type": "bar",
                "name": "rivals",
                "orientation": "h",
                "x": [rival.sum_logprob for rival in rivals],
                "y": [at + 0.17 for at in range(len(rivals))],
                "width": 0.32,
                "marker": {
                    "color": [theme.first if r.score == best else theme.rest for r in rivals]
                },
                **hover_texts([f"{_label(rival)}<br>{_spent(rival)}" for rival in rivals]),
            }
        ],
        layout={
            "xaxis": axis(theme, "nats", 4, range=[0, min(lowest * 1.02, -0.1)], nticks=6),
            "yaxis": axis(theme, range=[len(rivals) - 0.45, -0.5], visible=False),
        },
    )
    for at, rival in enumerate(rivals):
        label_pair(sheet, at - 0.02, _label(rival), _spent(rival), size=11)
    return sheet


def _label(rival: Rival) -> str:
    name = escaped(plain_name(rival.name, 30))
    return f"<b>{name}</b>{NBSP} {nats(rival.sum_logprob, 2)} · score{NBSP}{nats(rival.score)}"


def _spent(rival: Rival) -> str:
    spent = _forwards_rows(rival.forwards, rival.rows)
    anew = "would take " if rival.ran_forwards is not None else ""
    least = "at least " if rival.at_least else ""
    return f"{counted(rival.tokens, 'token')} · {anew}{least}{spent}"


def _forwards_rows(forwards: int, rows: int) -> str:
    return f"{counted(forwards, 'forward')}, {counted(rows, 'row')}"


def _really_took(rivals: Sequence[Rival]) -> str:
    """Return the cost of the re-ranked search; empty if the bars' labels state it."""
    search = next((r for r in rivals if r.ran_forwards is not None), None)
    if search is None:
        return ""
    took = _forwards_rows(search.ran_forwards or 0, search.ran_rows or 0)
    return f"The search that was run took {took}; ranking its paths anew ran nothing."
