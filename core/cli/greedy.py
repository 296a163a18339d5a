"""Greedy decoding on the command line; it has no options of its own."""

from __future__ import annotations

from core.cli.method import Method
from core.decoding.autoregressive.config import Greedy

METHOD = Method(
    config=Greedy,
    words="greedy decoding",
    undrawn=lambda _: "greedy decoding; use --method sampling",
)
