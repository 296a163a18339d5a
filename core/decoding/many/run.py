"""Many runs of one prompt by a model: in batches where it can, else one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import torch

from ...language import N_
from ..autoregressive.engine import continue_each
from ..decode import collect
from ..errors import ConfigError
from ..loop.run import doubled_start, process_prompt, record_run
from ..loop.text import join_prompt
from ..protocol import LanguageModel
from ..record.notes import computed
from ..record.steps import Step
from ..record.trace import Trace
from ..requirements import (
    encode_prompt,
    in_dtype,
    require_models,
    require_settings,
)
from .plan import ALL_THREADS, RunBatch, varies_computing
from .types import sharing_prompt


def run_batches(
    model: LanguageModel,
    prompt: str | Sequence[int],
    batches: Sequence[RunBatch],
    *,
    prompt_text: str | None = None,
    on_trace: Callable[[Trace], object] | None = None,
    on_tokens: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Trace, ...]:
    """Return the traces of all runs; a row of a batch equals a run of its own but for rounding.

    Args:
        prompt: text, or token ids (a rendered chat, for example).
        batches: of `plan.again` or `plan.grid`.
        prompt_text: as of `collect`.
        on_trace: called with each run as soon as it is there.
        on_tokens: called after each step with the number of tokens of the runs under way.
        should_stop: asked after each step; True ends the runs under way as cancelled, and no
            further batch begins.

    Raises:
        ConfigError: another number type, batch or number of threads for a model on a server.
        DecodingError: as `collect`.
    """
    made: list[Trace] = []
    for trace in _each(model, prompt, batches, prompt_text, on_tokens, should_stop):
        made.append(sharing_prompt(trace, made))
        if on_trace is not None:
            on_trace(made[-1])
    return tuple(made)


def send_batches(
    model: LanguageModel,
    prompt: str | Sequence[int],
    batches: Sequence[RunBatch],
    *,
    on_trace: Callable[[Trace], object],
    prompt_text: str | None = None,
    on_tokens: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> None:
    """Run as `run_batches`, and hold no trace: `on_trace` receives each once."""
    for trace in _each(model, prompt, batches, prompt_text, on_tokens, should_stop):
        on_trace(trace)


def _each(
    model: LanguageModel,
    prompt: str | Sequence[int],
    batches: Sequence[RunBatch],
    prompt_text: str | None,
    on_tokens: Callable[[int], object] | None,
    should_stop: Callable[[], bool] | None,
) -> Iterator[Trace]:
    require_models(model)
    if _is_remote(model) and varies_computing(batches):
        raise ConfigError(
            N_(
                "A server chooses its batches and threads by itself, so nothing would "
                "vary: let nothing vary there, or the seed."
            )
        )
    dtype, typed = "", model
    for batch in batches:
        if should_stop is not None and should_stop():
            break
        if batch.dtype != dtype:
            dtype = batch.dtype
            typed = in_dtype(model, dtype) if dtype else model
        threads = None if _is_remote(model) else _thread_count(batch)
        with _threads(threads, should_stop) as asked:
            for trace in _runs(typed, prompt, batch, prompt_text, on_tokens, asked):
                notes = () if _is_remote(model) else computed(batch.rows, threads)
                yield replace(trace, notes=(*trace.notes, *notes))


def _runs(
    model: LanguageModel,
    prompt: str | Sequence[int],
    batch: RunBatch,
    prompt_text: str | None,
    on_tokens: Callable[[int], object] | None,
    should_stop: Callable[[], bool] | None,
) -> Iterator[Trace]:
    if batch.rows > 1 and not _is_remote(model):
        yield from _in_batch(model, prompt, batch, prompt_text, on_tokens, should_stop)
        return
    for config in batch.configs:
        count = 0

        def on_step(_: Step) -> None:
            nonlocal count
            count += 1
            if on_tokens is not None:
                on_tokens(count)

        yield collect(
            model, prompt, config, prompt_text=prompt_text, on_step=on_step, should_stop=should_stop
        )
        if should_stop is not None and should_stop():
            return


def _in_batch(
    model: LanguageModel,
    prompt: str | Sequence[int],
    batch: RunBatch,
    prompt_text: str | None,
    on_tokens: Callable[[int], object] | None,
    should_stop: Callable[[], bool] | None,
) -> Iterator[Trace]:
    """Read the prompt once, and go on from it in the batch's rows."""
    ids = encode_prompt(model, prompt)
    for config in batch.configs:
        require_settings(model, config)
    configs = [*batch.configs, *[batch.configs[-1]] * (batch.rows - len(batch.configs))]
    prompt_step, context = process_prompt(model, ids, configs[0].use_cache)
    rows: list[list[Step]] = [[prompt_step] for _ in configs]
    for count, steps in enumerate(
        continue_each(
            model, context, ids, configs, emitted=(), given=[()] * len(configs), forward=0.0
        ),
        start=1,
    ):
        for row, step in steps:
            rows[row].append(step)
        if on_tokens is not None:
            on_tokens(count)
        if should_stop is not None and should_stop():
            break
    rendered = prompt if isinstance(prompt, str) else join_prompt(model, ids)
    for config, copied in zip(batch.configs, rows, strict=False):
        yield record_run(
            model,
            config,
            None,
            prompt=rendered if prompt_text is None else prompt_text,
            rendered=rendered,
            prompt_ids=tuple(ids),
            steps=iter(()),
            copied=copied,
            told=doubled_start(model, prompt, ids) if isinstance(prompt, str) else (),
        )


def _is_remote(model: LanguageModel) -> bool:
    """Return whether the model is on a server, which runs one request at a time for us."""
    return hasattr(model, "facts")


@cache
def threads_at_start() -> int:
    """Return the number of torch's threads before a run set another one."""
    return torch.get_num_threads()


def _thread_count(batch: RunBatch) -> int | None:
    """Return the number of torch's threads that a batch sets; None if it sets none."""
    return max(2, threads_at_start()) if batch.threads == ALL_THREADS else batch.threads


@contextmanager
def _threads(
    count: int | None, should_stop: Callable[[], bool] | None
) -> Iterator[Callable[[], bool] | None]:
    """Set the number of torch's threads in this process meanwhile.

    Yields `should_stop` as the runs may ask it: others may have their turn in it, so that it is
    called with the number of threads at the start. New threads take the number over.
    """
    if count is None:
        yield should_stop
        return
    before = threads_at_start()

    def asked() -> bool:
        torch.set_num_threads(before)
        try:
            return should_stop is not None and should_stop()
        finally:
            torch.set_num_threads(count)

    torch.set_num_threads(count)
    try:
        yield asked
    finally:
        torch.set_num_threads(before)
