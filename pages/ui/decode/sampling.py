"""Sampling on the Decode page, with the choice of how a token is drawn."""

from __future__ import annotations

from core.decoding.autoregressive.config import Sampling
from pages.ui.decode.strategy import Strategy
from pages.ui.shell.sidebar import SEED
from pages.ui.widgets.control import Menu, declare

DRAWS = {"inverse_cdf": "Inverse CDF", "gumbel": "Gumbel", "multinomial": "Multinomial"}
ROWS = declare(
    Menu("draw", "Draw", "inverse_cdf", lambda: DRAWS, field="draw",
        acts=lambda read: read("method") == "sampling",
        help="How a token is picked from the final distribution. Inverse CDF shows its dice; "
        "multinomial draws exactly as transformers does."),
)  # fmt: skip
STRATEGY = Strategy("Sampling", Sampling, (*ROWS, SEED), more=("draw",))
