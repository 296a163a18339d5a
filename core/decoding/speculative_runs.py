"""Speculative decoding measured against target-only decoding, in turns on the same machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from statistics import median

import torch

from core.decoding.autoregressive import continue_from
from core.decoding.chi_square import homogeneity
from core.decoding.configs import MAX_SEED, Greedy, MethodConfig, Sampling, Speculative
from core.decoding.drafts import ModelDraft, PromptLookup
from core.decoding.protocol import LanguageModel
from core.decoding.run import collect, encode_prompt
from core.decoding.speculative import Rounds, require_draft
from core.decoding.speculative_metrics import (
    Costs,
    acceptance_rate,
    alpha,
    best_length,
    break_even_length,
    expected_speedup,
    tokens_per_forward,
)
from core.decoding.speculative_report import (
    Comparison,
    Latency,
    LengthSweep,
    Losslessness,
    Outcome,
    SweepPoint,
    speculative_latency,
    speculative_token_seconds,
    target_latency,
    target_token_seconds,
)
from core.decoding.speculative_types import DraftRound
from core.decoding.text import join_text
from core.decoding.types import Trace
from core.decoding.vocabularies import require_same_vocabulary

OnProgress = Callable[[int, int], object]
"""Called as `on_progress(done, total)` after each run."""
# Both samples together; each then expects 5.
_LEAST_IN_A_BIN = 10


def target_only(config: Speculative) -> Greedy | Sampling:
    """What the target does alone under the same settings."""
    shared = {field.name: getattr(config, field.name) for field in fields(MethodConfig)}
    if config.shaping.temperature == 0:
        return Greedy(**shared)
    return Sampling(seed=config.seed, **shared)


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
    """Run both in turns and compare their times; None where not even one pair was finished.

    Raises:
        as `decode`.
    """
    pairs: list[tuple[Trace, Trace]] = []
    for done in range(repeats):
        own = collect(model, prompt, config, draft=draft, should_stop=should_stop)
        other = collect(model, prompt, target_only(config), should_stop=should_stop)
        if should_stop():
            break
        pairs.append((own, other))
        if on_progress is not None:
            on_progress(done + 1, repeats)
    if not pairs:
        return None
    ours, alone = [own for own, _ in pairs], [other for _, other in pairs]
    seconds = tuple(map(target_token_seconds, alone))
    return Comparison(
        speculative=ours[-1],
        target_only=alone[-1],
        speculative_latency=Latency(tuple(map(speculative_latency, ours))),
        target_latency=Latency(tuple(map(target_latency, alone))),
        speculative_token_seconds=tuple(map(speculative_token_seconds, ours)),
        target_token_seconds=seconds,
        costs=measured_costs([step for trace in ours for step in trace.rounds], median(seconds)),
    )


def measured_costs(rounds: Iterable[DraftRound], target_seconds: float) -> Costs:
    """The medians of what drafting a token and verifying a round took, by the round's length.

    Args:
        target_seconds: of one token of target-only decoding.
    """
    steps = list(rounds)
    drafted = [step.seconds.propose / len(step.drafted) for step in steps if step.drafted]
    by_length: dict[int, list[float]] = {}
    for step in steps:
        seconds = step.seconds.score + step.seconds.verify
        by_length.setdefault(len(step.drafted), []).append(seconds)
    verify = tuple((length, median(by_length[length])) for length in sorted(by_length))
    return Costs(median(drafted) if drafted else 0.0, target_seconds, verify or ((0, 0.0),))


def sweep_lengths(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: Speculative,
    draft: LanguageModel | None,
    lengths: Sequence[int] = (1, 2, 3, 4, 5, 6, 8, 10),
    *,
    repeats: int = 3,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = bool,
) -> LengthSweep | None:
    """Measure every draft length, in turns with target-only decoding; None where nothing finished.

    The prediction takes each length's own measured costs and the acceptance of all runs together.

    Raises:
        as `decode`.
    """
    traces: dict[int, list[Trace]] = {}
    seconds: list[float] = []
    total = repeats * len(lengths)
    for done in range(total):
        length = lengths[done % len(lengths)]
        if done % len(lengths) == 0:
            alone = collect(model, prompt, target_only(config), should_stop=should_stop)
            seconds.append(target_token_seconds(alone))
        own = replace(config, draft_length=length, adaptive=False, seed=_seed(config, done))
        trace = collect(model, prompt, own, draft=draft, should_stop=should_stop)
        if should_stop():
            break
        traces.setdefault(length, []).append(trace)
        if on_progress is not None:
            on_progress(done + 1, total)
    return _sweep(traces, median(seconds), config) if traces else None


def _sweep(
    traces: dict[int, list[Trace]], target_seconds: float, config: Speculative
) -> LengthSweep:
    rounds = {k: [step for t in found for step in t.rounds] for k, found in traces.items()}
    everything = [step for steps in rounds.values() for step in steps]
    costs = measured_costs(everything, target_seconds)
    overall = alpha(everything, config.acceptance)
    points = []
    for length in sorted(traces):
        own = measured_costs(
            (step for step in rounds[length] if len(step.drafted) == length), target_seconds
        )
        took = median(speculative_token_seconds(trace) for trace in traces[length])
        points.append(
            SweepPoint(
                draft_length=length,
                measured=target_seconds / took,
                predicted=expected_speedup(overall or 0.0, length, own if own.draft else costs),
                tokens_per_round=tokens_per_forward(rounds[length]) or 0.0,
                acceptance_rate=acceptance_rate(rounds[length]) or 0.0,
            )
        )
    best = None if overall is None else best_length(overall, costs)
    even = None if overall is None else break_even_length(overall, costs)
    return LengthSweep(tuple(points), overall, costs, best, even)


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
    """Many short runs of both methods, each with a seed of its own, and Pearson's test of them.

    The prompt is processed once; every run continues a branch of it.

    Raises:
        as `decode`.
    """
    require_draft(config, draft)
    if draft is not None:
        require_same_vocabulary(model, draft)
    ids = encode_prompt(model, prompt)
    short = replace(
        config,
        max_new_tokens=tokens,
        min_new_tokens=min(config.min_new_tokens, tokens),
        top_candidates=1,
    )
    whole = model.start(ids, use_cache=config.use_cache)
    short_of_one = whole.branch([0])
    short_of_one.rollback(1)
    ahead = None if draft is None else ModelDraft.start(draft, model, ids, short)
    drafted, alone, done = Counter[tuple[int, ...]](), Counter[tuple[int, ...]](), 0
    while done < runs and not should_stop():
        own = replace(short, seed=_seed(config, 2 * done))
        other = target_only(replace(short, seed=_seed(config, 2 * done + 1)))
        source = ahead.branch(own) if ahead else PromptLookup(model, own)
        rounds = Rounds(model, short_of_one.branch([0]), source, ids, own)
        drafted[tuple(_emitted(rounds))] += 1
        steps = continue_from(model, whole.branch([0]), ids, other)
        alone[tuple(step.token_id for step in steps)] += 1
        done += 1
        if on_progress is not None:
            on_progress(done, runs)
    return _losslessness(model, drafted, alone, done, tokens)


def _emitted(rounds: Rounds) -> Iterator[int]:
    while not rounds.finished:
        with torch.inference_mode():
            step = rounds.round()
        yield from step.token_ids


def _seed(config: Speculative, offset: int) -> int:
    return (config.seed + offset) % MAX_SEED


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
    # The pooled bin too must hold enough: what it lacks comes from the rarest of the others.
    while often and 0 < rare < _LEAST_IN_A_BIN:
        rare += together[often.pop()]
    outcomes = [Outcome(ids, join_text(model, ids), drafted[ids], alone[ids]) for ids in often]
    if rare:
        ours = runs - sum(found.speculative for found in outcomes)
        outcomes.append(Outcome((), "others", ours, rare - ours))
    pairs = [(found.speculative, found.target_only) for found in outcomes]
    square, degrees, p_value = homogeneity(pairs)
    return Losslessness(runs, tokens, tuple(outcomes), square, degrees, p_value)
