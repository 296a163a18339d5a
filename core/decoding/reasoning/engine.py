"""Reasoning: thinking between two marks up to a bound, then the answer; on greedy or sampling."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor

from core.decoding.autoregressive.engine import Picked, Picker
from core.decoding.config import Ended
from core.decoding.loop.recording import read_step
from core.decoding.loop.run import process_prompt
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.controller import BudgetController, TokenDecision, cannot_force
from core.decoding.record.steps import Draw, Step, StepSeconds, TokenStep
from core.decoding.shaping.draws import Pick, noisy_scores
from core.decoding.shaping.stages import Distribution, raw_distribution


def generate(model: LanguageModel, prompt_ids: Sequence[int], config: Reasoning) -> Iterator[Step]:
    """Yield the prompt step, then a step for each token, the model's own and the forced ones.

    Budget forcing is that of s1 (Muennighoff et al. 2025): at the bound the closing mark is forced,
    and the first `ignore_end` attempts to stop thinking are replaced by `wait_text`.

    Raises:
        as `autoregressive.generate`.
    """
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    controller, picker = BudgetController(model, prompt_ids, config), Picker(model, config.chooser)
    ids, logits, forward = list(prompt_ids), context.logits[0], 0.0
    for index in count():
        picked = picker.pick(index, logits, ids) if controller.asks else None
        decision = controller.decide(None if picked is None else picked.pick.token_id)
        ids.append(decision.token_id)
        text, reason = controller.after(decision)
        if picked is not None and decision.forced_as is None:
            yield picker.record(index, picked, forward, text, reason, decision.phase)
        else:
            forcing = Forcing(decision, logits, picked)
            yield record_forced(model, config, index, forcing, forward, text, reason)
        if reason:
            return
        started = perf_counter()
        logits = context.extend([decision.token_id])[0, -1]
        forward = perf_counter() - started


class Forcing(NamedTuple):
    """A forced token and what the model wanted: its logits, and its pick where it was asked."""

    decision: TokenDecision
    logits: Tensor
    picked: Picked | None


def record_forced(
    model: LanguageModel,
    config: Reasoning,
    index: int,
    forcing: Forcing,
    forward: float,
    text: str,
    finish_reason: Ended | None,
) -> TokenStep:
    """A forced token with what the model wanted: one more stage, the one-hot distribution on it."""
    decision, logits, picked = forcing
    if not logits[decision.token_id] > -math.inf:
        raise cannot_force(model, decision.token_id)
    started = perf_counter()
    before = [raw_distribution(logits)] if picked is None else picked.stages
    stages = [*before, _forced(before[-1], decision.token_id)]
    shaping = perf_counter() - started if picked is None else picked.shaping_seconds
    reading = read_step(model, stages, Pick(decision.token_id), config.top_candidates)
    candidates = tuple(
        c._replace(removed_by=None) if c.token_id == decision.token_id else c
        for c in reading.candidates
    )
    return TokenStep(
        index=index,
        token_id=decision.token_id,
        candidates=candidates,
        entropy=reading.entropy,
        tail_mass=reading.tail_mass,
        surprisal=reading.surprisal,
        origin="forced",
        phase=decision.phase,
        draw=_draw(config, picked, [c.token_id for c in candidates]),
        stages=reading.stages,
        text=text,
        seconds=StepSeconds(forward, shaping, 0.0 if picked is None else picked.draw_seconds),
        finish_reason=finish_reason,
        forced_as=decision.forced_as,
        instead_of=decision.instead_of,
    )


def _forced(before: Distribution, token_id: int) -> Distribution:
    """Forcing as a stage: everything on one token, whatever it had before."""
    had = before.log_probs_of(torch.tensor([token_id]))[0]
    removed_mass = max(0.0, -math.expm1(had))
    ids, zero = torch.tensor([token_id]), torch.zeros(1)
    return Distribution("forced", ids, zero, torch.ones(1), 0.0, 1, removed_mass)


def _draw(config: Reasoning, picked: Picked | None, candidate_ids: list[int]) -> Draw:
    """The draw whose token was replaced; `forced` where nothing was drawn."""
    if picked is None:
        return Draw("forced")
    if not config.draws:
        return Draw("argmax")
    pick, scores = picked.pick, None
    if pick.noise is not None:
        ids = torch.tensor(candidate_ids)
        scores = tuple(noisy_scores(pick, ids, picked.stages[-1].log_probs_of(ids)))
    return Draw(config.draw, pick.uniform, pick.interval, scores)
