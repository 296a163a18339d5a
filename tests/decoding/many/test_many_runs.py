"""Many runs: rows equal runs of their own, shares sum to 1, and margins follow by arithmetic."""

from __future__ import annotations

import gc
import math
import random
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from threading import Barrier, Event

import pytest
import torch

from core import ConfigError, Greedy, PromptStep, Sampling, Shaping, Trace, collect, load_model
from core.decoding.autoregressive.config import drawn_by
from core.decoding.config import MethodConfig
from core.decoding.errors import TraceError
from core.decoding.many.plan import ALL_THREADS, MOST_ROWS, RunBatch, again, grid, values_in
from core.decoding.many.run import run_batches, send_batches, threads_at_start
from core.decoding.many.types import MAX_MANY, ManyRuns
from core.decoding.record.notes import ROWS, THREADS
from core.decoding.record.steps import StepSeconds
from core.decoding.record.trace import Timings
from core.decoding.validation import MAX_SEED
from core.server.queue import FairQueue
from tests.decoding.beam.beams import ARCHITECTURES
from tests.decoding.checks.forging import failed
from tests.decoding.shaping.shapings import random_shaping
from tests.depth import cases, mostly_slow
from tests.models.builders import random_language_model

_model = cache(random_language_model)
PROMPT = [5, 6, 7, 8]


def _timeless(trace: Trace) -> Trace:
    """The trace without what a clock says, and without notes on its batch."""
    steps = [
        replace(step, seconds=0.0 if isinstance(step, PromptStep) else StepSeconds(0.0, 0.0, 0.0))
        for step in trace.steps
    ]
    notes = tuple(note for note in trace.notes if note.key not in (ROWS, THREADS))
    timings = Timings(0.0, 0.0, 0.0)
    return replace(trace, steps=tuple(steps), timings=timings, created="", notes=notes)


def _config(dice: random.Random, case: int) -> MethodConfig:
    shaping = random_shaping(dice)
    if case % 4 == 0:
        return Greedy(max_new_tokens=10, shaping=shaping)
    method = ("inverse_cdf", "gumbel", "multinomial")[case % 4 - 1]
    return Sampling(max_new_tokens=6 + case, seed=case, draw=method, shaping=shaping)


def _tie(trace: Trace, at: int) -> bool:
    """Return whether rounding can decide the step: two tokens, or dice and edge, nearly tie."""
    step = trace.token_steps[at]
    if step.draw.uniform is not None and step.draw.interval is not None:
        return min(abs(step.draw.uniform - edge) for edge in step.draw.interval) < 1e-4
    logits = sorted((c.logit for c in step.candidates), reverse=True)
    return logits[0] - logits[1] < 1e-3


@pytest.mark.parametrize("kind", mostly_slow(ARCHITECTURES, ARCHITECTURES[:1]))
def test_each_row_of_a_batch_emits_the_tokens_of_a_run_of_its_own(kind: str) -> None:
    for case in range(cases(8, 3)):
        dice = random.Random(f"many {kind} {case}")
        configs = tuple(_config(dice, 4 * case + at) for at in range(5))
        prompt = [dice.randrange(1, 300) for _ in range(5)]
        traces = run_batches(_model(kind), prompt, [RunBatch(configs, 5)])
        assert [trace.config for trace in traces] == list(configs)
        for trace in traces:
            alone = collect(_model(kind), prompt, trace.config)
            same = trace.token_ids == alone.token_ids
            shared = zip(trace.token_ids, alone.token_ids, strict=False)
            at = next((i for i, (a, b) in enumerate(shared) if a != b), None)
            assert same or (at is not None and _tie(alone, at)), (kind, case, trace.config)
            assert failed(trace, _model(kind)) <= failed(alone, _model(kind)), (kind, case)


def test_the_same_request_alone_gives_the_same_trace_bit_by_bit() -> None:
    for config in (Greedy(max_new_tokens=9), Sampling(max_new_tokens=9, seed=4)):
        traces = run_batches(_model("llama"), PROMPT, again(config, 6, "nothing"))
        assert len(traces) == 6
        assert all(_timeless(trace) == _timeless(traces[0]) for trace in traces)
        assert _timeless(traces[0]) == _timeless(collect(_model("llama"), PROMPT, config))
        many = ManyRuns(traces)
        assert len(many.texts) == 1 and many.forks == () and many.rounding == 0
        assert many.agreed == 9 and many.settings[0] == {}


