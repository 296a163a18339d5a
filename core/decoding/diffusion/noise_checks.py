"""Invariants of a run on canvases of noise, checked from its file alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import torch

from ...language import N_, Message
from ..checks.common import MASS_TOLERANCE, count
from ..counting import at_step, nth
from ..record.trace import Check, Trace
from .canvas import canvas_steps, listed_in
from .config import Diffusion
from .noise import Settling, accept
from .types import OPEN_CANDIDATES, CanvasStep, OpenCandidate, OpenPosition


def canvases_of(trace: Trace) -> list[list[CanvasStep]]:
    """Return the steps of each canvas."""
    groups = groupby(canvas_steps(trace), key=lambda step: step.open[0].position)
    return [list(steps) for _, steps in groups]


def tempered_entropies(step: CanvasStep) -> torch.Tensor:
    """Return the recorded entropies of the tempered distributions, float32."""
    return torch.tensor([-opened.score for opened in step.open], dtype=torch.float32)


def noise_faults(step: CanvasStep, config: Diffusion) -> Iterator[str]:
    """Yield missing parts of a step, and parts that no step on a canvas of noise has."""
    where = Message("step {step}", step=nth(step.index))
    places = [opened.position for opened in step.open]
    if [one.index for one in step.filled] not in ([], places):
        yield Message(
            "{where}: a canvas of noise is filled as a whole, by its last step", where=where
        )
    if step.remasked or len(step.canvas) != len(places):
        yield Message("{where}: the canvas has not one token for each position", where=where)
    if step.limit >= config.max_new_tokens + len(places):
        yield Message("{where}: there are more canvases than the settings allow", where=where)


def canvas_of_noise(trace: Trace[Diffusion]) -> Check:
    """Check that accepted tokens stay, and that the text is that of the finished canvases."""
    faults, first, shown = list[str](), 0, list[int]()
    groups = canvases_of(trace)
    length = len(groups[0][0].open) if groups else 1
    for steps in groups:
        for step in steps:
            if [one.position for one in step.open] != [*range(first, first + length)]:
                faults.append(at_step(step.index, N_("other positions form the canvas")))
        for step, after in pairwise(steps):
            kept = zip(step.open, after.canvas, strict=False)
            if any(one.filled and one.token_id != token.token_id for one, token in kept):
                faults.append(at_step(after.index, N_("an accepted token is gone")))
            if step.filled or step.emitted:
                faults.append(at_step(step.index, N_("the canvas ends here, and goes on")))
        last = steps[-1]
        tokens, shown = [one.token_id for one in last.filled], [*shown, *last.emitted]
        ended = last.finish_reason is not None
        if list(last.emitted) != tokens[: len(last.emitted)] or (
            not ended and len(last.emitted) != len(tokens)
        ):
            faults.append(at_step(last.index, N_("the text gained other tokens than its canvas")))
        goes_on = steps is not groups[-1] or trace.finish_reason == "cancelled"
        if ended == goes_on or (not last.filled and steps is not groups[-1]):
            faults.append(at_step(last.index, N_("the run ended elsewhere")))
        first += length
    if tuple(shown) != trace.token_ids:
        faults.append(N_("the steps' tokens are not the trace's tokens"))
    if any(step.limit % length for step in canvas_steps(trace)):
        faults.append(N_("the canvases have several lengths"))
    return count("canvas_of_steps", faults, "contradictions")


def order_of_noise(trace: Trace[Diffusion]) -> Check:
    """Check what each step accepts, and at which step a canvas ends."""
    faults, config = list[str](), trace.config
    for steps in canvases_of(trace):
        settling = Settling(config)
        for at, step in enumerate(steps, 1):
            entropies, listed = tempered_entropies(step), listed_in(step.candidates)
            if accept(entropies, config.entropy_bound) != [one.filled for one in step.open]:
                faults.append(at_step(step.index, N_("other positions have the lowest entropies")))
            draft = [listed[one.position][0].token_id for one in step.open]
            ends = settling.after(draft, entropies) or at == config.max_denoising_steps
            if ends != bool(step.filled):
                faults.append(at_step(step.index, N_("the canvas ends at another step")))
            for filled in step.filled:
                if filled.chosen.raw_prob < listed[filled.index][0].prob * (1 - MASS_TOLERANCE):
                    faults.append(at_step(step.index, N_("another token is the likeliest one")))
    return count("order_of_scores", faults, N_("steps in another order than the entropy bound's"))


def proposals_of_noise(trace: Trace[Diffusion]) -> Check:
    """Check the numbers of positions with those of their candidates."""
    faults = [
        Message(
            "step {index}: the numbers of position {position} disagree",
            index=nth(step.index),
            position=nth(opened.position),
        )
        for step in canvas_steps(trace)
        for listed in (listed_in(step.candidates),)
        for opened in step.open
        if not is_ranking(opened, listed[opened.position])
    ]
    return count("proposals_of_steps", faults, N_("positions that disagree"))


def is_ranking(opened: OpenPosition, listed: Sequence[OpenCandidate]) -> bool:
    """Return whether a position's candidates are ranked, and agree with its proposed token."""
    probs = [candidate.prob for candidate in listed]
    named = [candidate for candidate in listed if candidate.token_id == opened.token_id]
    return (
        all((c.text, c.prob) == (opened.text, opened.prob) for c in named)
        and (bool(named) or opened.prob <= min(probs))
        and probs == sorted(probs, reverse=True)
        and sum(probs) <= 1 + MASS_TOLERANCE
        and len({candidate.token_id for candidate in listed}) == len(listed)
        and len(listed) <= OPEN_CANDIDATES
    )
