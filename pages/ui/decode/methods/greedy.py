"""Greedy decoding on the Decode page."""

from __future__ import annotations

from core.decoding.autoregressive.config import Greedy
from core.language import N_
from pages.ui.decode.methods.strategy import Strategy

STRATEGY = Strategy(N_("Greedy"), Greedy)
