"""Masked diffusion in the registry of methods."""

from __future__ import annotations

from core.decoding.autoregressive.method import GREEDY_AT_0
from core.decoding.diffusion.config import Diffusion
from core.decoding.diffusion.types import CanvasStep
from core.decoding.method import Method

DIFFUSION = Method(
    config=Diffusion,
    engine="core.decoding.diffusion.engine:generate",
    against_model="Runs the canvas of every step again, shapes every masked position anew with the "
    "seed's numbers, and compares the proposed tokens and their order.",
    self_checks="core.decoding.diffusion.checks:self_checks",
    model_checks="core.decoding.diffusion.model_checks:model_checks",
    step=CanvasStep,
    reads_prompt=False,
    notes=lambda config: () if config.shaping.temperature > 0 else (GREEDY_AT_0,),
)