def test_runs_alone_hold_the_prompt_s_record_once_and_senders_return_none() -> None:
    batches = again(Greedy(max_new_tokens=3), 4, "nothing")
    traces = run_batches(_model("llama"), PROMPT, batches)
    assert len({id(trace.steps[0].positions) for trace in traces}) == 1
    assert len({id(trace.prompt_ids) for trace in traces}) == 1
    sent = list[Trace]()
    assert send_batches(_model("llama"), PROMPT, batches, on_trace=sent.append) is None
    assert [*map(_timeless, sent)] == [*map(_timeless, traces)]


def test_seeds_are_counted_on_and_each_row_has_its_own() -> None:
    config = Sampling(max_new_tokens=8, seed=MAX_SEED - 2)
    batches = again(config, MOST_ROWS + 3, "seed")
    assert [batch.rows for batch in batches] == [MOST_ROWS, 3]
    seeds = [own.seed for batch in batches for own in batch.configs]
    assert seeds[:4] == [MAX_SEED - 2, MAX_SEED - 1, MAX_SEED, 0]
    traces = run_batches(_model("llama"), PROMPT, batches)
    assert len({trace.token_ids for trace in traces}) > 5
    assert [row["seed"] for row in ManyRuns(traces).settings] == [str(seed) for seed in seeds]


@pytest.mark.parametrize("vary", ["batch", "threads", "dtype", "all"])
@pytest.mark.parametrize("times", [2, 7, 20])
def test_what_varies_gets_equal_shares_of_the_runs(vary: str, times: int) -> None:
    batches = again(Greedy(max_new_tokens=3), times, vary, threads=(1, 2))  # type: ignore[arg-type]
    shares: dict[object, int] = {}
    for batch in batches:
        assert 1 <= len(batch.configs) <= batch.rows
        key = batch.rows, batch.threads, batch.dtype
        shares[key] = shares.get(key, 0) + len(batch.configs)
    assert sum(shares.values()) == times
    assert max(shares.values()) - min(shares.values()) <= 1


def test_runs_say_how_they_were_computed_and_threads_are_set_back() -> None:
    before = torch.get_num_threads()
    batches = [
        RunBatch((Greedy(max_new_tokens=3),), 4),
        RunBatch((Greedy(max_new_tokens=3),), 1, 3),
        RunBatch((Greedy(max_new_tokens=3),), 1, ALL_THREADS),
    ]
    traces = run_batches(_model("llama"), PROMPT, batches)
    assert torch.get_num_threads() == before
    rows = ManyRuns(traces).settings
    assert rows == (
        {ROWS: "in a batch of 4 rows", THREADS: ""},
        {ROWS: "alone", THREADS: "3 threads"},
        {ROWS: "alone", THREADS: f"{max(2, before)} threads"},
    )


def test_another_number_type_is_that_of_a_copy() -> None:
    model = _model("llama")
    traces = run_batches(model, PROMPT, again(Greedy(max_new_tokens=6), 4, "dtype"))
    assert [trace.dtype for trace in traces] == ["float32"] * 2 + ["bfloat16"] * 2
    assert model.dtype == "float32" and _timeless(traces[0]) == _timeless(traces[1])
    assert _timeless(traces[2]) == _timeless(traces[3])
    copy = model.in_dtype("bfloat16")
    weights = zip(model.hf_model.parameters(), copy.hf_model.parameters(), strict=True)
    assert all(torch.equal(own.to(torch.bfloat16), other) for own, other in weights)
    assert ManyRuns(traces).rounding > 0
    # All who ask at the same time share one copy, which goes with the last of them.
    assert model.in_dtype("bfloat16") is copy
    gone = weakref.ref(copy.hf_model)
    del copy, weights
    gc.collect()
    assert gone() is None


