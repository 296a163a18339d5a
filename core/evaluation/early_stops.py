"""Answers to a thinking that is stopped after each of its steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from core.decoding.errors import TraceError
from core.decoding.loop.text import encode_continuation
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import mark_sizes, pieces_of, read_run
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.evaluation.attempts import ROWS, AttemptTask, attempt_all, attempt_of
from core.evaluation.types import Attempt, Problem, StopPoint, StopStrip

MAX_POINTS = 200
# A sentence that a space must follow ("3.5" goes on), or one that needs none, or a line.
_SENTENCE = re.compile(r"[.!?][\"')]*$")
_LINE = re.compile(r"[。！？]$|[^\s.!?。！？]\n+$")
_TAIL = 4  # so many tokens show whether one has


def stop_strip(
    model: LanguageModel,
    problem: Problem,
    trace: Trace,
    *,
    should_stop: Callable[[], bool] | None = None,
) -> StopStrip:
    """Close a recorded thinking before its first step and after each, and let the model answer.

    The answers are greedy: one prefill of what they share, one row for each point. Behind the whole
    thinking it is the run's own answer, where it gave one.

    Args:
        should_stop: asked after every forward; the points that have their answer then are kept.

    Raises:
        TraceError: the trace is of another method, or has no closing mark to force.
        as `reason_in_batch`.
    """
    config = trace.require(Reasoning).config
    if not config.think_end:
        raise TraceError("Only the trace of a run that thinks between marks can be stopped early.")
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
    """Return the place where the thinking begins, and the run's tokens before each stop.

    The first stop is before the first thinking token, the last one after the last; of a closing
    mark that the model wrote itself, no token counts.
    """
    pieces = pieces_of(steps)
    opened, mark = mark_sizes(pieces, config)
    read = read_run(pieces, config)
    # All but the last token of the model's own mark were counted as thinking.
    written = mark - 1 if read.closed and not read.closed_by_budget else 0
    closing = opened + read.thinking_tokens - written
    ends = [at for at in range(opened + 1, closing) if _step_ends(steps, at)]
    return opened, [opened, *ends[: MAX_POINTS - 2], *([closing] if closing > opened else [])]


def _step_ends(steps: Sequence[TokenStep], at: int) -> bool:
    """Return whether a thinking step ends before token `at`."""
    before = _text(steps[max(0, at - _TAIL) : at])
    spaced = steps[at].text[:1].isspace()
    return bool((_SENTENCE.search(before) and spaced) or _LINE.search(before))


def _text(steps: Sequence[TokenStep]) -> str:
    return "".join(step.text for step in steps)
