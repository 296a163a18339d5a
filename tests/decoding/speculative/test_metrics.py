"""Every figure by hand, on rounds whose outcomes are written down."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest

from core.decoding.checks.statistics import chi_square, homogeneity
from core.decoding.record.steps import StepSeconds
from core.decoding.speculative.measurement.measure import measured_costs
from core.decoding.speculative.measurement.metrics import (
    Costs,
    VerifyCost,
    acceptance_by_position,
    acceptance_interval,
    acceptance_rate,
    alpha,
    counts,
    expected_speedup,
    expected_tokens,
    expected_tokens_per_round,
    percentiles,
    supported,
    system_efficiency,
    tokens_interval,
    tokens_per_round,
    vllm_acceptance_rate,
    vllm_stage_times,
    vllm_system_efficiency,
)
from core.decoding.speculative.measurement.report import Latency, LengthSweep, SweepPoint, TargetRun
from core.decoding.speculative.types import (
    CacheSizes,
    DraftRound,
    DraftToken,
    ExtraToken,
    RoundSeconds,
)

_OUTCOMES = {"a": "accepted", "r": "rejected", "p": "not_reached", "n": "not_reached"}


def round_of(letters: str, seconds: tuple[float, float, float] = (0.4, 1.5, 0.1)) -> DraftRound:
    """a: accepted, r: rejected, p: not reached though it would have passed, n: not reached."""
    drafted = tuple(
        DraftToken(
            token_id=1,
            text="b",
            draft_prob=0.5,
            target_prob=0.4,
            accept_prob=0.8,
            uniform=0.1,
            passed=letter in "ap",
            outcome=_OUTCOMES[letter],  # type: ignore[arg-type]
            residual_mass=0.25,
            candidates=(),
        )
        for letter in letters
    )
    extra = ExtraToken(2, "c", 0.5, 0.5, None, 0.3, (0.0, 0.5))
    rejected = "r" in letters
    return DraftRound(
        index=0,
        start=0,
        draft_length=len(letters),
        draft_end="length",
        drafted=drafted,
        recovered=extra if rejected else None,
        bonus=None if rejected else extra,
        texts=(),
        target_cache=CacheSizes(0, 0, 0),
        draft_cache=None,
        seconds=RoundSeconds(*seconds, record=9.0),
    )


ROUNDS = [round_of("aaaa"), round_of("arpn"), round_of("rppp"), round_of("aa")]


def test_counts_and_rates_by_hand() -> None:
    assert counts(ROUNDS) == (4, 14, 4 + 2 + 1 + 2, 7, 11, 2, 2, 11)
    assert acceptance_rate(ROUNDS) == 7 / 14
    assert vllm_acceptance_rate(ROUNDS) == 11 / 14
    assert tokens_per_round(ROUNDS) == 11 / 4
    # 5 + 5 + 5 + 3 tokens could have come out.
    assert system_efficiency(ROUNDS) == 11 / 18


def test_system_efficiency_is_vllms_where_every_round_drafts_k() -> None:
    rounds, k = ROUNDS[:3], 4
    totals = counts(rounds)
    assert system_efficiency(rounds) == totals.emitted / ((totals.drafted // k) * (k + 1))
    assert vllm_system_efficiency(rounds, k) == system_efficiency(rounds)


def test_vllms_system_efficiency_takes_the_set_k_where_a_round_drafted_fewer() -> None:
    # 14 drafted tokens are 3.5 rounds of 4, which could emit 17.5; the round of none is left out.
    assert vllm_system_efficiency([*ROUNDS, round_of("")], 4) == 11 / 17.5
    assert system_efficiency([*ROUNDS, round_of("")]) == 12 / 19
    assert vllm_system_efficiency([round_of("")], 4) is None


def test_vllms_stage_times_are_means_of_the_rounds_that_drafted() -> None:
    rounds = [round_of("aaaa", (0.4, 1.0, 0.1)), round_of("ar", (0.2, 2.0, 0.3))]
    times = vllm_stage_times([*rounds, round_of("", (9.0, 9.0, 9.0))])
    assert times == pytest.approx((1000 * 0.6 / 6, 1500.0, 200.0))
    assert vllm_stage_times([round_of("")]) is None


def test_acceptance_falls_with_the_position() -> None:
    rates = acceptance_by_position(ROUNDS)
    assert [rate[1:] for rate in rates] == [(4, 4, 3), (4, 3, 2), (3, 1, 1), (3, 1, 1)]
    assert [rate.rate for rate in rates] == [3 / 4, 2 / 4, 1 / 3, 1 / 3]
    assert rates[1].rate_when_reached == 2 / 3


def test_alpha_is_the_mean_overlap_of_the_tried_positions() -> None:
    assert alpha(ROUNDS) == pytest.approx(0.75)
    assert alpha(ROUNDS, "exact") == pytest.approx(0.8)


def test_nothing_drafted_gives_no_rate() -> None:
    rounds = [round_of("")]
    assert (acceptance_rate(rounds), vllm_acceptance_rate(rounds), alpha(rounds)) == (None,) * 3
    assert tokens_per_round(rounds) == 1
    assert (tokens_per_round([]), system_efficiency([])) == (None, None)
    assert acceptance_by_position(rounds) == ()


@pytest.mark.parametrize("a", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_expected_tokens_are_those_of_simulated_rounds_and_of_the_formula(a: float, k: int) -> None:
    expected = expected_tokens(a, k)
    assert expected == pytest.approx(k + 1 if a == 1 else (1 - a ** (k + 1)) / (1 - a))
    dice = random.Random(0)
    lengths = []
    for _ in range(4000):
        emitted = 1
        while emitted <= k and dice.random() < a:
            emitted += 1
        lengths.append(emitted)
    assert statistics.mean(lengths) == pytest.approx(expected, rel=0.05)


COSTS = Costs(draft=0.2, target=1.0, verify=(VerifyCost(1, 1.2), VerifyCost(5, 2.0)))


def test_a_verification_costs_what_the_line_through_all_rounds_says() -> None:
    assert [COSTS.verify_seconds(k) for k in (1, 3, 5)] == pytest.approx([1.2, 1.6, 2.0])
    assert COSTS.verify_seconds(2.5) == pytest.approx(1.5)
    # Three rounds of 1 second and one of 3 at lengths 0, 1: weighted means 1/4 and 3/2, slope 2.
    uneven = Costs(0, 1, (VerifyCost(0, 1.0, 3), VerifyCost(1, 3.0, 1)))
    assert uneven.verify_seconds(1) == pytest.approx(3.0)
    # By hand: means 3 and 2 weighted 1, 2, 1; the slope is (2 * 1 + 0 + 2 * 3) / 8 = 1 / 2.
    three = (VerifyCost(1, 1.5, 1), VerifyCost(3, 1.5, 2), VerifyCost(5, 3.5, 1))
    assert Costs(0, 1, three).verify_seconds(5) == pytest.approx(3.0)
    assert Costs(0, 1, ()).verify_seconds(3) == 0


def test_a_verification_never_gets_cheaper_with_the_length() -> None:
    """A shorter last round was slow once: the line through the last two points fell to 0."""
    verify = (VerifyCost(2, 13.2, 1), VerifyCost(3, 16.6, 1), VerifyCost(5, 15.8, 30))
    costs = Costs(1.0, 10.0, verify)
    values = [costs.verify_seconds(k) for k in range(65)]
    assert values == sorted(values)
    assert values[5] == pytest.approx(15.8, rel=0.01)
    falling = Costs(1.0, 10.0, (VerifyCost(1, 3.0), VerifyCost(5, 1.0)))
    assert falling.verify_seconds(1) == falling.verify_seconds(64) == 2.0
    # And never below what was measured.
    assert Costs(1.0, 10.0, (VerifyCost(4, 1.0), VerifyCost(5, 3.0))).verify_seconds(1) == 1.0


def test_the_expected_speed_up_by_hand() -> None:
    short, five = round_of("a"), round_of("aaaar")
    assert expected_speedup(0.5, [short], COSTS) == pytest.approx(1.5 / (0.2 + 1.2))
    assert expected_speedup(1.0, [five], COSTS) == pytest.approx(6 / (1.0 + 2.0))
    assert expected_speedup(1.0, [short, five], COSTS) == pytest.approx((2 + 6) / (1.4 + 3.0))
    assert expected_speedup(0.5, [], COSTS) == 0


def test_expected_tokens_follow_what_was_drafted_and_not_what_was_allowed() -> None:
    assert expected_tokens_per_round(0.5, [round_of("r"), round_of("aar")]) == (1.5 + 1.875) / 2
    assert expected_tokens_per_round(0.5, []) is None


def test_a_sweep_says_of_measured_lengths_alone_which_pay() -> None:
    def sweep(*predicted: float, alpha: float | None = 0.5) -> LengthSweep:
        lengths = (1, 2, 4, 10)
        points = (
            SweepPoint(k, 9.9, value, 1.5, 0.5)
            for k, value in zip(lengths, predicted, strict=False)
        )
        return LengthSweep(tuple(points), alpha, COSTS)

    swept = sweep(1.1, 1.3, 1.0, 0.9)
    assert (swept.best, swept.break_even, swept.pays_to_the_end) == (2, 4, False)
    swept = sweep(1.1, 1.2, 1.3, 1.2)
    assert (swept.best, swept.break_even, swept.pays_to_the_end) == (4, 10, True)
    swept = sweep(0.9, 0.8)
    assert (swept.best, swept.break_even, swept.pays_to_the_end) == (1, None, False)
    swept = sweep(0.9, 0.8, alpha=None)
    assert (swept.best, swept.break_even) == (None, None)


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, (50,)),
        (3, (50,)),
        (4, (25, 50, 75)),
        (9, (25, 50, 75)),
        (10, (10, 25, 50, 75, 90)),
        (99, (10, 25, 50, 75, 90)),
        (100, (10, 25, 50, 75, 90, 99)),
    ],
)
def test_percentiles_are_told_only_where_a_run_lies_beyond_them(count: int, told) -> None:
    assert supported(count) == told
    assert [p for p, _ in Latency((0.1,) * count).percentiles] == list(told)


def test_the_seconds_of_runs_by_hand() -> None:
    """The first token's forward was the prompt's; a run of one token has no other to take."""
    steps = (StepSeconds(0.0, 0.25, 0.25), StepSeconds(1.0, 0.5, 0.5), StepSeconds(3.0, 0.5, 0.5))
    run = TargetRun((1, 2, 3), 5.0, steps)
    assert (run.latency, run.token_seconds) == (11.5, 3.0)
    assert TargetRun((1,), 5.0, steps[:1]).token_seconds == 0.5
    assert TargetRun((), 5.0, ()).token_seconds == 0


def test_measured_costs_are_medians_by_length() -> None:
    rounds = [
        round_of("aaaa", (0.4, 1.0, 0.2)),
        round_of("rnnn", (0.8, 2.0, 0.2)),
        round_of("arnn", (1.2, 3.0, 0.2)),
        round_of("", (0.0, 0.9, 0.1)),
    ]
    assert measured_costs(rounds, 0.7) == (0.2, 0.7, ((0, 1.0, 1), (4, 2.2, 3)))


def test_percentiles_are_numpys() -> None:
    dice = random.Random(1)
    for n in (1, 2, 7, 100):
        values = [dice.random() for _ in range(n)]
        for percent, value in percentiles(values):
            assert value == pytest.approx(float(np.percentile(values, percent)))
    assert [percent for percent, _ in percentiles([1.0])] == [10, 25, 50, 75, 90, 99]
    assert percentiles([]) == ()


def test_two_samples_are_told_apart_by_their_counts() -> None:
    square, degrees, p = homogeneity([(50, 30), (50, 70)])
    # The textbook's 2 x 2 table: 100 * 2 * (50 * 70 - 30 * 50)^2 / (80 * 120 * 100 * 100).
    assert square == pytest.approx(200 * (50 * 70 - 30 * 50) ** 2 / (80 * 120 * 100 * 100))
    assert degrees == 1
    assert p == pytest.approx(math.erfc(math.sqrt(square / 2)))
    assert homogeneity([(40, 40)]) == (0.0, 0, None)
    one_sample = chi_square([(0.5, 60), (0.5, 40)])
    assert one_sample[2] == pytest.approx(math.erfc(math.sqrt(one_sample[0] / 2)))


def test_the_interval_of_the_acceptance_counts_rounds_and_not_tokens() -> None:
    """2 of 4, 4 of 4 and 0 of 4: the rate is 1/2, the rounds' errors are 0, 2 and -2."""
    rounds = [round_of(letters) for letters in ("aarn", "aaaa", "rnnn")] * 4
    error = 1.96 * math.sqrt(4 * (0 + 4 + 4) * 12 / 11) / 48
    low, high = acceptance_interval(rounds) or (0.0, 0.0)
    assert (low, high) == pytest.approx((0.5 - error, 0.5 + error))
    tokens = [len(step.token_ids) for step in rounds]
    error = 1.96 * statistics.stdev(tokens) / math.sqrt(12)
    assert tokens_interval(rounds) == pytest.approx(
        (statistics.fmean(tokens) - error, statistics.fmean(tokens) + error)
    )
    same = [round_of("aarn")] * 5
    assert acceptance_interval(same) == pytest.approx((0.5, 0.5))
    assert acceptance_interval(same[:1]) is None and tokens_interval([]) is None


def test_the_interval_holds_the_true_rate_of_most_simulated_sweeps() -> None:
    """Each of 4 tokens passes with 0.7: the rate is (0.7 + 0.49 + 0.343 + 0.2401) / 4."""
    dice, inside = random.Random(3), 0
    rate = sum(0.7**at for at in range(1, 5)) / 4
    for _ in range(300):
        rounds = []
        for _ in range(60):
            passed = next((at for at in range(4) if dice.random() > 0.7), 4)
            rounds.append(round_of("a" * passed + "rnnn"[: 4 - passed]))
        low, high = acceptance_interval(rounds) or (0.0, 0.0)
        inside += low <= rate <= high
    assert 0.9 < inside / 300 < 0.99
