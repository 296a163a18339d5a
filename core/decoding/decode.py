"""`decode`, the one generator of steps, and `collect`, which makes a trace of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pkgutil import resolve_name
from time import perf_counter

from core.decoding.config import MethodConfig
from core.decoding.errors import (
    LoadingStoppedError,
    LostModelError,
    UnknownTokensError,
)
from core.decoding.loop.run import doubled_start, run_notes
from core.decoding.loop.text import join_prompt, join_text
from core.decoding.method import Config
from core.decoding.methods import method_of
from core.decoding.protocol import LanguageModel
from core.decoding.record.steps import PromptStep, Step
from core.decoding.record.trace import Timings, Trace
from core.decoding.requirements import (
    encode_prompt,
    require_all_tokens,
    require_draft,
    require_given,
    require_models,
    require_settings,
)


def decode(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: MethodConfig,
    *,
    draft: LanguageModel | None = None,
    given: Sequence[int] = (),
) -> Iterator[Step]:
    """Yield the steps of a run as they happen: a `PromptStep` (by the engine none), then its own.

    Args:
        model: of `load_model` or `from_transformers`.
        prompt: text, or token ids (a rendered chat, for example).
        config: the method and its settings.
        draft: the second model of `Speculative`.
        given: ids of the first generated tokens, which take the place of what greedy decoding or
            sampling picks there.

    Raises:
        PromptError: an empty prompt, an id outside the vocabulary, or a prompt that doesn't fit.
        ConfigError: a config of no known method, a draft that the method has no use for, or a
            setting for a token that the model doesn't have.
        ModelError: a name or something else than a loaded model, or a draft with another
            vocabulary.
    """
    require_models(model, draft)
    method_of(config)  # A wrong config is named before a wrong prompt.
    return steps_of(model, encode_prompt(model, prompt), config, draft, given)


def steps_of(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    draft: LanguageModel | None = None,
    given: Sequence[int] = (),
) -> Iterator[Step]:
    """Start a run whose models and prompt are checked already."""
    method, drafts = method_of(config), () if draft is None else (draft,)
    require_draft(config, draft.model_id if draft else None)
    require_settings(model, config)
    if not method.takes_known:
        for loaded in (model, *drafts):
            require_all_tokens(loaded, method.words)
    if given:
        require_given(model, given, config)
        drafts = (*drafts, given)
    steps: Iterator[Step] = resolve_name(method.engine)(model, prompt_ids, config, *drafts)
    return steps


def collect(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: Config,
    *,
    draft: LanguageModel | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
    prompt_text: str | None = None,
    given: Sequence[int] = (),
) -> Trace[Config]:
    """Run `decode` to its end and return everything it recorded.

    Args:
        model: of `load_model` or `from_transformers`.
        prompt: text, or token ids (a rendered chat, for example).
        config: the method and its settings: `Greedy()`, `Sampling(seed=7)`, `BeamSearch()`, ...
        on_step: called with each step as soon as it is there.
        should_stop: asked first and after each step; True ends the run with finish reason
            `cancelled`. So does a server that gives no answer any more; a note says why.
        draft: the second model of `Speculative`.
        prompt_text: what the user wrote, where `prompt` is the ids of a rendered chat.
        given: as of `decode`.

    Raises:
        as `decode`.
    """
    require_models(model, draft)
    ids = encode_prompt(model, prompt)
    rendered = prompt if isinstance(prompt, str) else join_prompt(model, ids)
    return record_run(
        model,
        config,
        draft,
        prompt=rendered if prompt_text is None else prompt_text,
        rendered=rendered,
        prompt_ids=tuple(ids),
        steps=steps_of(model, ids, config, draft, given),
        told=doubled_start(model, prompt, ids) if isinstance(prompt, str) else (),
        on_step=on_step,
        should_stop=should_stop,
    )


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
    told: Sequence[str] = (),
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
    cancelled, lost = should_stop is not None and should_stop(), list[str]()
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


def _timed(steps: Iterator[Step], lost: list[str]) -> Generator[tuple[Step, float], None, None]:
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
            lost.append(str(error))
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
    told: tuple[str, ...],
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
