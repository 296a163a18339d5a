"""Measured sources and shapes of drafts as a table, and which of them pays, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ....decoding.speculative.measurement.report import SourceRow
from ....decoding.speculative.sources import SOURCES
from ....language import tr
from ...base.figure import TableRows, table
from ...base.labels import percentage


@table(
    (
        "source",
        "shape",
        "acceptance",
        "tokens a round",
        "ms a token",
        "speed-up",
        "lowest speed-up",
        "highest speed-up",
    )
)
def spec_sources_data(rows: Sequence[SourceRow]) -> TableRows:
    """Return a row for each source and shape, the fastest first; speed-ups are against the target
    alone.
    """
    for row in sorted(rows, key=lambda row: -row.speedup):
        yield (
            *(tr(SOURCES[row.drafter].label), _shape(row)),
            "-" if row.acceptance is None else percentage(row.acceptance, ".0f"),
            *(row.tokens_per_round, 1000 * row.token_seconds, row.speedup, *row.spread),
        )


def _shape(row: SourceRow) -> str:
    if SOURCES[row.drafter].looks_ahead:
        return tr("tree of n-grams")
    if row.dynamic:
        return tr("dynamic tree, {nodes} nodes", nodes=row.shape)
    return tr("tree {widths}", widths=row.shape) if row.shape else tr("chain")


def sources_words(rows: Sequence[SourceRow]) -> str:
    """Return which source was fastest, and which emitted the most tokens a round; plain text."""
    fastest = max(rows, key=lambda row: row.speedup)
    fewest = max(rows, key=lambda row: row.tokens_per_round)
    values = {
        "source": tr(SOURCES[fastest.drafter].label),
        "shape": _shape(fastest),
        "speedup": f"{fastest.speedup:.2f}",
        "other": tr(SOURCES[fewest.drafter].label),
        "other_shape": _shape(fewest),
        "tokens": f"{fewest.tokens_per_round:.2f}",
    }
    if fastest.speedup > 1 >= fastest.spread[0]:
        return tr(
            "Too close to say which source pays here: the fastest is {source} ({shape}), {speedup} "
            "times as fast as the target alone, and its runs lie between {lowest} and {highest}. "
            "The most tokens a target forward: {other} ({other_shape}), {tokens}.",
            **values,
            lowest=f"{fastest.spread[0]:.2f}",
            highest=f"{fastest.spread[1]:.2f}",
        )
    if fastest.speedup > 1:
        return tr(
            "Fastest here: {source} ({shape}), {speedup} times as fast as the target alone. The "
            "most tokens a target forward: {other} ({other_shape}), {tokens}.",
            **values,
        )
    return tr(
        "No source pays here: the fastest is {source} ({shape}), {speedup} times as fast as the "
        "target alone. The most tokens a target forward: {other} ({other_shape}), {tokens}.",
        **values,
    )
