"""The figures of speculative decoding, by their data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

import pytest

from core import Greedy, collect
from core.decoding.record.trace import Trace
from core.decoding.speculative.acceptance import acceptance_table
from core.decoding.speculative.measurement.metrics import (
    Costs,
    VerifyCost,
    acceptance_by_position,
    alpha,
    counts,
    expected_tokens,
)
from core.decoding.speculative.measurement.report import SweepPoint
from core.figures import (
    DARK,
    LIGHT,
    spec_acceptance,
    spec_acceptance_data,
    spec_enumeration,
    spec_enumeration_data,
    spec_feed,
    spec_feed_data,
    spec_outcomes_data,
    spec_positions,
    spec_positions_data,
    spec_sweep,
    spec_sweep_data,
    spec_time,
    spec_time_data,
    spec_timeline,
    spec_timeline_data,
    spec_verification,
    spec_verification_data,
    spec_window,
    spec_window_data,
)
from core.figures.base.labels import percentage, visible_token
from core.figures.base.paper import Paper
from core.figures.speculative.metrics import (
    scoring_words,
    spec_latency_data,
    spec_metrics_data,
    spec_scoring_data,
)
from core.figures.speculative.same import identity_words, same_rounds_words
from core.figures.speculative.sources.translation import made_of, spans
from core.figures.speculative.time import verdict
from core.figures.speculative.timeline import COLUMNS
from core.figures.speculative.words import (
    EXTRA,
    KINDS,
    SYMBOLS,
    emitted,
    kind_color,
    kind_words,
    pending_of,
)
from tests.figures.looking import assert_sound, shapes_named, trace_named
from tests.figures.specs import COUNTED, SWEEP, make_comparison, make_spec, spec_model, timed

THREE = acceptance_table([0.6, 0.3, 0.1], [0.2, 0.5, 0.3])
NAMES = ("A", "B", "C")


def places(trace: Trace) -> Iterator[tuple[int, int]]:
    """Round and place of every token that a figure of a trial is drawn of."""
    for at, step in enumerate(trace.rounds):
        yield from ((at, place) for place in range(len(step.drafted)))
        if step.extra:
            yield at, EXTRA


@pytest.mark.parametrize(
    "settings",
    [
        {"acceptance": "exact"},
        {"acceptance": "typical"},
        {"drafter": "prompt_lookup"},
        {"temperature": 0.0},
        {"draft_length": 30},
    ],
    ids=str,
)
def test_every_rule_and_drafter_has_sound_figures(settings: dict[str, object]) -> None:
    trace = make_spec(9, **settings)
    figures = [spec_feed(trace, at) for at in range(len(trace.rounds))]
    figures += [spec_verification(trace, *place) for place in places(trace)]
    for figure in (spec_timeline(trace), spec_time(trace), spec_positions(trace), *figures):
        assert_sound(figure)


def test_a_run_without_rounds_says_so() -> None:
    empty = replace(make_spec(), steps=(), token_ids=(), text="")
    for figure in (spec_timeline(empty), spec_time(empty), spec_positions(empty)):
        assert any(note.name == "sentence" for note in figure.layout.annotations)
    assert spec_timeline_data(empty).empty
    assert spec_verification(empty, 0, 0).layout.annotations


def test_the_timeline_holds_every_token_once_in_the_bars_of_its_kind() -> None:
    trace = make_spec()
    figure = spec_timeline(trace)
    drawn_kinds = {
        tuple(key): kind
        for kind in KINDS
        for bars in figure.data
        if bars.name == kind_words(kind)
        for key in bars.customdata
    }
    expected: dict[tuple[int, int], str] = {}
    for at, step in enumerate(trace.rounds):
        expected |= {(at, place): token.outcome for place, token in enumerate(step.drafted)}
        if step.extra is not None:
            expected[at, EXTRA] = "recovered" if step.recovered else "bonus"
    assert drawn_kinds == expected
    assert set(drawn_kinds.values()) == set(KINDS)
    # Five outcomes have five marks and five colours.
    marks = trace_named(figure, "marks").marker
    assert set(marks.symbol) == set(SYMBOLS.values()) and len(set(SYMBOLS.values())) == 5
    for theme in (LIGHT, DARK):
        assert len({kind_color(kind, theme) for kind in KINDS}) == 5


def test_the_timeline_is_paged_and_marks_the_selected_token() -> None:
    trace = make_spec(150, min_new_tokens=150)
    assert len(trace.rounds) > COLUMNS
    second = spec_timeline(trace, first=COLUMNS, selected=(COLUMNS + 1, 0))
    rounds = {key[0] for bars in second.data if bars.customdata for key in bars.customdata}
    assert rounds == set(range(COLUMNS, min(len(trace.rounds), 2 * COLUMNS)))
    (ring,) = shapes_named(second, "selected")
    assert ring.x0 < 1 < ring.x1
    assert not shapes_named(spec_timeline(trace, selected=(COLUMNS + 1, 0)), "selected")
    assert second.layout.meta["first"] == COLUMNS
    assert len(second.layout.meta["ends"]) == len(rounds)


def test_the_emitted_tokens_are_the_text() -> None:
    trace = make_spec()
    assert "".join(token.text for token in emitted(trace)) == trace.text
    frame = spec_timeline_data(trace)
    assert tuple(frame[frame["emitted"]]["token_id"]) == trace.token_ids


def test_the_bars_of_a_trial_are_the_shared_part_and_both_rests() -> None:
    trace = make_spec(top_candidates=24)
    at = next(at for at, step in enumerate(trace.rounds) if step.recovered)
    place = len(trace.rounds[at].accepted)
    token = trace.rounds[at].drafted[place]
    figure = spec_verification(trace, at, place, count=100)
    both, target, draft = (
        trace_named(figure, name).x for name in ("both", "target only", "draft only")
    )
    chosen = sorted(token.candidates, key=lambda c: (-c.target_prob, -c.draft_prob))
    assert [b + t for b, t in zip(both, target, strict=True)] == pytest.approx(
        [c.target_prob for c in chosen]
    )
    assert [b + d for b, d in zip(both, draft, strict=True)] == pytest.approx(
        [c.draft_prob for c in chosen]
    )
    assert sum(target) == pytest.approx(token.residual_mass, abs=1e-6)
    assert sum(trace_named(figure, "residual").x) == pytest.approx(1, abs=1e-5)
    (mark,) = shapes_named(figure, "number")
    assert mark.x0 == token.uniform
    assert list(next(bar for bar in figure.data if bar.name == "strip").x) == [token.accept_prob]
    assert not token.passed and token.uniform >= token.accept_prob


def test_the_drafted_and_the_recovered_token_are_always_among_the_bars() -> None:
    trace = make_spec()
    for at, step in enumerate(trace.rounds):
        if step.recovered is None:
            continue
        place = len(step.accepted)
        labels = " ".join(spec_verification(trace, at, place, count=2).layout.yaxis.ticktext)
        assert "×" in labels and "◆" in labels
        frame = spec_verification_data(trace, at, place)
        assert list(frame[frame["drafted"]]["token_id"]) == [step.drafted[place].token_id]
        assert list(frame[frame["added"]]["token_id"]) == [step.recovered.token_id]


def test_a_bonus_has_no_draft_distribution() -> None:
    trace = make_spec()
    at = next(at for at, step in enumerate(trace.rounds) if step.bonus)
    figure = spec_verification(trace, at, EXTRA)
    assert f"Round {at + 1}, the target’s own token" in figure.layout.title.text
    assert not any(trace_named(figure, "draft only").x)
    assert spec_verification_data(trace, at, EXTRA)["draft_prob"].isna().all()
    assert not any(bars.name == "residual" for bars in figure.data)


def test_the_stages_of_a_token_add_up_to_its_time() -> None:
    trace = timed(make_spec(), 0.004, 0.005, 0.001)
    figure = spec_time(trace)
    assert sum(
        trace_named(figure, f"Speculative: {p}").x[0] for p in ("propose", "score", "verify")
    ) == pytest.approx(10 * len(trace.rounds) / len(trace.token_ids))
    assert list(trace_named(figure, "propose").y) == pytest.approx([4.0] * len(trace.rounds))
    compared = spec_time(trace, make_comparison(0.02, 0.03))
    assert trace_named(compared, "Target only: target only").x[0] == pytest.approx(30)
    ours = [bar.x[0] for bar in compared.data if bar.name.startswith("Speculative")]
    assert sum(ours) == pytest.approx(20)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.02, "1.50 times faster"), (0.06, "Slower here, 0.50"), (0.0301, "About as fast")],
)
def test_the_verdict_says_what_was_measured_and_adds_up(seconds: float, words: str) -> None:
    comparison = make_comparison(seconds, 0.03)
    sentence = verdict(comparison)
    assert sentence.startswith(words) and "because" in sentence
    emitted_a_round = len(comparison.speculative.token_ids) / len(comparison.speculative.rounds)
    cost = emitted_a_round * seconds / 0.03
    assert f"emits {emitted_a_round:.1f} tokens" in sentence
    assert f"as long as {cost:.1f} tokens" in sentence
    assert f"({cost / 2:.1f} for drafting" in sentence


def test_acceptance_by_position_is_drawn_as_counted() -> None:
    trace = make_spec()
    rates, figure = acceptance_by_position(trace.rounds), spec_positions(trace)
    assert list(trace_named(figure, "of drafted").y) == [rate.rate for rate in rates]
    assert list(trace_named(figure, "of reached").y) == [rate.rate_when_reached for rate in rates]
    last, hover = rates[-1], trace_named(figure, "of drafted").hovertext[-1]
    assert hover.endswith(f"{last.accepted} of {last.drafted} drafted, {last.reached} reached")
    assert last.drafted > last.reached


def test_the_sweep_draws_measured_and_predicted_over_the_even_line() -> None:
    figure = spec_sweep(SWEEP, make_spec())
    assert list(trace_named(figure, "measured").y) == [0.8, 1.3]
    assert list(trace_named(figure, "predicted").y) == [0.9, 1.2]
    assert shapes_named(figure, "even")[0].y0 == 1


def test_both_ways_of_scoring_read_every_position_once() -> None:
    trace = make_spec()
    step = trace.rounds[1]
    frame = spec_feed_data(trace, 1)
    # From 0, as engines count: the first one is behind the cached tokens.
    before = step.target_cache.before
    positions = list(range(before, before + len(step.drafted) + 1))
    for way, rows in (("multi_query", 1), ("batch_expansion", len(step.drafted) + 1)):
        of_way = frame[frame["scoring"] == way]
        assert of_way["sequence"].nunique() == rows
        assert sorted(of_way[of_way["read"]]["position"]) == positions
        # As vLLM feeds them: one token for every position, whichever the way.
        assert len(of_way) == len(positions) and of_way["read"].all()
    multi = frame[frame["scoring"] == "multi_query"]
    last = trace.rounds[0].token_ids[-1]
    assert list(multi["token_id"]) == [last, *(token.token_id for token in step.drafted)]
    # The first round begins with the prompt's last token.
    assert spec_feed_data(trace, 0)["token_id"][0] == trace.prompt_ids[-1]


def test_a_tree_is_fed_once_and_each_sequence_is_a_path_of_it() -> None:
    trace = make_spec(24, tree_widths="2,2")
    at = next(at for at, step in enumerate(trace.rounds) if len(step.parents) == 6)
    step, frame = trace.rounds[at], spec_feed_data(trace, at)
    before, tokens = step.target_cache.before, len(step.drafted) + 1
    positions = [before, *(before + 1 + depth for depth in step.depths)]
    for way, rows in (("multi_query", 1), ("batch_expansion", tokens)):
        of_way = frame[frame["scoring"] == way]
        assert of_way["sequence"].nunique() == rows and of_way["read"].all()
        assert list(of_way["position"]) == positions
        assert list(of_way["token_id"])[1:] == [token.token_id for token in step.drafted]
    # Ancestors alone are hatched: a node's row begins with its path.
    expanded = frame[frame["scoring"] == "batch_expansion"]
    assert list(expanded["shared"]) == [0, *(1 + depth for depth in step.depths)]
    drawn = [each for each in spec_feed(trace, at).data if each.name == "shared"]
    assert sum(len(each.x or ()) for each in drawn) == sum(expanded["shared"])


def test_the_window_of_lookahead_is_that_of_the_record() -> None:
    trace = make_spec(40, drafter="lookahead", draft_length=3, lookahead_window=4)
    for at, step in enumerate(trace.rounds):
        frame, window = spec_window_data(trace, at), step.window
        assert window is not None
        guessed = frame[~frame["predicted"] & (frame["level"] > 0)]
        assert list(guessed["token_id"]) == [token for level in window.levels for token in level]
        assert list(frame[frame["predicted"]]["token_id"]) == list(window.predicted)
        # Each one follows a token one position before it, and those below the first a level above.
        for row in frame.itertuples():
            above = frame.iloc[row.after - 1] if row.after else None
            assert (above is None) is (row.level == 0)
            assert above is None or row.position == above["position"] + 1
            assert row.level < 2 or above["level"] in (row.level - 1, 0)
        assert frame["token_id"][0] == pending_of(trace, at)[0]
    full = spec_window(trace, 5)
    assert "4 n-grams join the pool" in full.layout.meta["alt"]
    assert "has 1 of 3 levels" in spec_window(trace, 0).layout.meta["alt"]
    assert spec_window(make_spec(), 0).layout.meta["alt"] == "This round read no window of guesses."


def test_the_enumeration_adds_up_to_the_target() -> None:
    figure = spec_enumeration(THREE, NAMES, "speculative")
    assert [
        a + r
        for a, r in zip(
            trace_named(figure, "accepted").y, trace_named(figure, "recovered").y, strict=True
        )
    ] == pytest.approx([0.6, 0.3, 0.1])
    assert "exactly" in figure.layout.meta["alt"]
    assert list(spec_enumeration_data(THREE, NAMES)["emitted"]) == pytest.approx([0.6, 0.3, 0.1])
    lossy = acceptance_table([0.6, 0.3, 0.1], [0.2, 0.5, 0.3], "typical")
    assert "not the target" in spec_enumeration(lossy, NAMES, "typical").layout.meta["alt"]


def test_every_metric_has_a_definition_and_a_source() -> None:
    trace = make_spec()
    plain, measured = (
        spec_metrics_data(trace),
        spec_metrics_data(trace, make_comparison(0.02, 0.03)),
    )
    assert set(plain["metric"]) < set(measured["metric"])
    assert (measured[["value", "definition", "source"]] != "").all(axis=None)
    value = dict(zip(measured["metric"], measured["value"], strict=True))
    totals = counts(trace.rounds)
    assert value["accepted"] == str(totals.accepted)
    assert value["acceptance rate"] == percentage(totals.accepted / totals.drafted, ".1f")
    assert value["speed-up"] == "1.50"
    # The prompt's forward is one, as in every other count of forwards.
    assert value["target forwards"] == str(totals.rounds + 1)


def test_latencies_are_told_by_the_percentiles_that_the_runs_support() -> None:
    """The latencies are 0.1, 0.2, 0.3 and 0.4 seconds."""
    latencies = spec_latency_data(make_comparison(0.02, 0.03))
    assert list(latencies["percentile"]) == [25, 50, 75]
    assert list(latencies["speculative, ms"]) == pytest.approx([175, 250, 325])
    assert list(latencies["target only, ms"]) == pytest.approx([400] * 3)


def metric(trace: Trace, name: str, **given: object) -> tuple[str, str, str]:
    """Value, definition and source of a metric."""
    frame = spec_metrics_data(trace, **given).set_index("metric")  # type: ignore[arg-type]
    return tuple(frame.loc[name])


@pytest.mark.parametrize("settings", [{"draft_threshold": 0.5}, {"adaptive": True}], ids=str)
def test_expectations_take_the_lengths_that_were_drafted(settings: dict[str, object]) -> None:
    trace = make_spec(**settings)
    lengths = [len(step.drafted) for step in trace.rounds]
    assert len(set(lengths)) > 1
    rate = alpha(trace.rounds) or 0.0
    mean = sum(expected_tokens(rate, k) for k in lengths) / len(lengths)
    assert metric(trace, "expected tokens a round")[0] == f"{mean:.2f}"
    # A verification of 4 tokens, the only length measured, and what drafting took, by hand.
    comparison = make_comparison(0.02, 0.03)
    took = sum(k * comparison.costs.draft + comparison.costs.verify[0].seconds for k in lengths)
    expected = mean * len(lengths) * 0.03 / took
    assert metric(trace, "expected speed-up", comparison=comparison)[0] == f"{expected:.2f}"


@pytest.mark.parametrize("settings", [{"tree_widths": "3,2"}, {"tree_nodes": 6}], ids=str)
def test_metrics_of_a_tree_count_its_levels(settings: dict[str, object]) -> None:
    """Costs are measured by level: a round's candidates would take the line far beyond them."""
    trace = make_spec(**settings)
    depth = fmean(step.depth for step in trace.rounds)
    assert depth < fmean(len(step.drafted) for step in trace.rounds)
    # Verifying takes 10 ms and 2 ms a level; a token of the target 10 ms.
    costs = Costs(0.005, 0.01, (VerifyCost(1, 0.012, 5), VerifyCost(3, 0.016, 5)))
    comparison = make_comparison(0.02, 0.01)._replace(costs=costs)
    value, words, _ = metric(trace, "verification cost v", comparison=comparison)
    assert value == f"{max(1.2, 1 + 0.2 * depth):.2f}"
    assert f"a median round of {depth:.1f} levels" in words
    assert "a level in the median round" in metric(trace, "draft cost c", comparison=comparison)[1]
    assert "k the levels" in metric(trace, "expected speed-up", comparison=comparison)[1]
    assert "the sum of (levels + 1)" in metric(trace, "system efficiency")[1]
    drafting = [step for step in trace.rounds if step.drafted]
    k, emitted = trace.config.depth, sum(len(step.token_ids) for step in drafting)
    possible = sum(step.depth for step in drafting) / k * (k + 1)
    efficiency = metric(trace, "system efficiency, vLLM’s")
    assert efficiency[0] == percentage(emitted / possible, ".1f") and f"k = {k} as" in efficiency[1]


