"""Masked diffusion in the registry of methods."""

from __future__ import annotations

from ...language import N_
from ..autoregressive.method import GREEDY_AT_0
from ..method import Method
from .config import Diffusion
from .types import CanvasStep

DIFFUSION = Method(
    config=Diffusion,
    engine=f"{__package__}.engine:generate",
    against_model=N_(
        "Runs the canvas of every step again, shapes every masked position anew with "
        "the seed's numbers, and compares the proposed tokens and their order."
    ),
    self_checks=f"{__package__}.checks:self_checks",
    model_checks=f"{__package__}.model_checks:model_checks",
    step=CanvasStep,
    reads_prompt=False,
    notes=lambda config: () if config.shaping.temperature > 0 else (GREEDY_AT_0,),
)