def test_the_copy_is_the_model_that_loading_in_the_number_type_gives() -> None:
    copy = load_model("embedded:target").in_dtype("bfloat16")
    loaded = load_model("embedded:target", dtype="bfloat16")
    config = Greedy(max_new_tokens=12)
    one, other = (collect(model, "Once upon a time", config) for model in (copy, loaded))
    assert _timeless(one) == _timeless(other)


def test_another_session_computes_with_its_own_number_of_threads() -> None:
    """Runs with one thread pass their turn on, and the other job has three, as at the start."""
    queue, seen, met, ended = FairQueue(quantum=0), list[int](), Barrier(2, timeout=60), Event()

    def many() -> None:
        with queue.turn(session="many") as turn:
            met.wait()
            batches = again(Greedy(max_new_tokens=30), 4, "nothing")
            try:
                run_batches(_model("llama"), PROMPT, batches, should_stop=turn.should_stop)
            finally:
                ended.set()

    def other() -> None:
        met.wait()
        with queue.turn(session="other") as turn:
            while not ended.is_set():
                # A thread that another one starts takes the number of the process over.
                with ThreadPoolExecutor(1) as pool:
                    seen.append(pool.submit(torch.get_num_threads).result())
                turn.should_stop()

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    threads_at_start.cache_clear()
    try:
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(many), pool.submit(other)]:
                done.result()
        with ThreadPoolExecutor(1) as pool:
            seen.append(pool.submit(torch.get_num_threads).result())
    finally:
        torch.set_num_threads(before)
        threads_at_start.cache_clear()
    assert len(seen) > 20 and set(seen) == {3}


def test_a_stop_ends_the_runs_under_way_and_begins_no_other_batch() -> None:
    asked = []

    def should_stop() -> bool:
        asked.append(True)
        return len(asked) > 4

    told: list[Trace] = []
    traces = run_batches(
        _model("llama"), PROMPT, again(Sampling(max_new_tokens=30), 30, "seed"),
        on_trace=told.append, should_stop=should_stop,
    )  # fmt: skip
    assert len(traces) == MOST_ROWS and tuple(told) == traces
    assert {trace.finish_reason for trace in traces} == {"cancelled"}


def test_a_grid_has_every_combination_in_one_batch_and_zero_is_greedy() -> None:
    config = Sampling(max_new_tokens=8, seed=3)
    (batch,) = grid(config, {"temperature": (0, 0.7, 1.4), "top_k": (2, 40)})
    assert batch.rows == 6
    pairs = [(own.shaping.temperature, own.shaping.top_k) for own in batch.configs]
    assert pairs == [(t, k) for t in (0, 0.7, 1.4) for k in (2, 40)]
    assert drawn_by(batch.configs[0]) is None and type(pairs[0][1]) is int
    many = ManyRuns(run_batches(_model("llama"), PROMPT, [batch]))
    greedy = collect(_model("llama"), PROMPT, Greedy(max_new_tokens=8))
    assert many.traces[0].token_ids == many.traces[1].token_ids == greedy.token_ids
    assert many.settings[3] == {"temperature": "0.7", "top_k": "40"}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.2, 0.7,1", (0.2, 0.7, 1.0)),
        ("0.2 to 1 in 5", (0.2, 0.4, 0.6, 0.8, 1.0)),
        (" 3 ", (3.0,)),
    ],
)
def test_values_are_read_from_a_list_or_equal_steps(text: str, values: object) -> None:
    assert values_in(text) == values


