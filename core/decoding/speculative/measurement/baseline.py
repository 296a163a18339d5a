"""Target-only decoding: its settings, and a run timed like the rounds of speculative decoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import torch

from ...autoregressive.config import Greedy, Sampling, as_single_tokens
from ...loop.run import process_prompt, token_limit
from ...loop.text import Ending
from ...protocol import LanguageModel
from ...record.steps import StepSeconds
from ..config import Speculative
from ..distributions import PositionShaper
from .report import TargetRun


def target_only(config: Speculative) -> Greedy | Sampling:
    """Return the settings of target-only decoding: the same shaping and bounds without a draft."""
    return as_single_tokens(config, config.shaping.temperature > 0)


def run_alone(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: Speculative,
    should_stop: Callable[[], bool] = bool,
) -> TargetRun | None:
    """Decode without a draft, with the operations of a round; None if the run was stopped.

    Shaping and draw are those that verify a draft, one row at a time, and nothing is recorded. So
    the seconds are comparable with a round's, which exclude recording. The tokens are those of a
    run with `target_only`.

    Raises:
        as `decode`.
    """
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    limit = token_limit(model, prompt_ids, config)
    shaper = PositionShaper(model, config, config.shaping)
    ending, generator = Ending(model, config, limit), torch.Generator().manual_seed(config.seed)
    ids, logits, forward = list(prompt_ids), context.logits[0], 0.0
    seconds: list[StepSeconds] = []
    for index in range(limit):
        if should_stop():
            return None
        with torch.inference_mode():
            began = perf_counter()
            rows = shaper(logits[None], ids, index)
            shaped = perf_counter()
            number = float(torch.rand((), generator=generator, dtype=torch.float64))
            ids.append(rows.draw(0, number).token_id)
            drawn = perf_counter()
        seconds.append(StepSeconds(forward, shaped - began, drawn - shaped))
        if ending.after(index, ids[-1])[1]:
            break
        with torch.inference_mode():
            began = perf_counter()
            logits = context.extend([ids[-1]])[0, -1]
            forward = perf_counter() - began
    return TargetRun(tuple(ids[len(prompt_ids) :]), prompt_step.seconds, tuple(seconds))
