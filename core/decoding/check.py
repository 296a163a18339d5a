"""Checks of a trace: against itself and, if the model is given, against the model.

A check reports its largest measured deviation and the tolerance. No check raises, whatever an
untrusted trace holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..language import N_, Message
from .config import MethodConfig
from .errors import TraceError
from .methods import method_of
from .record.steps import Step
from .record.trace import Check, Trace
from .validation import brief

if TYPE_CHECKING:  # Without torch: a page's badge needs the verdict before torch is loaded.
    from .autoregressive.forks import Grown
    from .protocol import LanguageModel
    from .record.forks import ForkPoint

Verdict: TypeAlias = Literal["consistent", "proved", "failed"]


def check(
    trace: Trace, model: LanguageModel | None = None, draft: LanguageModel | None = None
) -> list[Check]:
    """Return the checks of a trace; with the model, also an independent rescoring and a reference
    run.

    Args:
        trace: a trace from `collect` or `read_trace`.
        model: the model that made the trace.
        draft: the draft model of a speculative run; if given, its numbers are rescored too.

    Raises:
        TraceError, ModelError: an argument is no trace, or no loaded model.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> all(outcome.passed for outcome in check(trace, model))
        True
    """
    from .requirements import require_models

    if not isinstance(trace, Trace):
        raise TraceError(
            Message(
                "check takes a trace of collect or read_trace, got {given}; Trace.load "
                "reads a file.",
                given=brief(trace),
            )
        )
    if model is not None:
        require_models(model, draft)
    method = method_of(trace.config)
    checks: list[Check] = resolve_name(method.self_checks)(trace)
    if model is None or not checks[0].passed:
        return checks
    second = (draft,) if method.require_draft else ()
    by_model: list[Check] = resolve_name(method.model_checks)(trace, model, *second)
    return checks + [check._replace(by_model=True) for check in by_model]


def collect_checked(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: MethodConfig,
    *,
    draft: LanguageModel | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
    prompt_text: str | None = None,
    given: Sequence[int] = (),
    dtype: str = "",
) -> Trace:
    """Run `collect`, and attach the checks of the trace against itself.

    Args:
        dtype: number type of the weights; by default the loaded model's.
    """
    from .decode import collect

    if dtype:
        from .requirements import in_dtype

        model = in_dtype(model, dtype)
    trace = collect(
        model,
        prompt,
        config,
        draft=draft,
        on_step=on_step,
        should_stop=should_stop,
        prompt_text=prompt_text,
        given=given,
    )
    return trace.with_checks(tuple(check(trace)))


def read_checked(
    model: LanguageModel,
    text: str | Sequence[int],
    *,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Trace:
    """Read a text as `read_text` does, and attach the checks of the trace against itself."""
    from .reading.read import read_text

    trace = read_text(model, text, on_step=on_step, should_stop=should_stop)
    return trace.with_checks(tuple(check(trace)))


def branch_checked(
    model: LanguageModel,
    trace: Trace,
    at_step: int,
    token_ids: Sequence[int],
    *,
    config: MethodConfig | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Trace:
    """Run `branch`, and attach the checks of the new trace against itself."""
    from .autoregressive.branches import branch

    made = branch(
        model, trace, at_step, token_ids, config=config, on_step=on_step, should_stop=should_stop
    )
    return made.with_checks(tuple(check(made)))


def branch_each_checked(
    model: LanguageModel,
    trace: Trace,
    at_step: int,
    choices: Sequence[Sequence[int]],
    *,
    on_tokens: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Trace, ...]:
    """Run `branch_each`, and attach each trace's checks against itself."""
    from .autoregressive.branches import branch_each

    traces = branch_each(
        model, trace, at_step, choices, on_tokens=on_tokens, should_stop=should_stop
    )
    return tuple(made.with_checks(tuple(check(made))) for made in traces)


def grow_above_checked(
    model: LanguageModel,
    trace: Trace,
    at_step: int,
    least: float,
    *,
    depth: int = 1,
    most: int,
    known: Sequence[Sequence[int]] = (),
    on_runs: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Grown, ...]:
    """Grow as `grow_above` does, and attach each trace's checks against itself."""
    from .autoregressive.forks import grow_above

    runs = grow_above(
        model,
        trace,
        at_step,
        least,
        depth=depth,
        most=most,
        known=known,
        on_runs=on_runs,
        should_stop=should_stop,
    )
    return tuple(run._replace(trace=run.trace.with_checks(tuple(check(run.trace)))) for run in runs)


def fork_points_checked(
    model: LanguageModel,
    trace: Trace,
    steps: Sequence[int],
    *,
    on_fork: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[ForkPoint, ...]:
    """Return `fork_points`, with each trace's checks against itself attached."""
    from .autoregressive.forks import fork_points

    points = fork_points(model, trace, steps, on_fork=on_fork, should_stop=should_stop)
    return tuple(
        replace(point, trace=point.trace.with_checks(tuple(check(point.trace)))) for point in points
    )


VERDICT_WORDS: dict[Verdict, str] = {
    "consistent": N_("Consistent"),
    "proved": N_("Proved by the model"),
    "failed": N_("Not proved"),
}


def verdict(checks: Sequence[Check]) -> Verdict:
    """Return the verdict of the checks; without the model a trace is at most consistent with
    itself.
    """
    if not all(check.passed for check in checks):
        return "failed"
    return "proved" if any(check.by_model for check in checks) else "consistent"