@pytest.mark.parametrize(
    "text", ["", "a", "1,,2", "1 to 2 in 99", "nan", "inf", "1e99", "1 to x in 3"]
)
def test_other_values_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="numbers with commas"):
        values_in(text)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"seed": (1, 2)}, "A grid varies"),
        ({"temperature": (1.0,)}, "2 to 12"),
        ({"temperature": tuple(range(1, 5)), "top_k": (1, 2, 3, 4)}, "2 to 12"),
        ({"temperature": (1, 1)}, "once"),
        ({"temperature": (1, 2), "top_k": (1, 2), "top_p": (0.5, 1)}, "one or two"),
        ({"top_p": (0.5, 7)}, "top_p"),
        ({"top_k": (0.2, 0.4, 0.6, 1.0)}, "top_k takes whole numbers, got 0.2"),
        ({"top_k": (2, 2.5)}, "whole numbers, got 2.5"),
        ({"top_p": (0.5, 0.50000001)}, "once"),
    ],
)
def test_wrong_grids_are_refused(knobs: dict[str, tuple[float, ...]], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        grid(Sampling(), knobs)


def test_requests_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 to 100"):
        again(Greedy(), MAX_MANY + 1, "nothing")
    with pytest.raises(ConfigError, match="Nothing is drawn"):
        again(Sampling(shaping=Shaping(temperature=0)), 5, "seed")


def _seeds(count: int) -> ManyRuns:
    return ManyRuns(
        run_batches(_model("llama"), PROMPT, again(Sampling(max_new_tokens=7), count, "seed"))
    )


def test_shares_sum_to_1_at_every_fork_and_the_tree_ends_at_the_texts() -> None:
    many = _seeds(30)
    assert sum(len(text.runs) for text in many.texts) == 30
    for fork in many.forks:
        assert sum(branch.share for branch in fork.branches) == pytest.approx(1)
        places = [place for branch in fork.branches for place in branch.runs]
        assert sorted(places) == sorted(fork.runs) and len(fork.branches) > 1
        beginnings = {many.traces[place].token_ids[: fork.at] for place in places}
        assert len(beginnings) == 1
        for branch in fork.branches:
            ids = {many.traces[place].token_ids[fork.at] for place in branch.runs}
            assert ids == {branch.token_id}
    # A tree's leaves: one, and for each fork its branches but one more.
    assert len(many.texts) == 1 + sum(len(fork.branches) - 1 for fork in many.forks)
    assert many.agreed == min(fork.at for fork in many.forks)
    shares = many.agreement
    assert list(shares) == sorted(shares, reverse=True)
    assert shares[-1] == len(many.texts[0].runs) / 30


def test_the_margin_is_the_distance_of_the_two_log_probabilities() -> None:
    many = _seeds(30)
    for fork in many.forks:
        one, other = (
            many.traces[branch.runs[0]].token_steps[fork.at] for branch in fork.branches[:2]
        )
        margin = abs(math.log(one.chosen.raw_prob) - math.log(other.chosen.raw_prob))
        assert fork.margin == pytest.approx(margin, abs=1e-4)
    # With no candidate but the chosen one recorded, each run knows its own token alone.
    bare = ManyRuns(tuple(_bare(trace) for trace in many.traces))
    for fork, own in zip(many.forks, bare.forks, strict=True):
        assert own.margin == pytest.approx(fork.margin, abs=1e-4)


def _bare(trace: Trace) -> Trace:
    steps = tuple(
        step
        if isinstance(step, PromptStep)
        else replace(step, candidates=(step.chosen._replace(rank=1),))  # type: ignore[attr-defined]
        for step in trace.steps
    )
    return replace(trace, steps=steps)


def test_a_run_that_ends_earlier_is_a_branch_of_its_own() -> None:
    whole = collect(_model("llama"), PROMPT, Greedy(max_new_tokens=6))
    short = collect(_model("llama"), PROMPT, Greedy(max_new_tokens=4))
    many = ManyRuns((whole, short, whole))
    (fork,) = many.forks
    assert fork.at == 4 and fork.margin is None
    assert [(branch.token_id, branch.runs) for branch in fork.branches] == [
        (whole.token_ids[4], (0, 2)),
        (None, (1,)),
    ]
    assert many.agreement == (1, 1, 1, 1, 2 / 3, 2 / 3)


def test_runs_of_different_prompts_or_too_many_are_refused() -> None:
    trace = collect(_model("llama"), PROMPT, Greedy(max_new_tokens=2))
    with pytest.raises(TraceError, match="different prompts"):
        ManyRuns((trace, replace(trace, prompt_ids=(1, 2))))
    for count in (0, MAX_MANY + 1):
        with pytest.raises(TraceError, match="1 to 100"):
            ManyRuns((trace,) * count)
