"""Check of a run on canvases of noise against its model: every denoising step again."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ...language import N_, Message
from ..checks.common import MASS_TOLERANCE
from ..counting import at_step, nth
from ..protocol import LanguageModel
from ..record.trace import Check, Trace
from .canvas import listed_in
from .config import Diffusion
from .noise import (
    NoiseDice,
    canvas_count,
    entropies_of,
    require_denoiser,
    temperature_at,
)
from .noise_checks import canvases_of, tempered_entropies
from .replay import CanvasReplay, position_error
from .types import OPEN_CANDIDATES, CanvasStep


def length_faults(trace: Trace[Diffusion], model: LanguageModel) -> list[str]:
    """Return a fault if the run's canvases have another length or number than the model's."""
    length = require_denoiser(model).canvas_length
    limit = canvas_count(model, trace.prompt_ids, trace.config) * length
    steps = [step for steps in canvases_of(trace) for step in steps]
    if all((len(step.open), step.limit) == (length, limit) for step in steps):
        return []
    return [N_("the canvases are shorter or longer than the model's, or there are more or fewer")]


def denoised_again(trace: Trace[Diffusion], model: LanguageModel) -> list[Check]:
    """Denoise every canvas again and compare all numbers, the noise and the draws."""
    config, denoiser = trace.config, require_denoiser(model)
    text = denoiser.encode_text(trace.prompt_ids)
    dice = NoiseDice(model.vocab_size, denoiser.canvas_length, config.seed)
    replay = CanvasReplay(trace, model)
    for steps in canvases_of(trace):
        noise, conditioning = dice.noise(), None
        accepted = [False] * denoiser.canvas_length
        for at, step in enumerate(steps):
            fresh = zip(step.canvas, noise, accepted, strict=True)
            if any(token.token_id != other for token, other, kept in fresh if not kept):
                replay.faults.append(at_step(step.index, N_("the seed gives another noise")))
            logits = text.denoise([token.token_id for token in step.canvas], conditioning)
            temperature = temperature_at(config.max_denoising_steps - at, config)
            conditioning = logits / temperature
            tolerance = replay.widen(logits)
            listed = listed_in(step.candidates)
            replay.deviations += [
                position_error(opened, listed[opened.position], row, OPEN_CANDIDATES)
                for opened, row in zip(step.open, logits, strict=True)
            ]
            errors = (entropies_of(conditioning) - tempered_entropies(step)).abs()
            replay.deviations.append(float(errors.max()) * min(temperature, 1.0))
            slack = MASS_TOLERANCE + 4 * tolerance / temperature
            replay.faults += _draw_faults(step, dice.scores(conditioning), slack)
            for filled, row in zip(step.filled, logits, strict=False):
                replay.filled(step.index, filled, row, [], tolerance)
            replay.texts(step)
            noise, accepted = dice.noise(), [opened.filled for opened in step.open]
        if steps[-1].filled:
            text.extend([filled.token_id for filled in steps[-1].filled])
    return replay.checks()


def _draw_faults(step: CanvasStep, scores: Tensor, slack: float) -> Sequence[str]:
    """Return a fault for each position whose token has not the highest score, up to rounding."""
    best = scores.max(-1).values
    return [
        Message(
            "step {index}: the seed draws another token at position {position}",
            index=nth(step.index),
            position=nth(opened.position),
        )
        for at, opened in enumerate(step.open)
        if not float(scores[at, opened.token_id]) >= float(best[at]) - slack
    ]
