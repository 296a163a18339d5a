"""Measurements of speculative decoding against target-only decoding, in turns on the same
machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

import torch

from ....language import Message
from ...autoregressive.engine import continue_from
from ...checks.statistics import homogeneity
from ...decode import collect
from ...errors import ConfigError
from ...loop.text import join_text
from ...protocol import LanguageModel
from ...record.trace import Trace
from ...requirements import encode_prompt
from ...validation import MAX_SEED
from ..config import SWEPT_LENGTHS, Speculative
from ..drafters.start import start_draft
from ..engine import Rounds
from ..method import require_draft
from ..types import DraftRound
from ..vocabularies import require_same_vocabulary
from .baseline import run_alone, target_only
from .metrics import (
    Costs,
    VerifyCost,
    acceptance_interval,
    acceptance_rate,
    alpha,
    expected_speedup,
    tokens_interval,
    tokens_per_round,
)
from .report import (
    Comparison,
    Latency,
    LengthSweep,
    Losslessness,
    SweepPoint,
    TargetRun,
    TextCount,
    speculative_latency,
    speculative_token_seconds,
    stage_shares,
)

OnProgress = Callable[[int, int], object]
"""Called as `on_progress(done, total)` after each run."""
# For both samples together; each then expects 5.
_LEAST_IN_A_BIN = 10


def compare(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: Speculative,
    draft: LanguageModel | None,
    *,
    repeats: int = 5,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = bool,
) -> Comparison | None:
    """Run both methods in turns and compare their times; None if no pair was finished.

    The first pair is a warm-up and isn't timed. The two methods take turns in running first.

    Raises:
        as `decode`.
    """
    ids = encode_prompt(model, prompt)
    pairs: list[tuple[Trace, TargetRun]] = []
    for done in range(repeats + 1):
        pair = _pair(model, ids, config, draft, should_stop, alone_first=done % 2 == 0)
        if pair is None:
            break
        if done == 0:
            continue
        pairs.append(pair)
        if on_progress is not None:
            on_progress(done, repeats)
    if not pairs:
        return None
    ours, alone = [trace for trace, _ in pairs], [run for _, run in pairs]
    seconds = tuple(run.token_seconds for run in alone)
    return Comparison(
        speculative=ours[-1],
        target_only=alone[-1],
        speculative_latency=Latency(tuple(map(speculative_latency, ours))),
        target_latency=Latency(tuple(run.latency for run in alone)),
        speculative_token_seconds=tuple(map(speculative_token_seconds, ours)),
        target_token_seconds=seconds,
        costs=measured_costs([step for trace in ours for step in trace.rounds], median(seconds)),
        stage_shares=tuple(map(stage_shares, ours)),
    )


def _pair(
    model: LanguageModel,
    ids: Sequence[int],
    config: Speculative,
    draft: LanguageModel | None,
    should_stop: Callable[[], bool],
    *,
    alone_first: bool,
) -> tuple[Trace, TargetRun] | None:
    """Run each method once; None if one was stopped."""
    alone = run_alone(model, ids, config, should_stop) if alone_first else None
    trace = collect(model, ids, config, draft=draft, should_stop=should_stop)
    if should_stop():
        return None
    alone = alone or run_alone(model, ids, config, should_stop)
    return None if alone is None else (trace, alone)


def measured_costs(rounds: Iterable[DraftRound], target_seconds: float) -> Costs:
    """Return the median seconds of drafting a position and of verifying a round, by the round's
    length.

    Args:
        target_seconds: seconds of one token of target-only decoding.
    """
    steps = list(rounds)
    drafted = [step.seconds.propose / step.depth for step in steps if step.drafted]
    by_length: dict[int, list[float]] = {}
    for step in steps:
        seconds = step.seconds.score + step.seconds.verify
        by_length.setdefault(step.depth, []).append(seconds)
    verify = tuple(
        VerifyCost(length, median(times), len(times)) for length, times in sorted(by_length.items())
    )
    return Costs(median(drafted) if drafted else 0.0, target_seconds, verify)


def sweep_lengths(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: Speculative,
    draft: LanguageModel | None,
    lengths: Sequence[int] = SWEPT_LENGTHS,
    *,
    repeats: int = 3,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = bool,
) -> LengthSweep | None:
    """Measure every draft length in turns with target-only decoding; None if nothing was finished.

    The prediction uses the costs and the acceptance of all runs together.

    Raises:
        as `decode`.
    """
    ids = encode_prompt(model, prompt)
    traces: dict[int, list[Trace]] = {}
    seconds: list[float] = []
    total = repeats * len(lengths)
    for done in range(total):
        length = lengths[done % len(lengths)]
        if done % len(lengths) == 0:
            alone = run_alone(model, ids, config, should_stop)
            # The time of a stopped run is no measurement.
            if alone is None:
                break
            seconds.append(alone.token_seconds)
        settings = replace(
            config, draft_length=length, adaptive=False, seed=(config.seed + done) % MAX_SEED
        )
        trace = collect(model, ids, settings, draft=draft, should_stop=should_stop)
        if should_stop():
            break
        traces.setdefault(length, []).append(trace)
        if on_progress is not None:
            on_progress(done + 1, total)
    return _sweep(traces, median(seconds), config) if traces else None


def _sweep(
    traces: dict[int, list[Trace]], target_seconds: float, config: Speculative
) -> LengthSweep:
    rounds = {k: [step for t in runs for step in t.rounds] for k, runs in traces.items()}
    everything = [step for steps in rounds.values() for step in steps]
    costs = measured_costs(everything, target_seconds)
    overall = alpha(everything, config.acceptance)
    points = []
    for length in sorted(traces):
        took = [speculative_token_seconds(trace) for trace in traces[length]]
        points.append(
            SweepPoint(
                draft_length=length,
                measured=target_seconds / median(took),
                predicted=expected_speedup(overall or 0.0, rounds[length], costs),
                tokens_per_round=tokens_per_round(rounds[length]) or 0.0,
                acceptance_rate=acceptance_rate(rounds[length]) or 0.0,
                spread=(target_seconds / max(took), target_seconds / min(took)),
                runs=len(took),
                rounds=len(rounds[length]),
                acceptance_interval=acceptance_interval(rounds[length]),
                tokens_interval=tokens_interval(rounds[length]),
            )
        )
    return LengthSweep(tuple(points), overall, costs)


def losslessness(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: Speculative,
    draft: LanguageModel | None,
    *,
    runs: int = 400,
    tokens: int = 2,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = bool,
) -> Losslessness:
    """Count many short runs of both methods, each with its own seed, and test them by Pearson's
    test.

    The prompt is processed once; every run continues a branch of it.

    Args:
        tokens: number of tokens of a run, at least 2: with 1 there is no room to draft, and the
            target would be compared with itself.

    Raises:
        as `decode`; ConfigError where `tokens` is below 2.
    """
    if tokens < 2:
        raise ConfigError(
            Message(
                "A losslessness test needs runs of at least 2 tokens, got {tokens}: with room for "
                "one nothing is drafted.",
                tokens=tokens,
            )
        )
    require_draft(config, draft.model_id if draft else None)
    if draft is not None:
        require_same_vocabulary(model, draft)
    short = replace(
        config,
        max_new_tokens=tokens,
        min_new_tokens=min(config.min_new_tokens, tokens),
        top_candidates=1,
    )
    run_both = _both_shortly(model, encode_prompt(model, prompt), short, draft)
    drafted, alone, done = Counter[tuple[int, ...]](), Counter[tuple[int, ...]](), 0
    for seeds in run_seeds(config.seed, runs):
        if should_stop():
            break
        token_ids, target_ids = run_both(*seeds)
        drafted[token_ids] += 1
        alone[target_ids] += 1
        done += 1
        if on_progress is not None:
            on_progress(done, runs)
    return _losslessness(model, drafted, alone, done, tokens)


def _both_shortly(
    model: LanguageModel, ids: Sequence[int], short: Speculative, draft: LanguageModel | None
) -> Callable[[int, int], tuple[tuple[int, ...], tuple[int, ...]]]:
    """Process the prompt once; return a function that gives both methods' tokens for two seeds."""
    whole = model.start(ids, use_cache=short.use_cache)
    short_of_one = whole.branch([0])
    short_of_one.rollback(1)
    ahead = start_draft(model, draft, ids, short)

    def run_both(seed: int, other_seed: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        settings = replace(short, seed=seed)
        source = ahead.branch(settings)
        rounds = Rounds(model, short_of_one.branch([0]), source, ids, settings)
        target_settings = target_only(replace(short, seed=other_seed))
        steps = continue_from(model, whole.branch([0]), ids, target_settings)
        return tuple(_emitted(rounds)), tuple(step.token_id for step in steps)

    return run_both


def run_seeds(seed: int, runs: int) -> list[tuple[int, int]]:
    """Return a pair of seeds for each run; other seeds give unrelated pairs."""
    drawn = torch.randint(
        MAX_SEED, (runs, 2), generator=torch.Generator().manual_seed(seed)
    ).tolist()
    return [(first, second) for first, second in drawn]


def _emitted(rounds: Rounds) -> Iterator[int]:
    while not rounds.finished:
        with torch.inference_mode():
            step = rounds.round()
        yield from step.token_ids


def _losslessness(
    model: LanguageModel,
    drafted: Counter[tuple[int, ...]],
    alone: Counter[tuple[int, ...]],
    runs: int,
    tokens: int,
) -> Losslessness:
    together = drafted + alone
    order = sorted(together, key=lambda ids: (-together[ids], ids))
    often = [ids for ids in order if together[ids] >= _LEAST_IN_A_BIN]
    rare = sum(together[ids] for ids in order[len(often) :])
    # The pooled bin needs enough counts too: the rarest other bins are added to it.
    while often and 0 < rare < _LEAST_IN_A_BIN:
        rare += together[often.pop()]
    outcomes = [TextCount(ids, join_text(model, ids), drafted[ids], alone[ids]) for ids in often]
    if rare:
        ours = runs - sum(outcome.speculative for outcome in outcomes)
        outcomes.append(TextCount((), "others", ours, rare - ours))
    pairs = [(outcome.speculative, outcome.target_only) for outcome in outcomes]
    square, degrees, p_value = homogeneity(pairs)
    return Losslessness(runs, tokens, tuple(outcomes), square, degrees, p_value)
