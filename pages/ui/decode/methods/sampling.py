"""Sampling on the Decode page, with the choice of how a token is drawn."""

from __future__ import annotations

from core.decoding.autoregressive.config import Sampling
from core.language import N_
from pages.ui.decode.methods.strategy import Strategy
from pages.ui.run.shared import SEED
from pages.ui.widgets.controls.control import declare
from pages.ui.widgets.controls.options import Menu

DRAWS = {
    "inverse_cdf": N_("Inverse CDF"),
    "gumbel": N_("Gumbel"),
    "multinomial": N_("Multinomial"),
}
DRAW_HELP = N_(
    "How a token is picked from the final distribution. Inverse CDF: a number falls on tokens laid "
    "end to end. Gumbel: noise is added to each ln p, and the highest wins. Multinomial: as torch "
    "and transformers draw."
)
ROWS = declare(
    Menu("draw", N_("Draw"), "inverse_cdf", lambda: DRAWS, field="draw",
        acts=lambda read: read("method") == "sampling",
        help=DRAW_HELP),
)  # fmt: skip
STRATEGY = Strategy(N_("Sampling"), Sampling, (*ROWS, SEED), more=("draw",))
