"""Sampling by the engine on the Decode page: a model's server makes the run by itself."""

from __future__ import annotations

from core.decoding.by_engine.config import NO_BUDGET, ByEngine
from core.language import N_
from pages.ui.decode.methods.strategy import Strategy
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.shared import SEED
from pages.ui.widgets.controls.control import Number, declare

ROWS = declare(
    Number("thinking_token_budget", N_("Thinking budget of the server"), NO_BUDGET, NO_BUDGET,
        100_000, field="thinking_token_budget",
        acts=lambda read: read("method") == "engine",
        help=N_("Number of tokens after which vLLM ends the thinking, if it was started with "
        "--reasoning-config. -1 sets no budget.")),
)  # fmt: skip
STRATEGY = Strategy(
    N_("By the engine"),
    ByEngine,
    (*ROWS, SEED),
    more=("thinking_token_budget",),
    offered=lambda: models.is_on_server(shared.model()),
    reshapes=False,
)
