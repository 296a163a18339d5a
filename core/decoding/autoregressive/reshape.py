"""Recompute a step under other settings from its stored logits, without running the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from ..config import MethodConfig
from ..loop.run import read_again
from ..loop.text import join_text
from ..protocol import LanguageModel
from ..record.steps import TokenStep
from ..record.trace import Trace
from ..shaping.draws import noise_at
from ..shaping.stage import NO_STATES
from .config import drawn_by
from .engine import Picker


def logits_at(model: LanguageModel, trace: Trace, index: int) -> Tensor:
    """Return the `[vocab]` logits of step `index`, from one forward over its prefix."""
    return read_again(model, trace, trace.token_ids[:index]).logits[0]


def reshape_step(
    model: LanguageModel,
    logits: Tensor,
    previous_ids: Sequence[int],
    config: MethodConfig,
    index: int,
    states: Mapping[str, float] = NO_STATES,
) -> TokenStep:
    """Recompute step `index` under `config`, with the noise that its seed gives this step.

    Args:
        logits: `[vocab]` logits from `logits_at`.
        previous_ids: the prompt and the tokens generated before the step.
        states: the samplers' states at the step, as the run recorded them.
    """
    picker, noise = Picker(model, config.chooser), None
    sampling = drawn_by(config.chooser)
    if sampling:
        noise = noise_at(sampling.draw, sampling.seed, index, model.vocab_size)
    picked = picker.pick(index, logits, previous_ids, noise, states)
    return picker.record(index, picked, 0.0, join_text(model, [picked.pick.token_id]), None)