def test_best_lengths_come_from_a_sweep_alone_and_never_lie_beyond_it() -> None:
    trace, compared = make_spec(), make_comparison(0.02, 0.03)
    assert not {"best draft length", "break-even draft length"} & set(
        spec_metrics_data(trace, compared)["metric"]
    )
    assert metric(trace, "best draft length", sweep=SWEEP)[0] == "4"
    assert metric(trace, "break-even draft length", sweep=SWEEP)[0] == "4 or above"


def recovered_round(trace: Trace) -> int:
    return next(at for at, step in enumerate(trace.rounds) if step.recovered)


def test_the_strip_of_a_rejected_exact_match_shows_whose_share_was_hit() -> None:
    trace = make_spec(acceptance="exact")
    at = recovered_round(trace)
    step = trace.rounds[at]
    figure = spec_verification(trace, at, len(step.accepted))
    _, hit = [bar for bar in figure.data if bar.name == "strip"]
    assert (hit.base[0], hit.base[0] + hit.x[0]) == pytest.approx(step.extra.interval)
    assert hit.base[0] <= step.recovered.uniform <= hit.base[0] + hit.x[0]
    assert hit.marker.line.width


@pytest.mark.parametrize("acceptance", ["speculative", "exact"])
def test_the_strip_of_a_trial_that_draws_nothing_shows_no_number(acceptance: str) -> None:
    greedy, typical = (
        make_spec(temperature=0, acceptance=acceptance),
        make_spec(acceptance="typical"),
    )
    trials = [(greedy, *trial) for trial in places(greedy)]
    for trial in (*trials, (typical, recovered_round(typical), EXTRA)):
        assert not shapes_named(spec_verification(*trial), "number")


