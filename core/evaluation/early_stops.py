"""Answers of a model whose thinking is stopped after each of its steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..decoding.errors import TraceError
from ..decoding.loop.text import encode_continuation
from ..decoding.protocol import LanguageModel
from ..decoding.reasoning.config import Reasoning
from ..decoding.reasoning.transcript import mark_sizes, pieces_of, read_run
from ..decoding.record.steps import TokenStep
from ..decoding.record.trace import Trace
from ..language import N_
from .attempts import ROWS, AttemptTask, attempt_all, attempt_of
from .types import Attempt, Problem, StopPoint, StopStrip

MAX_POINTS = 200
# Ends of a sentence that needs a space after it ("3.5" goes on), or that needs none, or of a line.
_SENTENCE = re.compile(r"[.!?][\"')]*$")
_LINE = re.compile(r"[。！？]$|[^\s.!?。！？]\n+$")
_TAIL = 4  # tokens that suffice to recognise an end


def stop_strip(
    model: LanguageModel,
    problem: Problem,
    trace: Trace,
    *,
    should_stop: Callable[[], bool] | None = None,
) -> StopStrip:
    """Close a recorded thinking before its first step and after each, and let the model answer.

    The answers are greedy: one prefill of the shared prefix, one row for each point. After the
    whole thinking, the run's own answer is used if there is one.

    Args:
        should_stop: called after every forward; on a stop, points that have an answer are kept.

    Raises:
        TraceError: the trace is of another method, or has no closing mark to force.
        as `reason_in_batch`.
    """
    config = trace.require(Reasoning).config
    if not config.think_end:
        raise TraceError(
            N_("Only the trace of a run that thinks between marks can be stopped early.")
        )
    opened, places = stopping_places(trace.token_steps, config)
    end_ids = encode_continuation(model, config.think_end)
    greedy = replace(config, do_sample=False, calculator=False)
    tasks = [
        AttemptTask(problem, [*trace.prompt_ids, *trace.token_ids[:place], *end_ids], greedy)
        for place in places
    ]
    attempts = dict(attempt_all(model, tasks, rows=ROWS, should_stop=should_stop))
    final = attempt_of(problem, trace)
    if final.answer is not None:
        attempts[len(places) - 1] = final
    return StopStrip(
        problem,
        tuple(_points(trace.token_steps, opened, places, attempts)),
        own_end=final.answer is not None,
    )


def _points(
    steps: Sequence[TokenStep], opened: int, places: Sequence[int], attempts: dict[int, Attempt]
) -> Iterator[StopPoint]:
    for at, place in enumerate(places):
        if at not in attempts:
            continue
        before = places[at - 1] if at else opened
        yield StopPoint(
            tokens=place - opened,
            thinking=_text(steps[opened:place]),
            piece=_text(steps[before:place]),
            answer_text=attempts[at].answer_text,
            answer=attempts[at].answer,
            outcome=attempts[at].outcome,
        )


def stopping_places(steps: Sequence[TokenStep], config: Reasoning) -> tuple[int, list[int]]:
    """Return the index where the thinking begins, and the index of each stop, in tokens of the run.

    The first stop is before the first thinking token, the last one after the last; tokens of a
    closing mark that the model itself wrote don't count.
    """
    pieces = pieces_of(steps)
    opened, mark = mark_sizes(pieces, config)
    read = read_run(pieces, config)
    # All but the last token of the model's own closing mark count as thinking in the reading.
    written = mark - 1 if read.closed and not read.closed_by_budget else 0
    closing = opened + read.thinking_tokens - written
    ends = [at for at in range(opened + 1, closing) if _step_ends(steps, at)]
    return opened, [opened, *ends[: MAX_POINTS - 2], *([closing] if closing > opened else [])]


def _step_ends(steps: Sequence[TokenStep], at: int) -> bool:
    """Return True if a thinking step ends before token `at`."""
    before = _text(steps[max(0, at - _TAIL) : at])
    spaced = steps[at].text[:1].isspace()
    return bool((_SENTENCE.search(before) and spaced) or _LINE.search(before))


def _text(steps: Sequence[TokenStep]) -> str:
    return "".join(step.text for step in steps)
