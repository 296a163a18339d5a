"""Run a reasoning model on many problems in batches, and record each answer and its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..decoding.protocol import LanguageModel
from ..decoding.reasoning.batch import BatchRun, reason_in_batch
from ..decoding.reasoning.config import Reasoning
from ..decoding.reasoning.transcript import Piece, pieces_of, read_run
from ..decoding.record.steps import FinishReason
from ..decoding.record.trace import Trace
from .runner import require_rows
from .scoring.answers import judge
from .types import Attempt, Problem, Transcript

ROWS = 64


class AttemptTask(NamedTuple):
    """A problem with its prompt and the settings of its reasoning run."""

    problem: Problem
    prompt_ids: Sequence[int]
    config: Reasoning


def attempt_all(
    model: LanguageModel,
    tasks: Sequence[AttemptTask],
    *,
    rows: int = ROWS,
    should_stop: Callable[[], bool] | None = None,
) -> Iterator[tuple[int, Attempt]]:
    """Yield each task's index and attempt when the attempt has ended.

    Args:
        rows: number of concurrent tasks.
        should_stop: called after every forward; unfinished attempts are lost on a stop.

    Raises:
        ConfigError: `rows` is below 1.
        as `reason_in_batch`.
    """
    require_rows(rows)
    for first in range(0, len(tasks), rows):
        batch = tasks[first : first + rows]
        runs = [BatchRun(task.prompt_ids, task.config) for task in batch]
        for ended in reason_in_batch(model, runs):
            for run in ended:
                task, made = batch[run.at], (run.pieces, run.logprobs)
                attempt = _attempt(task.problem, task.config, *made, run.finish_reason, run.seconds)
                yield first + run.at, attempt
            if should_stop is not None and should_stop():
                return


def attempt_of(problem: Problem, trace: Trace) -> Attempt:
    """Return a recorded reasoning run on a problem as an attempt.

    Raises:
        TraceError: the trace is of another method.
    """
    return _attempt(
        problem,
        trace.require(Reasoning).config,
        pieces_of(trace.token_steps),
        [-step.surprisal for step in trace.token_steps],
        trace.finish_reason,
        trace.timings.total,
    )


def transcript_of(problem: Problem, trace: Trace) -> Transcript:
    """Return a recorded reasoning run on a problem as a transcript, without numbers of its steps.

    Raises:
        TraceError: the trace is of another method.
    """
    attempt, config = attempt_of(problem, trace), trace.require(Reasoning).config
    return Transcript(problem, config, pieces_of(trace.token_steps), attempt)


def _attempt(
    problem: Problem,
    config: Reasoning,
    pieces: Sequence[Piece],
    logprobs: Sequence[float],
    finish_reason: FinishReason,
    seconds: float,
) -> Attempt:
    reading = read_run(pieces, config)
    answer, outcome = judge(reading.answer, problem.answer, finish_reason)
    chosen_logprobs = [
        lp for lp, piece in zip(logprobs, pieces, strict=True) if piece.forced_as is None
    ]
    return Attempt(
        problem=problem.key,
        seed=config.seed if config.draws else None,
        thinking=reading.thinking,
        answer_text=reading.answer,
        answer=answer,
        outcome=outcome,
        finish_reason=finish_reason,
        tokens=len(pieces),
        thinking_tokens=reading.thinking_tokens,
        forced_tokens=reading.forced_tokens,
        closed_by_budget=reading.closed_by_budget,
        mean_logprob=sum(chosen_logprobs) / len(chosen_logprobs) if chosen_logprobs else 0.0,
        seconds=seconds,
    )
