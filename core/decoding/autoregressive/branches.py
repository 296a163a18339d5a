"""Branches: runs that continue from a step of another run with given tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter

from ...language import Message
from ..config import MethodConfig
from ..counting import counted, nth
from ..decode import steps_of
from ..errors import ConfigError
from ..loop.run import doubled_start, record_run
from ..loop.same_model import made_by
from ..methods import method_of
from ..protocol import Context, LanguageModel
from ..record.steps import Step, TokenStep
from ..record.trace import Trace
from ..requirements import encode_prompt, require_given, require_models
from .config import as_single_tokens
from .engine import continue_each, continue_from


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
    """Return a run that copies another run up to a step, emits the given tokens there, and goes on.

    With the same settings and model the earlier steps are copied, and the later steps have the same
    noise as in the other run. A run of another method goes on with greedy decoding or sampling.

    Args:
        trace: the other run; its model must have the same vocabulary. Steps of another model are
            computed again.
        at_step: index of the first given token among the generated tokens, from 0.
        token_ids: may be empty if the settings differ.
        config: other settings, for example another seed; by default the trace's own.
        on_step: called with each step, copied steps included.
        should_stop: as in `collect`.

    Raises:
        ConfigError: the run has no such step, or it can't have these tokens there.
        DecodingError: as `collect`.
    """
    config = single_token_config(trace.config) if config is None else config
    _require_step(model, trace, at_step, token_ids, config)
    kept = trace.token_ids[:at_step]
    if _copies(model, trace, config):
        steps: Iterator[Step] = _go_on(model, trace, kept, token_ids)
        copied = trace.steps[: 1 + at_step]
    else:
        ids = encode_prompt(model, trace.prompt_ids)
        steps, copied = steps_of(model, ids, config, given=(*kept, *token_ids)), ()
    return _recorded(model, trace, config, steps, copied, on_step=on_step, should_stop=should_stop)


def branch_each(
    model: LanguageModel,
    trace: Trace,
    at_step: int,
    choices: Sequence[Sequence[int]],
    *,
    on_tokens: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Trace, ...]:
    """Return a run of `branch` for each choice of tokens; all runs go on in one batch.

    Args:
        on_tokens: called after each forward with the number of tokens that each run has after the
            step.
        should_stop: as in `collect`; True ends all runs.

    Raises:
        ConfigError, DecodingError: as `branch`.
    """
    config = single_token_config(trace.config)
    for token_ids in choices:
        _require_step(model, trace, at_step, token_ids, config)
    if not _copies(model, trace, config):
        return tuple(
            branch(model, trace, at_step, token_ids, should_stop=should_stop)
            for token_ids in choices
        )
    kept = trace.token_ids[:at_step]
    rows: list[list[Step]] = [[*trace.steps[: 1 + at_step]] for _ in choices]
    context, forward = _read(model, trace, kept)
    for count, steps in enumerate(
        continue_each(
            model,
            context,
            trace.prompt_ids,
            [config] * len(choices),
            emitted=kept,
            given=choices,
            forward=forward,
            states=_states(trace, at_step),
        ),
        start=1,
    ):
        for row, step in steps:
            rows[row].append(step)
        if on_tokens is not None:
            on_tokens(count)
        if should_stop is not None and should_stop():
            break
    return tuple(_recorded(model, trace, config, iter(()), row) for row in rows)


def _require_step(
    model: LanguageModel,
    trace: Trace,
    at_step: int,
    token_ids: Sequence[int],
    config: MethodConfig,
) -> None:
    """Raise ConfigError unless the run can have these tokens at that step."""
    require_models(model)
    if not 0 <= at_step < max(len(trace.token_ids), 1):
        raise ConfigError(
            Message(
                "This run has {tokens}, counted from 1; there is no step {at_step} to go on from.",
                tokens=counted(len(trace.token_ids), "token"),
                at_step=nth(at_step),
            )
        )
    encode_prompt(model, trace.prompt_ids)
    require_given(model, (*trace.token_ids[:at_step], *token_ids), config)


def _copies(model: LanguageModel, trace: Trace, config: MethodConfig) -> bool:
    """Return whether this model makes the same steps under these settings, so that they can be
    copied.
    """
    same_model = made_by(trace, model) and trace.dtype == model.dtype
    return config == trace.config and same_model and trace.prompt_step is not None


def _recorded(
    model: LanguageModel,
    trace: Trace,
    config: MethodConfig,
    steps: Iterator[Step],
    copied: Sequence[Step],
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Trace:
    """Return the trace of the copied steps and the new steps after them."""
    notes = doubled_start(model, trace.prompt, trace.prompt_ids)
    return record_run(
        model,
        config,
        None,
        prompt=trace.prompt,
        rendered=trace.rendered_prompt,
        prompt_ids=trace.prompt_ids,
        steps=steps,
        copied=copied,
        told=[note for note in notes if note in trace.notes],
        on_step=on_step,
        should_stop=should_stop,
    )


def single_token_config(config: MethodConfig) -> MethodConfig:
    """Return the settings of any config for a method that takes given tokens.

    Raises:
        ConfigError: the run compares with a draft model.
    """
    if config.shaping.contrastive_beta:
        raise ConfigError(
            Message(
                "A run of {words} can't go on from a step, as its tokens take a draft "
                "model too: take a run of another method.",
                words=Message(config.words),
            )
        )
    if method_of(config).takes_given:
        return config
    return as_single_tokens(config, getattr(config, "draws", config.can_draw))


def _go_on(
    model: LanguageModel, trace: Trace, kept: Sequence[int], given: Sequence[int]
) -> Iterator[TokenStep]:
    """Yield the steps after the copied tokens."""
    context, forward = _read(model, trace, kept)
    yield from continue_from(
        model,
        context,
        trace.prompt_ids,
        trace.config,
        emitted=kept,
        given=given,
        forward=forward,
        states=_states(trace, len(kept)),
    )


def _states(trace: Trace, at_step: int) -> Mapping[str, float]:
    """Return the samplers' states at a step, which the run recorded."""
    return trace.token_steps[at_step].states if at_step < len(trace.token_steps) else {}


def _read(model: LanguageModel, trace: Trace, kept: Sequence[int]) -> tuple[Context, float]:
    """Read the prompt and the copied tokens as the run did; also return the last token's
    seconds.
    """
    # As in a run, logits are read at every position: reading only the last position rounds
    # differently.
    start = partial(model.start, trace.prompt_ids, on_logits=lambda _first, _logits: None)
    context, forward = start(use_cache=trace.config.use_cache), 0.0
    for token_id in kept:
        started = perf_counter()
        context.extend([token_id])
        forward = perf_counter() - started
    return context, forward
