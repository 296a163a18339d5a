"""Contrastive search on the Decode page, with what each step compared."""

from __future__ import annotations

from core import figures
from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.loop.compared import MAX_COMPARED
from core.decoding.trace import Trace
from core.export.part import of_figure
from pages.ui.decode.strategy import Strategy
from pages.ui.run.view import View
from pages.ui.shell import models, sidebar
from pages.ui.widgets import figure
from pages.ui.widgets.control import Number, Read, declare


def _is_chosen(read: Read) -> bool:
    return bool(read("method") == "contrastive")


ROWS = declare(
    Number("penalty_alpha", "Penalty alpha", 0.6, 0.0, 1.0, 0.05, short=True, field="penalty_alpha",
        acts=_is_chosen,
        help="The weight of the penalty for likeness to the text so far. 0 is greedy decoding."),
    Number("contrastive_top_k", "Candidates", 4, 1, MAX_COMPARED, short=True,
        field="contrastive_top_k",
        acts=_is_chosen, help="So many of the most probable tokens are compared at every step."),
)  # fmt: skip


def _compared(view: View, trace: Trace) -> None:
    figure.chart(
        of_figure("compared", figures.contrast_bars, view.step, trace),
        (view.number, view.selected),
        across=True,
    )


STRATEGY = Strategy(
    "Contrastive",
    ContrastiveSearch,
    ROWS,
    beside=("penalty_alpha", "contrastive_top_k"),
    tabs={"Contrastive": _compared},
    # A server gives no hidden states.
    offered=lambda: not models.is_on_server(sidebar.model()),
    reshapes=False,
    saved={"compared": figures.contrast_bars},
)
