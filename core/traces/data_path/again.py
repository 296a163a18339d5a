"""Repeat a run or a forward and record its function calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from torch import Tensor

from ...decoding.config import MethodConfig
from ...decoding.decode import collect
from ...decoding.inside.types import Forward
from ...decoding.record.steps import Step
from ...decoding.record.trace import Trace
from ...models.running.modules import context_over, watch_forward
from ...models.transformers_model import TransformersModel
from .recorder import record
from .types import DataPath


class RecordedForward(NamedTuple):
    """The forwards around a step.

    Args:
        prompt: forward of the whole prompt.
        one: forward of one token: of the token before the step, or for step 0 of the first
            token after the prompt; None if there is no such token.
        path: calls of the forward that made the step, with the model's modules.
        logits: logits of the step, `[vocab]`.
    """

    prompt: Forward
    one: Forward | None
    path: DataPath
    logits: Tensor


def record_path(
    model: Any,
    prompt: str | Sequence[int] | Sequence[Mapping[str, str]],
    config: MethodConfig,
    most_calls: int,
    *,
    on_step: Callable[[Step], object],
    should_stop: Callable[[], bool],
    draft: Any = None,
) -> tuple[DataPath, Trace]:
    """Return the data path of a run, and its trace.

    Args:
        prompt: text, token ids, or messages for the chat template.
        most_calls: limit on recorded calls, as in `record`.
        on_step: called after each step; isn't recorded.
        draft: the draft model of contrastive decoding.
    """
    with record(most_calls) as recorder:

        def on_each(step: Step) -> None:
            with recorder.paused():
                on_step(step)

        is_chat = not isinstance(prompt, str) and prompt and isinstance(prompt[0], Mapping)
        config = replace(config)  # Check the settings again, as for a request.
        read: Any = model.encode_chat(prompt) if is_chat else prompt
        trace = collect(model, read, config, draft=draft, on_step=on_each, should_stop=should_stop)
    return recorder.path, trace


def record_forward(
    model: TransformersModel,
    prompt_ids: Sequence[int],
    token_ids: Sequence[int],
    index: int,
    most_calls: int,
    *,
    use_cache: bool,
) -> RecordedForward:
    """Run the forwards around step `index` of a run again.

    Args:
        token_ids: ids of all tokens of the run.
        most_calls: limit on recorded calls, as in `record`.
    """
    before, read = [*prompt_ids, *token_ids[:index]], len(prompt_ids)
    prompt, logits = watch_forward(model, [], prompt_ids, use_cache=use_cache)
    one = None
    if index:
        one, logits = watch_forward(
            model, before[:-1], before[-1:], prompt_length=read, use_cache=use_cache
        )
    elif token_ids:
        one, _ = watch_forward(model, before, token_ids[:1], use_cache=use_cache)
    context = context_over(model, before[:-1], read, use_cache) if index else None
    with record(most_calls) as recorder:
        recorder.watch(model)
        if context is None:
            model.start(prompt_ids, use_cache=use_cache)
        else:
            context.extend(before[-1:], keep=1)
    return RecordedForward(prompt, one, recorder.path, logits)
