"""Parts of a run of any method: its prompt, token limit and notes, and the trace of its steps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter

from torch import Tensor

from ...language import Message
from ..config import MethodConfig
from ..constraints.notes import constraint_notes
from ..errors import LoadingStoppedError, LostModelError, UnknownTokensError
from ..method import Config
from ..methods import method_of
from ..protocol import Context, LanguageModel, OnLogits
from ..record.notes import BROKEN_OFF, DOUBLED_START, RECOMPUTED, Note
from ..record.steps import PromptPosition, PromptStep, Step
from ..record.trace import Timings, Trace
from ..validation import brief
from .recording import read_prompt
from .text import join_text


def process_prompt(
    model: LanguageModel, prompt_ids: Sequence[int], use_cache: bool
) -> tuple[PromptStep, Context]:
    """Run the prompt and record the model's prediction at each position."""
    positions: list[PromptPosition] = []
    reading = 0.0

    def read(first: int, logits: Tensor) -> None:
        nonlocal reading
        started = perf_counter()
        positions.extend(read_prompt(model, prompt_ids, first, logits))
        reading += perf_counter() - started

    started = perf_counter()
    context = model.start(prompt_ids, use_cache=use_cache, on_logits=read)
    seconds = perf_counter() - started - reading
    return PromptStep(positions=tuple(positions), seconds=seconds), context


def read_again(
    model: LanguageModel,
    trace: Trace,
    token_ids: Sequence[int],
    on_logits: OnLogits | None = None,
) -> Context:
    """Run a trace's prompt and some of its tokens without a cache, with the same numbers as in the
    run.

    The prompt and the tokens run separately if position embeddings depend on the length.

    Args:
        on_logits: as in `LanguageModel.start`.
    """
    reader: Callable[..., Context] | None = getattr(model, "read_again", None)
    if reader is None:
        return model.start([*trace.prompt_ids, *token_ids], use_cache=False, on_logits=on_logits)
    use_cache = trace.config.use_cache
    return reader(trace.prompt_ids, token_ids, use_cache=use_cache, on_logits=on_logits)


def token_limit(model: LanguageModel, prompt_ids: Sequence[int], config: MethodConfig) -> int:
    """Return the maximum number of tokens of a run: `max_new_tokens`, or the room in the context
    window after the prompt, or after a longer negative prompt.
    """
    window = model.context_window
    if window is None:
        return config.max_new_tokens
    held, negative = len(prompt_ids), config.shaping.negative_prompt
    if negative and config.shaping.active(("guidance_scale",)):
        held = max(held, len(model.encode(negative)))
    return min(config.max_new_tokens, window - held)


def run_notes(
    model: LanguageModel,
    config: MethodConfig,
    prompt_ids: Sequence[int],
    token_ids: Sequence[int],
    steps: Sequence[object],
) -> tuple[Note, ...]:
    """Return the notes that follow from the settings and the run's length."""
    recomputed_at: Callable[[int, int, bool], int | None] | None = getattr(
        model, "recomputed_at", None
    )
    begun = len(prompt_ids)
    # The model has read all generated tokens except the last one.
    read = begun + max(len(token_ids), len(steps) - 1) - 1
    length = recomputed_at and recomputed_at(begun, read, config.use_cache)
    notes: tuple[Note, ...] = (
        *method_of(config).notes(config),
        *constraint_notes(model, config, prompt_ids, token_ids, steps),
    )
    if not length:
        return notes
    words = Message(
        "The key-value cache was computed anew before token {token}: from "
        "{length} tokens on, this model's position embeddings are others.",
        token=length - begun + 1,
        length=length,
    )
    return (*notes, Note(RECOMPUTED, words))


def doubled_start(model: LanguageModel, prompt: str, ids: Sequence[int]) -> tuple[Note, ...]:
    """Return a note if a text begins with the token that the tokenizer adds before it."""
    if len(ids) > 1 and ids[0] == ids[1]:
        name = model.token_text(ids[0])
        if not model.token_bytes(ids[0]) and prompt.startswith(name):
            words = Message(
                "The model reads {given} twice: its tokenizer puts it before every "
                "text, and the prompt has it too; leave it out of the prompt.",
                given=brief(name),
            )
            return (Note(DOUBLED_START, words),)
    return ()


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
    """Return the trace of copied steps of another run and the new steps after them.

    Args:
        copied: the other run's steps; each keeps its time.
        told: notes that don't follow from settings and length.
        on_step, should_stop: as in `collect`.
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
    """Yield each step with the seconds that it took, without the consumer's own time.

    Args:
        lost: receives the reason if the server is lost after the run has made tokens.
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
    method = method_of(config)
    token_ids, record = method.outcome(steps, config, draft)
    if method.told is not None:
        record = method.told(model)
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
        known=method.known(config, getattr(model, "known", None)),
        method_record=record,
    )


@cache
def _versions() -> dict[str, str]:
    """Return the packages' versions; cached, as reading the metadata takes as long as six
    tokens.
    """
    found = {}
    for package in ("torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