def test_the_tables_hold_what_the_figures_draw() -> None:
    trace = make_spec()
    compared = make_comparison(0.02, 0.03)
    frame = spec_time_data(trace, compared)
    rounds, alone = frame[frame["part"] == "round"], frame[frame["part"] == "token"]
    first = compared.speculative.rounds[0]
    assert rounds.iloc[0].tolist() == [
        *("speculative", "round", 1, len(first.drafted), len(first.token_ids)),
        *first.seconds[:3],
        first.seconds.total,
        first.seconds.record,
    ]
    assert len(rounds) == len(trace.rounds)
    assert alone["score_s"].tolist() == [0.0, 0.004]
    assert alone["verify_s"].tolist() == pytest.approx([0.003, 0.003])
    assert alone["total_s"].tolist() == pytest.approx([0.003, 0.007])
    assert spec_time_data(trace)["run"].unique().tolist() == ["speculative"]
    assert spec_sweep_data(SWEEP).iloc[:, :5].values.tolist() == [
        [1, 0.8, 0.9, 1.7, 0.7],
        [4, 1.3, 1.2, 3.1, 0.6],
    ]
    assert spec_outcomes_data(COUNTED).values.tolist() == [
        ["1 2", "<b>a</b>", 60, 55],
        ["", "all others", 40, 45],
    ]
    frame = spec_positions_data(trace)
    assert list(frame["rate"]) == [rate.rate for rate in acceptance_by_position(trace.rounds)]


