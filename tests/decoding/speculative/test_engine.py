"""Rounds of the engine, by arithmetic on scripted models and against fresh prefills."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from core import (
    ConfigError,
    DecodingError,
    Greedy,
    ModelError,
    PromptError,
    Shaping,
    Speculative,
    Trace,
    check,
    collect,
    decode,
)
from core.decoding.speculative.drafters.model import ModelDraft
from core.decoding.speculative.drafters.prompt_lookup import look_up
from core.decoding.speculative.engine import Rounds
from core.decoding.speculative.scoring import fed_again, feed, feed_paged
from core.models.scripted import ScriptedModel
from core.models.transformers_model import TransformersModel
from tests.decoding.speculative.speculations import near_draft, scripted, target
from tests.models.builders import random_model, tiny_tokenizer

GREEDY = Shaping(temperature=0.0)


def cycle(*order: int, size: int = 4, eos: bool = False) -> ScriptedModel:
    """After each token of `order` comes the next one for sure; other tokens lead to the first."""
    rows = [[float(at == order[0]) for at in range(size)] for _ in range(size)]
    for here, following in zip(order, (*order[1:], order[0]), strict=True):
        rows[here] = [float(at == following) for at in range(size)]
    return scripted(*rows, eos=eos)


@pytest.mark.parametrize("acceptance", ["speculative", "exact", "typical"])
@pytest.mark.parametrize("shaping", [GREEDY, Shaping()])
def test_a_draft_that_is_the_target_is_always_accepted(acceptance, shaping) -> None:
    model = cycle(0, 1, 2, 3)
    config = Speculative(max_new_tokens=20, draft_length=4, acceptance=acceptance, shaping=shaping)
    trace = collect(model, [0], config, draft=model)
    assert trace.token_ids == tuple(at % 4 for at in range(1, 21))
    assert [len(step.accepted) for step in trace.rounds] == [4, 4, 4, 4]
    assert all(step.bonus and not step.recovered for step in trace.rounds)
    assert all(token.residual_mass == 0 for step in trace.rounds for token in step.drafted)


@pytest.mark.parametrize("acceptance", ["speculative", "exact", "typical"])
def test_a_draft_that_is_always_wrong_costs_a_round_for_each_token(acceptance) -> None:
    model, wrong = cycle(0, 1, 2, 3), cycle(0, 3, 2, 1)
    config = Speculative(max_new_tokens=6, draft_length=3, acceptance=acceptance)
    trace = collect(model, [0], config, draft=wrong)
    assert trace.token_ids == (1, 2, 3, 0, 1, 2)
    first = trace.rounds[0]
    assert [token.outcome for token in first.drafted] == ["rejected"] + ["not_reached"] * 2
    assert first.drafted[0][:5] == (3, "d", 1.0, 0.0, 0.0)
    assert first.drafted[0].residual_mass == 1.0
    assert (first.recovered.token_id, first.recovered.prob) == (1, 1.0)
    assert [step.draft_length for step in trace.rounds] == [3, 3, 3, 2, 1, 0]
    assert trace.rounds[-1].bonus is not None
    assert trace.rounds[-1].draft_end == "room"


def test_a_uniform_number_of_0_lets_in_nothing_that_the_target_never_emits(monkeypatch) -> None:
    monkeypatch.setattr(Rounds, "_noise", lambda _, n: [0.0] * n)
    model, wrong = scripted([0.0, 1.0]), scripted([1.0, 0.0])
    trace = collect(model, [0], Speculative(max_new_tokens=3, draft_length=1), draft=wrong)
    assert trace.token_ids == (1, 1, 1)
    assert trace.rounds[0].drafted[0].uniform == 0.0 == trace.rounds[0].drafted[0].accept_prob


def test_the_numbers_of_a_trial_by_hand(monkeypatch) -> None:
    numbers = iter([0.55, 0.45, 0.9, 0.3, 0.5])
    monkeypatch.setattr(Rounds, "_noise", lambda _, n: [next(numbers) for _ in range(n)])
    model, draft = scripted([0.5, 0.3, 0.2]), scripted([0.2, 0.2, 0.6])
    config = Speculative(max_new_tokens=3, draft_length=2)
    step = next(iter(collect(model, [0], config, draft=draft, should_stop=_after(2)).rounds))
    # The draft's CDF: token 2 to 0.6, token 0 to 0.8, token 1 to 1; both draws fall on token 2.
    assert [token.token_id for token in step.drafted] == [2, 2]
    first = step.drafted[0]
    assert first.accept_prob == pytest.approx(1 / 3)
    assert (first.uniform, first.passed, first.outcome) == (0.9, False, "rejected")
    assert step.drafted[1].passed
    assert step.drafted[1].outcome == "not_reached"
    assert first.residual_mass == pytest.approx(0.4)
    # The residual is 0.3, 0.1, 0: of 0.4, token 0 has three quarters.
    assert step.recovered.token_id == 0
    assert step.recovered.prob == pytest.approx(0.75)
    assert step.recovered.interval == pytest.approx((0, 0.75))
    excess = {c.token_id: c.excess for c in first.candidates}
    assert excess == pytest.approx({0: 0.3, 1: 0.1, 2: 0.0})


def _after(calls: int):
    """`should_stop` that says so at its n-th call (the first one comes before the run)."""
    left = iter([False] * (calls) + [True] * 100)
    return lambda: next(left)


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral", "gemma2"])
@pytest.mark.parametrize("scoring", ["multi_query", "batch_expansion"])
def test_rollback_leaves_both_caches_as_a_fresh_prefill_would(kind, scoring) -> None:
    model, draft = target(kind), near_draft(kind)
    config = Speculative(max_new_tokens=24, draft_length=4, scoring=scoring, seed=2)
    prompt = [5, 9, 2, 77]
    context = model.start(prompt)
    context.rollback(1)
    source = ModelDraft.start(model, draft, prompt, config)
    rounds, ids, rejected = Rounds(model, context, source, prompt, config), list(prompt), 0
    while not rounds.finished:
        step = rounds.round()
        ids += step.token_ids
        rejected += step.recovered is not None
        for fresh_model, held, sizes in (
            (model, rounds._context, step.target_cache),
            (draft, source._context, step.draft_cache),
        ):
            assert held.length == sizes.after <= len(ids)
            after = held.branch([0]).extend([42])[0]
            fresh = fresh_model.start([*ids[: held.length], 42]).logits
            torch.testing.assert_close(after, fresh, rtol=0, atol=3e-5)
    assert rejected > 0


def test_one_seed_gives_one_run_and_another_seed_another() -> None:
    def run(seed: int) -> Trace:
        config = Speculative(max_new_tokens=20, seed=seed)
        return collect(target("llama"), [5, 9, 2], config, draft=near_draft("llama"))

    assert [step.drafted for step in run(3).rounds] == [step.drafted for step in run(3).rounds]
    assert run(3).token_ids != run(4).token_ids


def test_what_stands_behind_an_end_of_sequence_is_not_reached() -> None:
    model = cycle(1, 2, 0, 3, eos=True)
    trace = collect(model, [1], Speculative(max_new_tokens=9, draft_length=4), draft=model)
    assert (trace.token_ids, trace.finish_reason) == ((2, 0), "eos")
    (step,) = trace.rounds
    assert step.draft_end == "eos"
    assert [token.outcome for token in step.drafted] == ["accepted", "accepted"]
    assert step.extra is None


def test_a_stop_string_inside_a_round_ends_it() -> None:
    model = cycle(0, 1, 2, 3)
    config = Speculative(max_new_tokens=9, draft_length=4, stop_strings=("bc",))
    trace = collect(model, [0], config, draft=model)
    assert (trace.text, trace.finish_reason) == ("bc", "stop")
    (step,) = trace.rounds
    outcomes = ["accepted", "accepted", "not_reached", "not_reached"]
    assert [token.outcome for token in step.drafted] == outcomes
    assert step.extra is None
    assert step.target_cache.after == 3
    assert [outcome for outcome in check(trace, model, model) if not outcome.passed] == []


@pytest.mark.parametrize("longer", ["target", "draft"])
def test_a_full_context_window_ends_the_run_or_silences_the_draft(longer) -> None:
    rows = [[float(at == (here + 1) % 4) for at in range(4)] for here in range(4)]
    wide, narrow = (
        ScriptedModel(lambda ids: rows[ids[-1]], tokens=["a", "b", "c", "d"], context_window=window)
        for window in (40, 8)
    )
    pair = (wide, narrow) if longer == "target" else (narrow, wide)
    config = Speculative(max_new_tokens=12, draft_length=3)
    trace = collect(pair[0], [0, 1, 2], config, draft=pair[1])
    assert [outcome for outcome in check(trace, *pair) if not outcome.passed] == []
    if longer == "draft":
        assert (len(trace.token_ids), trace.finish_reason) == (5, "length")
        return
    assert len(trace.token_ids) == 12
    silent = [step for step in trace.rounds if step.start > 6]
    assert silent
    assert all(not step.drafted and step.draft_end == "room" for step in silent)
    with pytest.raises(PromptError, match="draft's context window holds 8"):
        collect(wide, [0] * 9, config, draft=narrow)


def test_the_end_is_held_back_at_every_drafted_position() -> None:
    model = scripted([0.9, 0.1], eos=True)
    config = Speculative(max_new_tokens=6, min_new_tokens=4, draft_length=3, shaping=GREEDY)
    trace = collect(model, [1], config, draft=model)
    assert trace.token_ids == (1, 1, 1, 1, 0)
    assert [len(step.drafted) for step in trace.rounds] == [3, 1]


@pytest.mark.parametrize("acceptance", ["speculative", "exact", "typical"])
def test_a_draft_falls_silent_where_the_penalties_leave_it_no_token(acceptance) -> None:
    """With 1-grams banned each of three tokens comes once; then the target has none either."""
    model = scripted([0.1, 0.6, 0.3])
    shaping = Shaping(no_repeat_ngram_size=1)
    config = Speculative(max_new_tokens=2, draft_length=5, shaping=shaping, acceptance=acceptance)
    trace = collect(model, [0], config, draft=model)
    assert sorted(trace.token_ids) == [1, 2]
    with pytest.raises(DecodingError, match="No token is left"):
        collect(model, [0], replace(config, max_new_tokens=3), draft=model)
    # Behind a token that the target rejects nothing is an error: here b is drafted after b.
    target_model, wrong = cycle(0, 1, 2, 3), scripted([0.0, 0.5, 0.0, 0.5])
    shaping = Shaping(temperature=0.0, no_repeat_ngram_size=1)
    config = Speculative(max_new_tokens=3, draft_length=5, shaping=shaping, acceptance=acceptance)
    trace = collect(target_model, [0], config, draft=wrong)
    assert trace.token_ids == (1, 2, 3)
    assert [step.draft_end for step in trace.rounds] == ["room", "room"]
    assert [outcome for outcome in check(trace, target_model, wrong) if not outcome.passed] == []


def test_typical_acceptance_keeps_a_certain_token_at_the_highest_threshold() -> None:
    """With 1 as the bound of both, each certain token was rejected and put back as recovered."""
    model = cycle(0, 1, 2, 3)
    config = Speculative(
        max_new_tokens=10,
        acceptance="typical",
        shaping=GREEDY,
        posterior_threshold=0.99,
        posterior_alpha=0.99,
    )
    trace = collect(model, [0], config, draft=model)
    assert all(token.passed for step in trace.rounds for token in step.drafted)
    for name in ("posterior_threshold", "posterior_alpha"):
        with pytest.raises(ConfigError, match=r"0\.99"):
            Speculative(**{name: 1.0})


@pytest.mark.parametrize("acceptance", ["speculative", "exact", "typical"])
def test_a_row_without_a_token_behind_a_rejection_is_no_error(acceptance) -> None:
    """The target never emits d, and knows but d after it: behind a drafted d, where 1-grams are
    banned, it has nothing left. Every token is rejected before that, d too."""
    plain, only_d = [0.0, 0.4, 0.3, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0, 0.0]
    target, draft = scripted(plain, plain, plain, only_d, plain), scripted([0.2] * 5)
    shaping = Shaping(no_repeat_ngram_size=1)
    drafted_d = 0
    for seed in range(20):
        config = Speculative(
            max_new_tokens=3, draft_length=5, shaping=shaping, acceptance=acceptance, seed=seed
        )
        trace = collect(target, [0], config, draft=draft)
        assert sorted(trace.token_ids) == [1, 2, 4]
        assert [outcome for outcome in check(trace) if not outcome.passed] == []
        drafted_d += any(t.token_id == 3 for step in trace.rounds for t in step.drafted[:-1])
    assert drafted_d > 3


def test_a_cancelled_run_holds_its_rounds() -> None:
    model = cycle(0, 1, 2, 3)
    trace = collect(model, [0], Speculative(max_new_tokens=40), draft=model, should_stop=_after(3))
    assert (len(trace.rounds), trace.finish_reason) == (2, "cancelled")
    assert len(trace.token_ids) == 10
    assert [outcome for outcome in check(trace, model, model) if not outcome.passed] == []


def test_an_unsure_draft_stops_behind_the_token_it_was_unsure_of() -> None:
    model = scripted([0.05, 0.95], [0.7, 0.3])
    config = Speculative(max_new_tokens=12, draft_length=4, draft_threshold=0.8, shaping=GREEDY)
    step = collect(model, [0], config, draft=model).rounds[0]
    assert [token.token_id for token in step.drafted] == [1, 0]
    assert step.draft_end == "confidence"
    assert step.bonus is not None


def test_the_adaptive_length_grows_by_two_and_shrinks_by_one() -> None:
    model = cycle(0, 1, 2, 3)
    config = Speculative(max_new_tokens=30, draft_length=2, adaptive=True)
    lengths = [step.draft_length for step in collect(model, [0], config, draft=model).rounds]
    assert lengths == [2, 4, 6, 8, 5]
    wrong = cycle(0, 3, 2, 1)
    config = replace(config, max_new_tokens=5, draft_length=3)
    lengths = [step.draft_length for step in collect(model, [0], config, draft=wrong).rounds]
    assert lengths == [3, 2, 1, 1, 0]


def test_prompt_lookup_repeats_what_followed() -> None:
    for ids, ngram, count, expected in (
        ([1, 2, 3, 9, 1, 2], 2, 2, [3, 9]),
        ([1, 2, 3, 9, 1, 2], 2, 9, [3, 9, 1, 2]),
        # No pair matches, the single token does.
        ([5, 2, 3, 1, 2], 2, 1, [3]),
        ([1, 2, 3], 3, 4, []),
        ([1], 3, 4, []),
    ):
        assert look_up(ids, ngram, count) == expected
    model = cycle(0, 1, 2, 3)
    config = Speculative(max_new_tokens=8, draft_length=3, drafter="prompt_lookup")
    trace = collect(model, [0, 1, 2, 3, 0], config)
    first = trace.rounds[0]
    assert [token.token_id for token in first.drafted] == [1, 2, 3]
    assert first.drafted[0].draft_prob == 1.0
    assert first.drafted[0].candidates[0].draft_raw_prob is None
    assert first.draft_cache is None
    assert trace.draft_id == ""
    assert trace.token_ids == (1, 2, 3, 0, 1, 2, 3, 0)
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


def test_what_is_fed_in_both_ways() -> None:
    (row,) = feed("multi_query", 10, 7, [1, 2])
    assert row == ((7, 1, 2), (10, 11, 12), 10, 3, (0, 1, 2), 0, ())
    rows = feed("batch_expansion", 10, 7, [1, 2])
    assert [row.token_ids for row in rows] == [(7, 7, 7), (7, 1, 1), (7, 1, 2)]
    assert [row.length for row in rows] == [11, 12, 13]
    assert [row.reads for row in rows] == [(0,), (1,), (2,)]


def test_sequences_that_share_a_cache_are_fed_one_token_each() -> None:
    rows = feed_paged("batch_expansion", 10, 7, [1, 2])
    assert [(row.token_ids, row.positions) for row in rows] == [
        ((7,), (10,)),
        ((1,), (11,)),
        ((2,), (12,)),
    ]
    assert [row.length for row in rows] == [11, 12, 13]
    assert feed_paged("multi_query", 10, 7, [1, 2]) == feed("multi_query", 10, 7, [1, 2])
    assert "6 tokens and 3 of padding" in fed_again(10, 7, [1, 2])
    assert fed_again(10, 7, []) == ""


def test_vocabularies_that_differ_are_refused_by_the_first_difference() -> None:
    model = scripted([0.5, 0.5])
    draft = ScriptedModel(lambda _: [0.5, 0.5], tokens=["a", "x"])
    with pytest.raises(ModelError, match="token 1 is 'b' in the target and 'x' in the draft"):
        collect(model, [0], Speculative(), draft=draft)
    longer = scripted([0.5, 0.3, 0.2])
    with pytest.raises(ModelError, match="token 2 of the draft, 'c', is no padding"):
        collect(model, [0], Speculative(), draft=longer)


@pytest.mark.parametrize("sizes", [(310, 300), (300, 310)])
def test_padding_of_a_vocabulary_is_no_difference(sizes) -> None:
    models = [
        TransformersModel(random_model("llama", vocab), tiny_tokenizer(), model_id=f"{vocab}")
        for vocab in sizes
    ]
    config = Speculative(max_new_tokens=12, seed=1)
    trace = collect(models[0], [5, 9], config, draft=models[1])
    assert [outcome for outcome in check(trace, *models) if not outcome.passed] == []
    greedy = replace(config, shaping=GREEDY)
    assert (
        collect(models[0], [5, 9], greedy, draft=models[1]).token_ids
        == collect(models[0], [5, 9], Greedy(max_new_tokens=12)).token_ids
    )


def test_a_draft_is_asked_for_exactly_where_it_is_needed() -> None:
    model = cycle(0, 1, 2, 3)
    with pytest.raises(ConfigError, match="needs a draft model"):
        decode(model, [0], Speculative())
    with pytest.raises(ConfigError, match="'prompt_lookup' needs no draft"):
        decode(model, [0], Speculative(drafter="prompt_lookup"), draft=model)
    with pytest.raises(ConfigError, match="Only ContrastiveDecoding and Speculative take a draft"):
        decode(model, [0], Greedy(), draft=model)


def test_logits_that_are_none_are_refused() -> None:
    broken = ScriptedModel(lambda _: [float("nan")] * 2, tokens=["a", "b"], given="logits")
    fine = ScriptedModel(lambda _: [0.5, 0.5], tokens=["a", "b"], given="logits")
    for shaping in (GREEDY, Shaping()):
        with pytest.raises(DecodingError, match="no distribution"):
            collect(fine, [0], Speculative(shaping=shaping), draft=broken)
    banned = Shaping(no_repeat_ngram_size=1)
    with pytest.raises(DecodingError, match="No token is left"):
        collect(fine, [0, 1], Speculative(shaping=banned), draft=fine)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("draft_length", 0),
        ("draft_length", 65),
        ("acceptance", "greedy"),
        ("scoring", "both"),
        ("drafter", "nobody"),
        ("draft_temperature", -1.0),
        ("draft_temperature", 0.0001),
        ("draft_threshold", 1.5),
        ("adaptive", 1),
        ("lookup_ngram", 0),
        ("posterior_threshold", 2.0),
        ("posterior_alpha", -0.1),
        ("seed", -1),
    ],
)
def test_bad_settings_are_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"Speculative.{field}"):
        Speculative(**{field: value})
