"""The trace of a run from its steps, as they are made."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter

from core.decoding.errors import LoadingStoppedError, LostModelError, UnknownTokensError
from core.decoding.loop.run import run_notes
from core.decoding.loop.text import join_text
from core.decoding.method import Config
from core.decoding.methods import method_of
from core.decoding.protocol import LanguageModel
from core.decoding.record.notes import BROKEN_OFF, Note
from core.decoding.record.steps import PromptStep, Step
from core.decoding.record.trace import Timings, Trace


def record_run(
    model: LanguageModel,
    config: Config,
    draft: LanguageModel | None,
    *,
    prompt: str,
    rendered: str,
    prompt_ids: tuple[int, ...],
    steps: Iterator[Step],
    copied: Sequence[Step] = (),
    told: Sequence[Note] = (),
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Trace[Config]:
    """Return the trace of steps that are made here, behind those that another run made.

    Args:
        copied: of the other run; each keeps its time.
        told: notes that the settings and the length don't give.
        on_step, should_stop: as of `collect`.
    """
    done: list[Step] = list(copied)
    seconds = [step.duration for step in copied]
    spent, began = sum(seconds), perf_counter()
    if on_step is not None:
        for step in copied:
            on_step(step)
    cancelled, lost = should_stop is not None and should_stop(), list[Note]()
    with closing(_timed(steps, lost)) as running:
        while not cancelled and (timed := next(running, None)) is not None:
            step = timed[0]
            done.append(step)
            seconds.append(timed[1])
            if on_step is not None:
                on_step(step)
            cancelled = should_stop is not None and should_stop()
    total = spent + perf_counter() - began
    first = 1 + sum(isinstance(step, PromptStep) for step in done)
    return _trace(
        model,
        config,
        draft,
        prompt=prompt,
        rendered=rendered,
        prompt_ids=prompt_ids,
        steps=tuple(done),
        timings=Timings(sum(seconds[:first]), sum(seconds[first:]), total),
        told=(*told, *lost),
    )


def _timed(steps: Iterator[Step], lost: list[Note]) -> Generator[tuple[Step, float], None, None]:
    """Each step with the seconds that it took to make, the consumer's own time left out.

    Args:
        lost: takes in why the model was lost, where that ends a run which has made tokens.
    """
    emitted, started = False, perf_counter()
    while True:
        try:
            step = next(steps, None)
        except (LostModelError, LoadingStoppedError, UnknownTokensError) as error:
            if not emitted:
                raise
            lost.append(Note(BROKEN_OFF, str(error)))
            return
        if step is None:
            return
        emitted = emitted or not isinstance(step, PromptStep)
        yield step, perf_counter() - started
        started = perf_counter()


def _trace(
    model: LanguageModel,
    config: Config,
    draft: LanguageModel | None,
    *,
    prompt: str,
    rendered: str,
    prompt_ids: tuple[int, ...],
    steps: tuple[Step, ...],
    timings: Timings,
    told: tuple[Note, ...],
) -> Trace[Config]:
    token_ids, record = method_of(config).outcome(steps, config, draft)
    notes = run_notes(model, config, prompt_ids, token_ids, steps)
    return Trace(
        model_id=model.model_id,
        model_revision=model.revision,
        dtype=model.dtype,
        prompt=prompt,
        rendered_prompt=rendered,
        prompt_ids=prompt_ids,
        config=config,
        steps=steps,
        token_ids=token_ids,
        text=join_text(model, token_ids),
        finish_reason=(steps[-1].finish_reason if steps else None) or "cancelled",
        timings=timings,
        notes=(*notes, *told),
        versions={**_versions(), **getattr(model, "versions", {})},
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        known=config.known_by(getattr(model, "known", None)),
        method_record=record,
    )


@cache
def _versions() -> dict[str, str]:
    """Read once: a package's metadata take as long as half a dozen tokens."""
    found = {}
    for package in ("torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