def test_both_ways_of_scoring_are_told_by_their_medians() -> None:
    trace = make_spec()
    scored = {
        "multi_query": [timed(trace, 0.0, 0.002, 0.0), timed(trace, 0.0, 0.004, 0.0)],
        "batch_expansion": [timed(trace, 0.0, 0.006, 0.0)],
    }
    n = len(trace.rounds)
    assert spec_scoring_data(scored).values.tolist() == [
        ["Multi-query", 2, 2 * n, 3.0, 2.0, 4.0],
        ["Batch expansion", 1, n, 6.0, 6.0, 6.0],
    ]
    assert "2.0 times as long" in scoring_words(scored).replace("\u00a0", " ")
    nothing = {way: [timed(trace, 0.0, 0.0, 0.0)] for way in scored}
    assert scoring_words(nothing) == "Nothing was scored."


def parted(trace: Trace, factor: float) -> Trace:
    """Return the same run with another first bonus token, and with the target's probabilities in
    that round times the factor."""
    at = next(at for at, step in enumerate(trace.rounds) if step.bonus)
    step = trace.rounds[at]

    def scaled(candidates):
        return tuple(c._replace(target_raw_prob=c.target_raw_prob * factor) for c in candidates)

    drafted = tuple(t._replace(candidates=scaled(t.candidates)) for t in step.drafted)
    candidate = next(c for c in step.bonus.candidates if c.token_id != step.bonus.token_id)
    bonus = step.bonus._replace(
        token_id=candidate.token_id, text=candidate.text, candidates=scaled(step.bonus.candidates)
    )
    changed = replace(step, drafted=drafted, bonus=bonus)
    steps = tuple(changed if item is step else item for item in trace.steps)
    ids = tuple(
        token for item in steps if item is not trace.prompt_step for token in item.token_ids
    )
    return replace(trace, steps=steps, token_ids=ids)


