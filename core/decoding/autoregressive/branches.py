"""Another token in a run: the run that goes on from one of its steps with given tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter

from core.decoding.autoregressive.config import as_single_tokens
from core.decoding.autoregressive.engine import continue_from
from core.decoding.checks.model_checks import made_by
from core.decoding.config import MethodConfig
from core.decoding.counting import counted, nth
from core.decoding.decode import steps_of
from core.decoding.errors import ConfigError
from core.decoding.loop.run import doubled_start, record_run
from core.decoding.methods import method_of
from core.decoding.protocol import LanguageModel
from core.decoding.record.steps import Step, TokenStep
from core.decoding.record.trace import Trace
from core.decoding.requirements import encode_prompt, require_given, require_models


def branch(
    model: LanguageModel,
    trace: Trace,
    at_step: int,
    token_ids: Sequence[int],
    *,
    config: MethodConfig | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Trace:
    """Return the run that has these tokens at a step of another run and goes on from there.

    Under the same settings and by the same model its earlier steps are copies, and the later ones
    have the same noise as in the other run. A run of another method goes on by greedy decoding or
    sampling.

    Args:
        trace: of a model with the same tokens; another model's steps are made anew.
        at_step: place of the first given token among the generated ones, from 0.
        token_ids: may be empty where the settings differ.
        config: other settings, another seed for example; the trace's own by default.
        on_step: called with each step, the copied ones included.
        should_stop: as of `collect`.

    Raises:
        ConfigError: the run has no such step, or it can't have these tokens there.
        DecodingError: as `collect`.
    """
    require_models(model)
    config = single_token_config(trace.config) if config is None else config
    if not 0 <= at_step < max(len(trace.token_ids), 1):
        raise ConfigError(
            f"This run has {counted(len(trace.token_ids), 'token')}, counted from 1; there is no "
            f"step {nth(at_step)} to go on from."
        )
    kept = trace.token_ids[:at_step]
    ids = encode_prompt(model, trace.prompt_ids)
    require_given(model, (*kept, *token_ids), config)
    same_model = made_by(trace, model) and trace.dtype == model.dtype
    copies = config == trace.config and same_model and trace.prompt_step is not None
    return record_run(
        model,
        config,
        None,
        prompt=trace.prompt,
        rendered=trace.rendered_prompt,
        prompt_ids=trace.prompt_ids,
        steps=_go_on(model, trace, kept, token_ids)
        if copies
        else steps_of(model, ids, config, given=(*kept, *token_ids)),
        copied=trace.steps[: 1 + at_step] if copies else (),
        told=[note for note in doubled_start(model, trace.prompt, ids) if note in trace.notes],
        on_step=on_step,
        should_stop=should_stop,
    )


def single_token_config(config: MethodConfig) -> MethodConfig:
    """Return a config whose method takes given tokens, with the settings of any config."""
    if method_of(config).takes_given:
        return config
    return as_single_tokens(config, getattr(config, "draws", config.can_draw))


def _go_on(
    model: LanguageModel, trace: Trace, kept: Sequence[int], given: Sequence[int]
) -> Iterator[TokenStep]:
    """Read the prompt and the kept tokens as the run itself did, and go on behind them."""
    # With its logits read at every position, as a run reads them: to read the last alone rounds
    # otherwise.
    start = partial(model.start, trace.prompt_ids, on_logits=lambda _first, _logits: None)
    context, forward = start(use_cache=trace.config.use_cache), 0.0
    for token_id in kept:
        started = perf_counter()
        context.extend([token_id])
        forward = perf_counter() - started
    yield from continue_from(
        model,
        context,
        trace.prompt_ids,
        trace.config,
        emitted=kept,
        given=given,
        forward=forward,
    )
