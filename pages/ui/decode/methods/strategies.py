"""The strategies of the Decode page; a new one is its module and its name in the list."""

from __future__ import annotations

from pkgutil import resolve_name

from core.decoding.config import MethodConfig
from pages.ui.decode.methods.strategy import Strategy

# Modules beside this one, each with its `STRATEGY`, in the order in which they are offered.
_MODULES = (
    "sampling",
    "greedy",
    "contrastive",
    "contrastive_decoding",
    "by_engine",
)
_ROWS: list[Strategy] = [resolve_name(f"{__package__}.{name}:STRATEGY") for name in _MODULES]
STRATEGIES = {row.config.method: row for row in _ROWS}


def strategy_of(config: MethodConfig) -> Strategy:
    """The strategy that a config belongs to."""
    return STRATEGIES[config.method]