def test_runs_that_part_are_excused_by_rounding_only_where_their_numbers_are_that_near() -> None:
    trace = make_spec(acceptance="exact")
    at = next(at for at, step in enumerate(trace.rounds) if step.bonus)
    sentence = same_rounds_words(trace, parted(trace, 1 + 1e-6))
    assert (
        f"from round {at + 1} on" in sentence
        and "which explains it" in sentence
        and "up to 1e-06" in sentence
    )
    sentence = same_rounds_words(trace, parted(trace, 1.1))
    assert "up to 0.095 nats" in sentence and sentence.endswith("this should not happen.")
    assert same_rounds_words(trace, trace) == "Both emitted the same tokens."


def test_greedy_runs_that_part_are_excused_only_where_the_two_tokens_are_all_but_even() -> None:
    alone = collect(spec_model(), [1, 2, 3], Greedy(max_new_tokens=6))
    assert identity_words(alone, alone) == "Identical: all 6 tokens."
    step = alone.token_steps[2]
    first, second = step.candidates[:2]
    changed = (*alone.token_ids[:2], second.token_id, *alone.token_ids[3:])
    gap = first.logit - second.logit
    sentence = identity_words(replace(alone, token_ids=changed), alone)
    assert (
        f"Token 3 differs: “{visible_token(second.text)}”, and “{visible_token(first.text)}”"
        in sentence
    )
    assert f"{gap:.2g} apart" in sentence and "should not happen" in sentence
    # The same with the two all but even.
    probs = (0.4, 0.4 * (1 - 1e-5), *step.stages[0].probs[2:])
    raw = step.stages[0]._replace(probs=probs)
    near = replace(step, stages=(raw, *step.stages[1:]))
    close = replace(alone, steps=tuple(near if s is step else s for s in alone.steps))
    sentence = identity_words(replace(alone, token_ids=changed), close)
    assert "1e-05 apart" in sentence and "which explains it" in sentence
    short = replace(alone, token_ids=alone.token_ids[:4])
    assert "should not happen" in identity_words(short, alone)
    stopped = replace(short, finish_reason="cancelled")
    assert identity_words(stopped, alone) == "Identical: all 4 tokens."


