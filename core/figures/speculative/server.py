"""The server's own speculative decoding in one run: its rounds, or its counters by position."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.by_engine.speculation import ServerRound, ServerSpeculation
from ...decoding.counting import nth
from ...language import N_, tr
from ..base.axes import axis
from ..base.figure import TableRows, figure, given, table
from ..base.labels import lines
from ..base.marks import hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import kind_color


@table("of number drafted accepted")
def server_speculation_data(speculation: ServerSpeculation) -> TableRows:
    """Return drafted and accepted tokens, a row for each draft position and each known round."""
    parts = (("position", speculation.positions), ("round", speculation.rounds))
    return [(of, nth(at), *bar) for of, rows in parts for at, bar in enumerate(rows)]


@figure(
    N_("The server's speculation"),
    given,
    server_speculation_data,
    subtitle=lambda speculation: tr(
        "{accepted:,} of {drafted:,} drafted tokens accepted in {rounds:,} rounds, by the server's "
        "own count; {tokens:,} tokens emitted.",
        accepted=speculation.accepted,
        drafted=speculation.drafted,
        rounds=speculation.drafts,
        tokens=speculation.tokens,
    ),
    alt=lambda speculation, bars, of: (
        tr(
            "Accepted of {drafted} drafted tokens of the server's own speculation.",
            drafted=speculation.drafted,
        ),
        tr("; ").join(
            tr(
                "{of} {nth}: {accepted} of {drafted}",
                of=tr(of),
                nth=nth(at),
                accepted=bar.accepted,
                drafted=bar.drafted,
            )
            for at, bar in enumerate(bars[:12])
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (kind_color("accepted", theme), tr("accepted")),
            (kind_color("rejected", theme), tr("rejected, or behind one")),
        ]
    ],
)
def server_speculation(
    speculation: ServerSpeculation, caption: str, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw drafted tokens, accepted and rejected: one bar per round if rounds are known, otherwise
    per position.

    Args:
        caption: caption of the run's settings.
    """
    bars, of = (
        (speculation.rounds, N_("round"))
        if speculation.rounds
        else (speculation.positions, N_("draft position"))
    )
    if not bars:
        return tr(
            "{accepted:,} of {drafted:,} drafted tokens were accepted, by the server's own count. "
            "It doesn't tell at which positions: start llama.cpp with --metrics.",
            accepted=speculation.accepted,
            drafted=speculation.drafted,
        )
    accepted, rejected = kind_color("accepted", theme), kind_color("rejected", theme)
    return Sheet(
        theme,
        paper,
        facts={"bars": bars, "of": of},
        plot_height=220,
        left=56,
        right=20,
        below=66,
        traces=[
            _bars("accepted", bars, [bar.accepted for bar in bars], accepted, of),
            _bars("rejected", bars, [bar.drafted - bar.accepted for bar in bars], rejected, of),
        ],
        key_offset=44,
        layout={
            "barmode": "stack",
            "xaxis": axis(
                theme,
                tr(of),
                range=[0.5, max(len(bars), 8 if speculation.rounds else 1) + 0.5],
                showgrid=False,
                tick0=1,
                dtick=-(-len(bars) // 12) or 1,
            ),
            "yaxis": axis(
                theme, tr("drafted tokens"), rangemode="tozero", tickformat="d", nticks=6
            ),
        },
    )


def _bars(
    name: str, bars: Sequence[ServerRound], values: Sequence[int], color: str, of: str
) -> Properties:
    texts = [
        lines(
            f"{tr(of)} {nth(at)}",
            tr(
                "{accepted:,} of {drafted:,} drafted accepted",
                accepted=bar.accepted,
                drafted=bar.drafted,
            ),
        )
        for at, bar in enumerate(bars)
    ]
    return {
        "type": "bar",
        "name": name,
        "x": [nth(at) for at in range(len(bars))],
        "y": list(values),
        "width": 0.8,
        "marker": {"color": color, "line": {"width": 0}},
        **hover_texts(texts),
    }
