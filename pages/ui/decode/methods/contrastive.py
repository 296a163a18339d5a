"""Contrastive search on the Decode page, with what each step compared."""

from __future__ import annotations

from core import figures
from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.record.compared import MAX_COMPARED
from core.language import N_
from pages.ui.decode.methods.strategy import Strategy
from pages.ui.decode.parts import of_step
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.widgets.controls.control import Number, Read, declare


def _is_chosen(read: Read) -> bool:
    return bool(read("method") == "contrastive")


ROWS = declare(
    Number("penalty_alpha", N_("Penalty alpha"), 0.6, 0.0, 1.0, 0.05, short=True,
        field="penalty_alpha", acts=_is_chosen,
        help=N_("Weight of the penalty for similarity to the earlier text. 0 is greedy decoding.")),
    Number("contrastive_top_k", N_("Candidates"), 4, 1, MAX_COMPARED, short=True,
        field="contrastive_top_k",
        acts=_is_chosen, help=N_("Number of most probable tokens compared at every step.")),
)  # fmt: skip


STRATEGY = Strategy(
    N_("Contrastive search"),
    ContrastiveSearch,
    ROWS,
    beside=("penalty_alpha", "contrastive_top_k"),
    parts={"compared": of_step("compared", figures.contrast_bars)},
    # A server gives no hidden states.
    offered=lambda: not models.is_on_server(shared.model()),
    reshapes=False,
)