def test_one_run_that_was_held_up_moves_neither_verdict_nor_bars() -> None:
    """A stall while drafting in the last run; the medians don't have it."""
    plain = make_comparison(0.02, 0.03)._replace(stage_shares=((0.5, 0.25, 0.25),) * 3)
    held_up = plain._replace(
        speculative=timed(plain.speculative, 0.2, 0.005, 0.005),
        stage_shares=((0.5, 0.25, 0.25), (0.5, 0.25, 0.25), (0.96, 0.02, 0.02)),
    )
    assert verdict(held_up) == verdict(plain)
    for part in ("propose", "score", "verify"):
        bars = [trace_named(spec_time(plain, c), f"Speculative: {part}") for c in (plain, held_up)]
        assert bars[0].x == bars[1].x


def test_every_timing_shows_its_spread_and_the_number_of_runs() -> None:
    comparison = make_comparison(0.02, 0.03)._replace(
        speculative_token_seconds=(0.019, 0.02, 0.05), target_token_seconds=(0.03, 0.029, 0.034)
    )
    assert "medians of 3 runs of each: 19.0 ms to 50.0 ms" in verdict(comparison).replace(
        "\xa0", " "
    )
    figure = spec_time(comparison.speculative, comparison)
    whiskers = trace_named(figure, "fastest to slowest")
    assert list(whiskers.x) == pytest.approx([20, 30])
    assert list(whiskers.error_x.array) == pytest.approx([30, 4])
    assert list(whiskers.error_x.arrayminus) == pytest.approx([1, 1])
    assert figure.layout.xaxis.range[1] >= 50
    single = comparison._replace(speculative_token_seconds=(0.02,), target_token_seconds=(0.03,))
    assert "spread is not known" in verdict(single)


