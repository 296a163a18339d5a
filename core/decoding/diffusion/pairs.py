"""Tokens that a step filled together: their probabilities one by one, from exact extra forwards.

Tokens of one step are drawn independently, from the product of their distributions. The joint
probability fills them one after the other: a token then knows those before it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..protocol import LanguageModel
from ..record.trace import Trace
from .canvas import canvas_steps, replayed
from .config import Diffusion
from .engine import forward_canvas, require_masks
from .types import TogetherToken


def together(
    model: LanguageModel,
    trace: Trace[Diffusion],
    *,
    on_progress: Callable[[int, int], object] = lambda _done, _total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[TogetherToken, ...]:
    """Return the tokens of steps that filled several, in the order of filling, with both
    probabilities.

    The first token of a step has the same in both; each other one takes one forward, in which the
    step's earlier tokens stand on the canvas.
    """
    masks, prompt, found = require_masks(model), trace.prompt_ids, list[TogetherToken]()
    steps, done = canvas_steps(trace), 0
    total = sum(len(step.filled) - 1 for step in steps)
    for step, tokens in replayed(steps, steps[0].limit if steps else 0):
        if len(step.filled) < 2:
            continue
        canvas = list(tokens)
        for at, filled in enumerate(step.filled):
            token = filled.chosen
            after = token.raw_prob
            if at:
                row = forward_canvas(masks, prompt, canvas, trace.config).logits[filled.index]
                after = float(torch.softmax(row, dim=-1)[token.token_id])
                done += 1
                on_progress(done, total)
            canvas[filled.index] = token.token_id
            named = (step.index, filled.index, token.token_id, token.text)
            found.append(TogetherToken(*named, token.raw_prob, after))
            if should_stop():
                return tuple(found)
    return tuple(found)
