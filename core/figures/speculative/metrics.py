"""Metrics of a run with definitions and sources, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

import pandas as pd

from ...decoding.counting import counted
from ...decoding.record.trace import Trace
from ...decoding.speculative.config import Speculative
from ...decoding.speculative.measurement.metrics import (
    acceptance_rate,
    alpha,
    counts,
    expected_speedup,
    expected_tokens_per_round,
    system_efficiency,
    tokens_per_round,
    vllm_acceptance_rate,
    vllm_stage_times,
    vllm_system_efficiency,
)
from ...decoding.speculative.measurement.report import Comparison, LengthSweep
from ...language import N_, tr
from ..base.figure import TableRows, table
from ..base.labels import milliseconds, percentage
from .feed import NAMES
from .same import same_rounds_words
from .words import rule_of

_HERE, _THIS = N_("medians, measured here"), N_("this trace")
MetricRow = tuple[str, str, str, str]
# Rate in the paper's formulas: name, definition and source. Other rules have another rate, about
# which the paper makes no claim.
_RATE_OF: dict[str, tuple[str, str, str]] = {
    "speculative": (
        "alpha",
        N_("mean over the tried positions of sum(min(target, draft))"),
        "Leviathan et al. 2023, {place}",
    )
}
_TREE_RATE = N_("mean probability, by tried position, that a candidate is accepted")
_OTHER_RATE = (
    N_("mean accept_prob"),
    N_("over the tried positions, by this run's rule"),
    N_("as Leviathan et al. 2023, {place}, which is about another rule"),
)
_COROLLARY, _EQUATION, _THEOREM = N_("corollary 3.6"), N_("equation 1"), N_("theorem 3.8")


def _paper(source: str, place: str) -> str:
    return tr(source, place=tr(place))


def _rate(value: float | None) -> str:
    return tr("none drafted") if value is None else percentage(value, ".1f")


def _number(value: float | None) -> str:
    return tr("none drafted") if value is None else f"{value:.2f}"


@table("metric value definition source")
def spec_metrics_data(
    trace: Trace, comparison: Comparison | None = None, sweep: LengthSweep | None = None
) -> TableRows:
    """Return a row for each metric; costs need a comparison, best lengths need a sweep."""
    tally = counts(trace.rounds)
    here = tr(_THIS)
    times = vllm_stage_times(trace.rounds)
    rows = [
        *[
            (tr("drafted"), str(tally.drafted), tr("tokens that the draft proposed"), here),
            (tr("accepted"), str(tally.accepted), tr("drafted tokens that were emitted"), here),
            (
                tr("recovered"),
                str(tally.recovered),
                tr("drawn by the target after a rejection"),
                here,
            ),
            (
                tr("bonus"),
                str(tally.bonus),
                tr("drawn by the target after the last accepted token"),
                here,
            ),
            (
                tr("emitted"),
                str(tally.emitted),
                tr("tokens of the text: accepted, recovered, bonus"),
                here,
            ),
            (
                tr("target forwards"),
                str(len(trace.rounds) + (trace.prompt_step is not None)),
                tr("the prompt's, then one in each round"),
                here,
            ),
        ],
        *_rates(trace),
        *_expected(trace),
        *[
            (name, f"{value:.2f}", tr(what), tr("vLLM v0, stage times"))
            for (name, value), what in zip(
                times._asdict().items() if times else (), _STAGES, strict=False
            )
        ],
    ]
    if comparison is not None:
        rows += _measured(trace, comparison)
    if sweep is not None:
        rows += _swept(sweep)
    return rows


def _rates(trace: Trace) -> list[MetricRow]:
    # vLLM's k is the number of positions, which the widths of a static tree set.
    rounds, length = trace.rounds, trace.require(Speculative).config.depth
    return [
        (
            tr("acceptance rate"),
            _rate(acceptance_rate(rounds)),
            tr("accepted / drafted; nothing counts behind the first rejection"),
            "vLLM v1, transformers",
        ),
        (
            tr("acceptance rate, all verifications"),
            _rate(vllm_acceptance_rate(rounds)),
            tr("verifications that hold / drafted, behind a rejection too"),
            "vLLM v0",
        ),
        (
            tr("system efficiency"),
            _rate(system_efficiency(rounds)),
            tr("emitted / the sum of (levels + 1) over the rounds")
            if _drafts_tree(trace)
            else tr("emitted / the sum of (drafted + 1) over the rounds"),
            tr(_THIS),
        ),
        (
            tr("system efficiency, vLLM’s"),
            _rate(vllm_system_efficiency(rounds, length)),
            _vllm_efficiency_words(trace, length),
            "vLLM v0",
        ),
        (
            tr("tokens a round"),
            _number(tokens_per_round(rounds)),
            tr("emitted / rounds, a forward each; the target alone has 1"),
            tr("block efficiency, tau"),
        ),
    ]


def _drafts_tree(trace: Trace) -> bool:
    """Return whether several candidates may stand for one position: "k" counts levels then."""
    return trace.require(Speculative).config.drafts_tree


def _vllm_efficiency_words(trace: Trace, length: int) -> str:
    words = N_("emitted in rounds that drafted / ((drafted / k) (k + 1)), k = {length} as set")
    if _drafts_tree(trace):
        words = N_("emitted in rounds that drafted / ((levels / k) (k + 1)), k = {length} as set")
    elif all(step.drafted for step in trace.rounds):
        words = N_("emitted / ((drafted / k) (k + 1)), k = {length} as set")
    return tr(words, length=length)


def _expected(trace: Trace) -> list[MetricRow]:
    """Return the rows of the paper's formula at this rule's acceptance rate."""
    rounds, rate = trace.rounds, alpha(trace.rounds, rule_of(trace))
    name, what, source = _RATE_OF.get(rule_of(trace), _OTHER_RATE)
    tree = _drafts_tree(trace)
    rows = [
        (
            tr(name),
            _number(rate),
            tr(_TREE_RATE if tree else what),
            _paper(source, _COROLLARY) if rule_of(trace) in _RATE_OF else tr(_THIS),
        )
    ]
    if rate is not None:
        rows.append(
            (
                tr("expected tokens a round"),
                _number(expected_tokens_per_round(rate, rounds)),
                tr("mean of (1 − a^(k+1)) / (1 − a); a is {name}, k the levels", name=tr(name))
                if tree
                else tr(
                    "mean of (1 − a^(k+1)) / (1 − a); a is {name}, k as drafted", name=tr(name)
                ),
                _paper(source, _EQUATION),
            )
        )
    return rows


_STAGES = (
    N_("proposing, mean of the drafted tokens"),
    N_("the target’s forward, mean of the rounds that drafted"),
    N_("verification, shaping, rollback; mean of these rounds"),
)


def _measured(trace: Trace, found: Comparison) -> list[MetricRow]:
    costs, tree = found.costs, _drafts_tree(trace)
    # The costs are of a position of a round, however many candidates a tree has for it.
    length = fmean(step.depth for step in trace.rounds) if trace.rounds else 0.0
    alone, verify = milliseconds(costs.target), costs.verify_seconds(length)
    drafting = {"draft": milliseconds(costs.draft), "alone": alone}
    verifying = {"verify": milliseconds(verify), "length": length, "alone": alone}
    rows = [
        (
            tr("draft cost c"),
            f"{costs.draft / costs.target:.2f}",
            tr("{draft} a level in the median round / {alone} a token", **drafting)
            if tree
            else tr("{draft} a drafted token in the median round / {alone} a token", **drafting),
            tr(_HERE),
        ),
        (
            tr("verification cost v"),
            f"{verify / costs.target:.2f}",
            tr("{verify} for a median round of {length:.1f} levels / {alone}", **verifying)
            if tree
            else tr(
                "{verify} for a median round of {length:.1f} drafted tokens / {alone}", **verifying
            ),
            tr(_HERE),
        ),
        (
            tr("speed-up"),
            f"{found.speedup:.2f}",
            tr("seconds a token, target-only / speculative"),
            tr(_HERE),
        ),
    ]
    rate = alpha(trace.rounds, rule_of(trace))
    if rate is None:
        return rows
    return [
        *rows,
        (
            tr("expected speed-up"),
            f"{expected_speedup(rate, trace.rounds, costs):.2f}",
            tr("expected tokens a round / (k c + v), k the levels of each round, v measured")
            if tree
            else tr("expected tokens a round / (k c + v), k as drafted in each round, v measured"),
            _paper(_RATE_OF.get(rule_of(trace), _OTHER_RATE)[2], _THEOREM),
        ),
    ]


def _swept(found: LengthSweep) -> list[MetricRow]:
    """Return the rows on measured lengths; nothing is known beyond them."""
    if found.best is None:
        return []
    longest = found.points[-1].draft_length
    even = tr("none") if found.break_even is None else str(found.break_even)
    return [
        (
            tr("best draft length"),
            str(found.best),
            tr("the measured k with the highest predicted speed-up"),
            tr("draft length sweep"),
        ),
        (
            tr("break-even draft length"),
            tr("{length} or above", length=longest) if found.pays_to_the_end else even,
            tr(
                "the longest of the measured k (up to {length}) that is predicted to be no slower "
                "than the target alone",
                length=longest,
            ),
            tr("draft length sweep"),
        ),
    ]


def spec_latency_data(comparison: Comparison) -> pd.DataFrame:
    """Return milliseconds from the prompt to the last token, for each percentile that the runs
    support.
    """
    ours = comparison.speculative_latency.percentiles
    alone = dict(comparison.target_latency.percentiles)
    return pd.DataFrame(
        {
            "percentile": [percent for percent, _ in ours],
            "speculative, ms": [1000 * seconds for _, seconds in ours],
            "target only, ms": [1000 * alone[percent] for percent, _ in ours],
        }
    )


def latency_words(comparison: Comparison) -> str:
    """Return the definition of the latencies in the table; plain text."""
    runs = len(comparison.speculative_latency.seconds)
    return tr(
        "Latency from the prompt to the last token, {runs} timed runs of each in turns after a "
        "first pair that isn't counted. Forwards, shaping and draws count on both sides, the "
        "running text and the trace on neither. A percentile is told where a run lies beyond it: "
        "the 10th and 90th from 10 runs on, the 99th from 100.",
        runs=runs,
    )


@table(["way", "runs", "rounds", "score, ms a round", "fastest run", "slowest run"])
def spec_scoring_data(found: Mapping[str, Sequence[Trace]]) -> TableRows:
    """Compare both scoring methods by the target's forward in ms per round, the median of each run.

    The columns are median, fastest and slowest over the runs.
    """
    for scoring, traces in found.items():
        runs = [[step.seconds.score for step in trace.rounds] for trace in traces]
        times = [1000 * median(seconds) for seconds in runs if seconds]
        spread = (median(times), min(times), max(times)) if times else (None, None, None)
        yield (tr(NAMES[scoring]), len(traces), sum(map(len, runs)), *spread)


def scoring_words(found: Mapping[str, Sequence[Trace]]) -> str:
    """Compare the scoring methods' times, and say whether both emitted the same; plain text."""
    frame = spec_scoring_data(found)
    times = {row[0]: row[3] for row in frame.itertuples(index=False)}
    if not all(value and value > 0 for value in times.values()):
        return tr("Nothing was scored.")
    slow, quick = sorted(times, key=lambda name: -times[name])
    spread = {
        row[0]: tr("{low} to {high}", low=f"{row[4]:.2f}", high=f"{row[5]:.2f}")
        for row in frame.itertuples(index=False)
    }
    first_runs, second_runs = found.values()
    took = tr(
        "{quick} took {quick_time} a round, {slow} {slow_time}, {ratio:.1f} times as long: medians "
        "of {runs} each, fastest to slowest {quick_spread} and {slow_spread} ms.",
        quick=quick,
        quick_time=milliseconds(times[quick] / 1000),
        slow=slow.lower(),
        slow_time=milliseconds(times[slow] / 1000),
        ratio=times[slow] / times[quick],
        runs=counted(len(first_runs), "run"),
        quick_spread=spread[quick],
        slow_spread=spread[slow],
    )
    return f"{took} {same_rounds_words(first_runs[-1], second_runs[-1])}"