def test_a_sweep_names_the_measured_best_and_where_the_prediction_is_wrong() -> None:
    points = (
        SweepPoint(1, 0.8, 0.82, 1.7, 0.7, (0.7, 0.9), 3),
        SweepPoint(4, 1.3, 1.2, 3.1, 0.6, (1.1, 1.4), 3),
        SweepPoint(6, 0.9, 1.5, 3.3, 0.5, (0.85, 1.0), 3),
    )
    figure = spec_sweep(SWEEP._replace(points=points), make_spec())
    sentence = figure.layout.annotations[0].text.replace("<br>", " ").replace("\xa0", " ")
    assert "measured: 4 (1.30 times" in sentence and "most at 6: 1.50 against 0.90" in sentence
    whiskers = trace_named(figure, "measured").error_y
    assert list(whiskers.array) == pytest.approx([0.1, 0.1, 0.1])
    assert list(whiskers.arrayminus) == pytest.approx([0.1, 0.2, 0.05])
    agreed = spec_sweep(SWEEP._replace(points=points[:2]), make_spec())
    assert "disagree" not in agreed.layout.annotations[0].text


def test_acceptance_by_draft_length_is_drawn_with_its_intervals_and_the_prediction() -> None:
    figure = spec_acceptance(SWEEP, make_spec())
    assert_sound(figure)
    rate, tokens = trace_named(figure, "accepted share"), trace_named(figure, "tokens a round")
    assert list(rate.x) == [1, 4] and list(rate.y) == [0.7, 0.6]
    assert list(rate.error_y.array) == pytest.approx([0.1, 0.1])
    assert list(tokens.error_y.arrayminus) == pytest.approx([0.1, 0.3])
    predicted = [trace for trace in figure.data if trace.name == "predicted"]
    assert list(predicted[0].y) == pytest.approx([0.8, (0.8 + 0.64 + 0.512 + 0.4096) / 4])
    assert list(predicted[1].y) == pytest.approx([1.8, 1 + 0.8 + 0.64 + 0.512 + 0.4096])
    assert "65 rounds measured" in figure.layout.meta["caption"]
    rows = spec_acceptance_data(SWEEP)
    assert list(rows["acceptance_low"]) == [0.6, 0.5] and list(rows["rounds"]) == [40, 25]
    bare = SWEEP._replace(alpha=None)
    assert all(trace.name != "predicted" for trace in spec_acceptance(bare, make_spec()).data)


