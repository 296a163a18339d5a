"""Measurement of one run with every source and shape of drafts, in turns with the target alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import NamedTuple

from ...decode import collect
from ...errors import ConfigError, ModelError
from ...protocol import LanguageModel
from ...record.trace import Trace
from ...requirements import encode_prompt
from ..config import Speculative
from ..sources import SOURCES
from .baseline import run_alone
from .metrics import acceptance_rate, tokens_per_round
from .report import SourceRow, speculative_token_seconds

# Shapes beside the chain: a static tree, and the number of nodes of a dynamic one.
_WIDTHS, _NODES = "3,2,1", 8


class _Kind(NamedTuple):
    """A source with a shape, as settings."""

    config: Speculative
    draft: LanguageModel | None
    traces: list[Trace]


def measure_sources(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: Speculative,
    drafts: Mapping[str, LanguageModel],
    *,
    repeats: int = 3,
    on_progress: Callable[[int, int], object] | None = None,
    should_stop: Callable[[], bool] = bool,
) -> tuple[SourceRow, ...]:
    """Run each source as a chain and, where it can, as trees; empty if stopped before all have run.

    Sources that don't suit the target or the settings are left out.

    Args:
        drafts: draft models by the names of the sources that need one.
        on_progress: called as `on_progress(done, total)` after each run.

    Raises:
        as `decode`.
    """
    ids, kinds = encode_prompt(model, prompt), list(_kinds(config, drafts))
    seconds, total = list[float](), repeats * len(kinds)
    for turn in range(repeats):
        alone = run_alone(model, ids, config, should_stop)
        if alone is None:
            return ()
        seconds.append(alone.token_seconds)
        for at, kind in enumerate(list(kinds)):
            try:
                trace = collect(model, ids, kind.config, draft=kind.draft, should_stop=should_stop)
            except (ConfigError, ModelError):
                kinds.remove(kind)
                continue
            if should_stop():
                return ()
            kind.traces.append(trace)
            if on_progress is not None:
                on_progress(min(turn * len(kinds) + at + 1, total), total)
    return tuple(_row(kind, median(seconds)) for kind in kinds)


def _kinds(config: Speculative, drafts: Mapping[str, LanguageModel]) -> Iterator[_Kind]:
    for source in SOURCES.values():
        if source.needs_draft and source.name not in drafts:
            continue
        shapes: list[tuple[str, int]] = [("", 0)]
        shapes += [(_WIDTHS, 0)] if source.draws else []
        shapes += [("", _NODES)] if source.grows_trees else []
        for widths, nodes in shapes:
            try:
                settings = replace(
                    config,
                    drafter=source.name,
                    tree_widths=widths,
                    tree_nodes=nodes,
                    tree_picks="top_k",
                    adaptive=config.adaptive and not (widths or nodes or source.looks_ahead),
                )
            except ConfigError:  # Block verification takes no tree.
                continue
            yield _Kind(settings, drafts.get(source.name) if source.needs_draft else None, [])


def _row(kind: _Kind, alone: float) -> SourceRow:
    rounds = [step for trace in kind.traces for step in trace.rounds]
    times = [speculative_token_seconds(trace) for trace in kind.traces]
    config = kind.config
    return SourceRow(
        drafter=config.drafter,
        shape=config.tree_widths or (str(config.tree_nodes) if config.tree_nodes else ""),
        dynamic=bool(config.tree_nodes),
        acceptance=acceptance_rate(rounds),
        tokens_per_round=tokens_per_round(rounds) or 0.0,
        token_seconds=median(times),
        speedup=alone / median(times),
        spread=(alone / max(times), alone / min(times)),
    )
