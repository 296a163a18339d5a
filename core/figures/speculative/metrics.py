"""Metrics of a run with definitions and sources, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

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
from ..base.figure import TableRows, table
from ..base.labels import milliseconds
from .same import same_rounds_words
from .words import rule_of

_LEVIATHAN, _HERE = "Leviathan et al. 2023", "medians, measured here"
MetricRow = tuple[str, str, str, str]
# Rate in the paper's formulas: name, definition and source. Other rules have another rate, about
# which the paper makes no claim.
_RATE_OF = {
    "speculative": (
        "alpha",
        "mean over the tried positions of sum(min(target, draft))",
        f"{_LEVIATHAN}, {{}}",
    )
}
_OTHER_RATE = (
    "mean accept_prob",
    "over the tried positions, by this run's rule",
    f"as {_LEVIATHAN}, {{}}, which is about another rule",
)


def _rate(value: float | None) -> str:
    return "none drafted" if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "none drafted" if value is None else f"{value:.2f}"


@table("metric value definition source")
def spec_metrics_data(
    trace: Trace, comparison: Comparison | None = None, sweep: LengthSweep | None = None
) -> TableRows:
    """Return a row for each metric; costs need a comparison, best lengths need a sweep."""
    tally = counts(trace.rounds)
    here = "this trace"
    times = vllm_stage_times(trace.rounds)
    rows = [
        *[
            ("drafted", str(tally.drafted), "tokens that the draft proposed", here),
            ("accepted", str(tally.accepted), "drafted tokens that were emitted", here),
            ("recovered", str(tally.recovered), "drawn by the target after a rejection", here),
            (
                "bonus",
                str(tally.bonus),
                "drawn by the target after the last accepted token",
                here,
            ),
            (
                "emitted",
                str(tally.emitted),
                "tokens of the text: accepted, recovered, bonus",
                here,
            ),
            (
                "target forwards",
                str(len(trace.rounds) + (trace.prompt_step is not None)),
                "the prompt's, then one in each round",
                here,
            ),
        ],
        *_rates(trace),
        *_expected(trace),
        *[
            (name, f"{value:.2f}", what, "vLLM v0, stage times")
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
    rounds, length = trace.rounds, trace.require(Speculative).config.draft_length
    drafting = "" if all(step.drafted for step in rounds) else " in rounds that drafted"
    return [
        (
            "acceptance rate",
            _rate(acceptance_rate(rounds)),
            "accepted / drafted; nothing counts behind the first rejection",
            "vLLM v1, transformers",
        ),
        (
            "acceptance rate, all verifications",
            _rate(vllm_acceptance_rate(rounds)),
            "tokens whose own verification holds / drafted, behind a rejection too",
            "vLLM v0",
        ),
        (
            "system efficiency",
            _rate(system_efficiency(rounds)),
            "emitted / the sum of (drafted + 1) over the rounds",
            "this trace",
        ),
        (
            "system efficiency, vLLM’s",
            _rate(vllm_system_efficiency(rounds, length)),
            f"emitted{drafting} / ((drafted / k) (k + 1)), k = {length} as it was set",
            "vLLM v0",
        ),
        (
            "tokens a round",
            _number(tokens_per_round(rounds)),
            "emitted / rounds, a forward each; the target alone has 1",
            "block efficiency, tau",
        ),
    ]


def _expected(trace: Trace) -> list[MetricRow]:
    """Return the rows of the paper's formula at this rule's acceptance rate."""
    rounds, rate = trace.rounds, alpha(trace.rounds, rule_of(trace))
    name, what, source = _RATE_OF.get(rule_of(trace), _OTHER_RATE)
    rows = [
        (
            name,
            _number(rate),
            what,
            source.format("corollary 3.6") if name == "alpha" else "this trace",
        )
    ]
    if rate is not None:
        rows.append(
            (
                "expected tokens a round",
                _number(expected_tokens_per_round(rate, rounds)),
                f"mean of (1 − a^(k+1)) / (1 − a); a is {name}, k as drafted",
                source.format("equation 1"),
            )
        )
    return rows


_STAGES = (
    "proposing, mean of the drafted tokens",
    "the target’s forward, mean of the rounds that drafted",
    "verification, shaping, rollback; mean of these rounds",
)


def _measured(trace: Trace, found: Comparison) -> list[MetricRow]:
    costs, tally = found.costs, counts(trace.rounds)
    length = tally.drafted / tally.rounds if tally.rounds else 0.0
    alone, verify = milliseconds(costs.target), costs.verify_seconds(length)
    rows = [
        (
            "draft cost c",
            f"{costs.draft / costs.target:.2f}",
            f"{milliseconds(costs.draft)} a drafted token in the median round / {alone} a token",
            _HERE,
        ),
        (
            "verification cost v",
            f"{verify / costs.target:.2f}",
            f"{milliseconds(verify)} for a median round of {length:.1f} drafted tokens / {alone}",
            _HERE,
        ),
        ("speed-up", f"{found.speedup:.2f}", "seconds a token, target-only / speculative", _HERE),
    ]
    rate = alpha(trace.rounds, rule_of(trace))
    if rate is None:
        return rows
    return [
        *rows,
        (
            "expected speed-up",
            f"{expected_speedup(rate, trace.rounds, costs):.2f}",
            "expected tokens a round / (k c + v), k as drafted in each round, v measured",
            _RATE_OF.get(rule_of(trace), _OTHER_RATE)[2].format("theorem 3.8"),
        ),
    ]


def _swept(found: LengthSweep) -> list[MetricRow]:
    """Return the rows on measured lengths; nothing is known beyond them."""
    if found.best is None:
        return []
    longest = found.points[-1].draft_length
    even = "none" if found.break_even is None else str(found.break_even)
    return [
        (
            "best draft length",
            str(found.best),
            "the measured k with the highest predicted speed-up",
            "draft length sweep",
        ),
        (
            "break-even draft length",
            f"{longest} or above" if found.pays_to_the_end else even,
            f"the longest of the measured k (up to {longest}) that is predicted to be no slower "
            "than the target alone",
            "draft length sweep",
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
    return (
        f"Latency from the prompt to the last token, {runs} timed runs of each in turns after a "
        "first pair that isn't counted. Forwards, shaping and draws count on both sides, the "
        "running text and the trace on neither. A percentile is told where a run lies beyond it: "
        "the 10th and 90th from 10 runs on, the 99th from 100."
    )


@table(["way", "runs", "rounds", "score, ms a round", "fastest run", "slowest run"])
def spec_scoring_data(found: Mapping[str, Sequence[Trace]]) -> TableRows:
    """Compare both scoring methods by the target's forward in ms per round, the median of each run.

    The columns are median, fastest and slowest over the runs.
    """
    names = {"multi_query": "Multi-query", "batch_expansion": "Batch expansion"}
    for scoring, traces in found.items():
        runs = [[step.seconds.score for step in trace.rounds] for trace in traces]
        times = [1000 * median(seconds) for seconds in runs if seconds]
        spread = (median(times), min(times), max(times)) if times else (None, None, None)
        yield (names[scoring], len(traces), sum(map(len, runs)), *spread)


def scoring_words(found: Mapping[str, Sequence[Trace]]) -> str:
    """Compare the scoring methods' times, and say whether both emitted the same; plain text."""
    frame = spec_scoring_data(found)
    times = {row[0]: row[3] for row in frame.itertuples(index=False)}
    if not all(value and value > 0 for value in times.values()):
        return "Nothing was scored."
    slow, quick = sorted(times, key=lambda name: -times[name])
    spread = {row[0]: f"{row[4]:.2f} to {row[5]:.2f}" for row in frame.itertuples(index=False)}
    first_runs, second_runs = found.values()
    runs = counted(len(first_runs), "run")
    ratio = f"{times[slow] / times[quick]:.1f} times as long"
    return (
        f"{quick} took {milliseconds(times[quick] / 1000)} a round, {slow.lower()} "
        f"{milliseconds(times[slow] / 1000)}, {ratio}: medians of {runs} "
        f"each, fastest to slowest {spread[quick]} and {spread[slow]} ms. "
        f"{same_rounds_words(first_runs[-1], second_runs[-1])}"
    )