def test_tokens_of_two_tokenizers_stand_over_the_same_bytes_of_the_text():
    draft, target = spans(["<E6><97>", "<A5>", "a", "", "b"], ["日", "a", "b"])
    places = {span.text: (span.start, span.end) for span in draft}
    assert places == {"<E6><97>": (0, 2), "<A5>": (2, 3), "a": (3, 4), "": (4, 5), "b": (5, 6)}
    # A token without text moves both rows on, so that equal ends stay equal.
    assert target == [(0, 3, "日"), (3, 4, "a"), (5, 6, "b")]
    assert [made_of(span, draft) for span in target] == [["<E6><97>", "<A5>"], ["a"], ["b"]]
    (whole,) = spans(["", "ab"], ["ab"])[1:]
    assert whole == [(1, 3, "ab")]


def test_the_timeline_of_trees_has_no_row_that_no_path_reaches() -> None:
    trace = make_spec(24, tree_widths="4,2,2")
    rounds = tuple(step for step in trace.rounds if len(step.accepted) < 2)
    shallow = replace(trace, steps=rounds)
    assert max(step.depth for step in rounds) > 2
    rows = spec_timeline(shallow).layout.yaxis.tickvals
    reached = max(step.depths[place] for step in rounds for place in step.path) + 1
    assert len(rows) == reached + 1 < 4


def test_rows_of_a_column_s_tree_are_low_where_no_token_fits() -> None:
    trace = make_spec(tree_widths="4,2,1")
    at = max(range(len(trace.rounds)), key=lambda at: len(trace.rounds[at].drafted))
    screen, column = (spec_feed(trace, at, paper=Paper(width)) for width in (920, 321))
    rows = 2 + 1 + 1 + len(trace.rounds[at].drafted)
    assert column.layout.height < 20 * rows + 270
    for each in screen.data:
        assert each.name != "new" or any(each.text)
    for each in column.data:
        assert each.name not in ("new", "cached") or not any(each.text)
        # Marks of the read positions are in the middle of their cells, not cut at the edge.
        assert each.name != "read" or all(float(x).is_integer() for x in each.x)
