"""Runs of masked diffusion that are hard to lay out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from core import Diffusion, collect
from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.diffusion.types import CanvasStep
from core.decoding.record.trace import Trace
from tests.models.builders import random_masked_model, random_noise_model


def hostile_canvas(trace: Trace) -> Trace:
    """The run with tokens whose texts are markup."""
    texts = ("<b>x</b>", "`$\\x$`", "a very long token that is no word")

    def changed(step: CanvasStep) -> CanvasStep:
        text = texts[step.index % 3]
        return replace(
            step,
            open=tuple(one._replace(text=text) for one in step.open),
            candidates=tuple(one._replace(text=text) for one in step.candidates),
            filled=tuple(
                replace(one, candidates=tuple(c._replace(text=text) for c in one.candidates))
                for one in step.filled
            ),
        )

    return replace(trace, prompt="<i>y</i>", steps=tuple(map(changed, canvas_steps(trace))))


@cache
def remasked_canvas() -> Trace:
    """A run that masks tokens again."""
    config = Diffusion(max_new_tokens=16, block_length=16, tokens_per_step=3, remask_per_step=1)
    return collect(random_masked_model(), "the fox had", config)


@cache
def noise_canvas() -> Trace:
    """A run on two canvases of noise."""
    config = Diffusion(max_new_tokens=16, canvas="noise", max_denoising_steps=4, seed=1)
    return collect(random_noise_model(), "the fox had", config)
