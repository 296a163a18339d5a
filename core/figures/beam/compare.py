"""Greedy decoding, beam search and the best of some samples side by side."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.beam.compare import Rival
from ...decoding.counting import counted
from ...decoding.record.trace import Trace
from ...language import N_, tr
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
    N_("Gain over greedy"),
    beam_caption,
    beam_rivals_data,
    subtitle=lambda rivals: (
        tr("Each bar is the log-probability of the text; a shorter one is likelier."),
        _really_took(rivals),
    ),
    alt=lambda rivals: (
        tr("Total log-probabilities:"),
        tr("; ").join(map(_sum_words, rivals)) + tr("."),
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
        return tr("Nothing was compared yet.")
    best = max(rival.score for rival in rivals)
    lowest = min(rival.sum_logprob for rival in rivals)
    sheet = Sheet(
        theme,
        paper,
        plot_height=58 * len(rivals),
        left=EDGE,
        right=EDGE,
        below=44,
        explained=[[(theme.first, tr("the highest score"))]],
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
            "xaxis": axis(theme, tr("nats"), 4, range=[0, min(lowest * 1.02, -0.1)], nticks=6),
            "yaxis": axis(theme, range=[len(rivals) - 0.45, -0.5], visible=False),
        },
    )
    for at, rival in enumerate(rivals):
        label_pair(sheet, at - 0.02, _label(rival), _spent(rival), size=11)
    return sheet


def _label(rival: Rival) -> str:
    name = escaped(plain_name(tr(rival.name), 30))
    score = tr("score {score}", score=nats(rival.score)).replace(" ", NBSP)
    return f"<b>{name}</b>{NBSP} {nats(rival.sum_logprob, 2)} · {score}"


def _spent(rival: Rival) -> str:
    spent = _forwards_rows(rival.forwards, rival.rows)
    if rival.ran_forwards is not None and rival.at_least:
        spent = tr("would take at least {spent}", spent=spent)
    elif rival.ran_forwards is not None:
        spent = tr("would take {spent}", spent=spent)
    elif rival.at_least:
        spent = tr("at least {spent}", spent=spent)
    return f"{tr(counted(rival.tokens, 'token'))} · {spent}"


def _forwards_rows(forwards: int, rows: int) -> str:
    return f"{tr(counted(forwards, 'forward'))}, {tr(counted(rows, 'row'))}"


def _sum_words(rival: Rival) -> str:
    """Return a row's sum, length and forwards; plain text."""
    numbers = {
        "name": plain_name(tr(rival.name), 30),
        "sum": nats(rival.sum_logprob, 2),
        "tokens": counted(rival.tokens, "token"),
        "forwards": counted(rival.forwards, "forward"),
    }
    if rival.at_least:
        return tr("{name} {sum} nats over {tokens} with at least {forwards}", **numbers)
    return tr("{name} {sum} nats over {tokens} with {forwards}", **numbers)


def _really_took(rivals: Sequence[Rival]) -> str:
    """Return the cost of the re-ranked search; empty if the bars' labels state it."""
    search = next((r for r in rivals if r.ran_forwards is not None), None)
    if search is None:
        return ""
    took = _forwards_rows(search.ran_forwards or 0, search.ran_rows or 0)
    return tr("The search that was run took {took}; ranking its paths anew ran nothing.", took=took)
