"""The figures that a run is judged by, each with its definition and source, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import pandas as pd

from core.decoding.configs import Speculative
from core.decoding.speculative_metrics import (
    acceptance_rate,
    alpha,
    best_length,
    break_even_length,
    counts,
    expected_speedup,
    expected_tokens,
    system_efficiency,
    tokens_per_forward,
    vllm_acceptance_rate,
)
from core.decoding.speculative_report import Comparison
from core.decoding.types import Trace
from core.figures.labels import milliseconds
from core.figures.spec.words import rule_of

_COLUMNS = ["metric", "value", "definition", "source"]
_LEVIATHAN = "Leviathan et al. 2023"
Row = tuple[str, str, str, str]


def _rate(value: float | None) -> str:
    return "none drafted" if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "none drafted" if value is None else f"{value:.2f}"


def spec_metrics_data(trace: Trace, comparison: Comparison | None = None) -> pd.DataFrame:
    """A row for each metric; what needs measured costs only with a comparison."""
    rows = [*_counted(trace), *_rates(trace)]
    if comparison is not None:
        rows += _measured(trace, comparison)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _counted(trace: Trace) -> list[Row]:
    found = counts(trace.rounds)
    here = "this trace"
    return [
        ("drafted", str(found.drafted), "tokens that the draft proposed", here),
        ("accepted", str(found.accepted), "drafted tokens that were emitted", here),
        ("recovered", str(found.recovered), "drawn by the target after a rejection", here),
        ("bonus", str(found.bonus), "drawn by the target after the last accepted token", here),
        ("emitted", str(found.emitted), "tokens of the text: accepted, recovered, bonus", here),
        ("target forwards", str(found.rounds), "rounds, each one forward of the target", here),
    ]


def _rates(trace: Trace) -> list[Row]:
    rounds, rule = trace.rounds, rule_of(trace)
    mean = alpha(rounds, rule)  # type: ignore[arg-type]
    length = trace.config.draft_length if isinstance(trace.config, Speculative) else 0
    what = (
        "mean over the tried positions of sum(min(target, draft))"
        if rule == "speculative"
        else "mean accept_prob over the tried positions"
    )
    rows = [
        (
            "acceptance rate",
            _rate(acceptance_rate(rounds)),
            "accepted / drafted; nothing counts behind the first rejection",
            "vLLM v1, transformers",
        ),
        (
            "acceptance rate, all trials",
            _rate(vllm_acceptance_rate(rounds)),
            "tokens whose own trial holds / drafted, behind a rejection too",
            "vLLM v0",
        ),
        (
            "system efficiency",
            _rate(system_efficiency(rounds)),
            "emitted / what rounds without any rejection would have emitted",
            "vLLM v0",
        ),
        (
            "tokens a target forward",
            _number(tokens_per_forward(rounds)),
            "emitted / rounds; target-only decoding has 1",
            "block efficiency, tau",
        ),
        ("alpha", _number(mean), what, f"{_LEVIATHAN}, corollary 3.6"),
    ]
    if mean is not None:
        rows.append(
            (
                "expected tokens a round",
                _number(expected_tokens(mean, length)),
                f"(1 − alpha^(k+1)) / (1 − alpha) with k = {length}",
                f"{_LEVIATHAN}, equation 1",
            )
        )
    return rows


def _measured(trace: Trace, found: Comparison) -> list[Row]:
    costs, rule = found.costs, rule_of(trace)
    length = trace.config.draft_length if isinstance(trace.config, Speculative) else 0
    alone, verify = milliseconds(costs.target), costs.verify_seconds(length)
    rows = [
        (
            "draft cost c",
            f"{costs.draft / costs.target:.2f}",
            f"{milliseconds(costs.draft)} to draft a token, over {alone} of a target-only token",
            "medians, measured here",
        ),
        (
            "verification cost v",
            f"{verify / costs.target:.2f}",
            f"{milliseconds(verify)} to score and verify {length} tokens, over {alone}",
            "medians, measured here",
        ),
        (
            "speed-up",
            f"{found.speedup:.2f}",
            "seconds a token, target-only / speculative",
            "medians, measured here",
        ),
    ]
    mean = alpha(trace.rounds, rule)  # type: ignore[arg-type]
    if mean is None:
        return rows
    even = break_even_length(mean, costs)
    return [
        *rows,
        (
            "expected speed-up",
            f"{expected_speedup(mean, length, costs):.2f}",
            "expected tokens a round / (k c + v), with v measured",
            f"{_LEVIATHAN}, theorem 3.8",
        ),
        (
            "best draft length",
            str(best_length(mean, costs)),
            "the k with the highest expected speed-up",
            "the same formula",
        ),
        (
            "break-even draft length",
            "none" if even is None else str(even),
            "the longest draft that is expected to be no slower than the target alone",
            "the same formula",
        ),
    ]


def spec_latency_data(comparison: Comparison) -> pd.DataFrame:
    """Milliseconds from the prompt to the last token, by percentile over the repeated runs."""
    ours = comparison.speculative_latency.percentiles
    alone = dict(comparison.target_latency.percentiles)
    return pd.DataFrame(
        {
            "percentile": [percent for percent, _ in ours],
            "speculative, ms": [1000 * seconds for _, seconds in ours],
            "target only, ms": [1000 * alone[percent] for percent, _ in ours],
        }
    )


def spec_scoring_data(found: Mapping[str, Sequence[Trace]]) -> pd.DataFrame:
    """Both ways of scoring: the median seconds of the target's forward over all rounds, in ms."""
    names = {"multi_query": "Multi-query", "batch_expansion": "Batch expansion"}
    records = []
    for scoring, traces in found.items():
        rounds = [step for trace in traces for step in trace.rounds]
        seconds = [step.seconds.score for step in rounds]
        records.append((names[scoring], len(rounds), 1000 * median(seconds) if seconds else None))
    return pd.DataFrame(records, columns=["way", "rounds", "score, ms a round"])


def scoring_words(found: Mapping[str, Sequence[Trace]]) -> str:
    """Which way was faster, and whether both emitted the same; plain text."""
    frame = spec_scoring_data(found)
    times = dict(zip(frame["way"], frame["score, ms a round"], strict=True))
    if not all(value and value > 0 for value in times.values()):
        return "Nothing was scored."
    slow, quick = sorted(times, key=lambda way: -times[way])
    texts = {trace.token_ids for traces in found.values() for trace in traces}
    same = (
        "Both emitted the same tokens."
        if len(texts) == 1
        else "They emitted different tokens: two forwards of different shape differ by rounding."
    )
    ratio = f"{times[slow] / times[quick]:.1f} times as long"
    return (
        f"{quick} took {milliseconds(times[quick] / 1000)} a round, {slow.lower()} "
        f"{milliseconds(times[slow] / 1000)}, {ratio}. {same}"
    )
