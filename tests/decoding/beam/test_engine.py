"""Beam search by arithmetic: scripted models, tiny vocabularies, an independent diverse search."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core import BeamSearch, Greedy, Shaping, Trace, check, collect, decode
from core.decoding.beam.candidates import LogProbabilities, choose
from core.decoding.beam.replay import follow, lineage
from core.decoding.errors import ConfigError, DecodingError
from core.models.scripted import ScriptedModel
from tests.depth import cases
from tests.models.builders import forward_shapes, random_language_model

END, A, B, C = range(4)
TOKENS = ("<end>", "a", "b", "c")


def garden() -> ScriptedModel:
    """Greedy takes a (0.5) and gets 0.4 at most; b (0.4) leads to c with 0.9."""
    return ScriptedModel(
        {
            (): [0.1, 0.5, 0.4, 0.0],
            (A,): [0.3, 0.3, 0.4, 0.0],
            (B,): [0.1, 0.0, 0.0, 0.9],
            (C,): [1.0, 0.0, 0.0, 0.0],
        },
        tokens=TOKENS,
    )


def _search(model, prompt=(A,), **settings) -> Trace:
    return collect(model, list(prompt), BeamSearch(**settings))


def _prompted(script: dict) -> ScriptedModel:
    return ScriptedModel(script, tokens=TOKENS)


def test_two_beams_find_what_greedy_misses() -> None:
    script = {(C, A): [0.3, 0.3, 0.4, 0.0], (B,): [0.1, 0.0, 0.0, 0.9], (B, C): [1, 0, 0, 0]}
    model = _prompted({(): [0.25] * 4, (C,): [0.1, 0.5, 0.4, 0.0], (A, B): [0.25] * 4, **script})
    trace = _search(model, [C], num_beams=2, max_new_tokens=3, early_stopping=True)
    best = trace.hypotheses[0]
    assert best.token_ids == (B, C, END) == trace.token_ids
    assert best.sum_logprob == pytest.approx(math.log(0.4 * 0.9 * 1.0))
    assert best.score == pytest.approx(math.log(0.36) / 3)
    assert best.parents == (0, 1, 0)
    assert (trace.text, trace.finish_reason) == ("bc", "eos")
    assert collect(model, [C], Greedy(max_new_tokens=3)).token_ids[0] == A


def test_a_step_holds_candidates_with_parents_sums_fates_and_margins() -> None:
    step = _search(garden(), [C, B], num_beams=2, max_new_tokens=3).beam_steps[0]
    assert [(c.rank, c.parent, c.token_id, c.fate, c.row) for c in step.candidates] == [
        (1, 0, C, "kept", 0),
        (2, 0, END, "finished", None),
    ]
    assert [c.cum_logprob for c in step.candidates] == pytest.approx([math.log(0.9), math.log(0.1)])
    assert step.entropies == (pytest.approx(-0.9 * math.log(0.9) - 0.1 * math.log(0.1)),)
    assert step.margin(step.candidates[1]) == pytest.approx(math.log(0.1) - math.log(0.9))
    assert step.finished_texts == ("",)


def test_only_the_first_num_beams_of_the_candidates_may_finish() -> None:
    model = _prompted({(): [0.2, 0.45, 0.35, 0.0]})
    step = _search(model, num_beams=2, max_new_tokens=4).beam_steps[0]
    fates = {c.token_id: (c.fate, c.ended) for c in step.candidates}
    assert fates == {A: ("kept", None), B: ("kept", None), END: ("pruned", "eos")}


def test_the_beam_is_narrower_where_there_are_fewer_tokens_than_beams() -> None:
    model = _prompted({(): [0.0, 0.6, 0.4, 0.0]})
    widths = [len(s.groups) for s in _search(model, num_beams=4, max_new_tokens=4).beam_steps]
    assert widths == [1, 2, 4, 4]


def _probability(model: ScriptedModel, prompt: list[int], path: tuple[int, ...]) -> float:
    total = 0.0
    for at, token in enumerate(path):
        logits = model.logits_after([*prompt, *path[:at]]).double()
        total += float(torch.log_softmax(logits, -1)[token])
    return total


def _drawn(seed: int, size: int, eos: str | None = None) -> ScriptedModel:
    """A model of random logits, others behind every text."""

    def script(ids: tuple[int, ...]) -> torch.Tensor:
        generator = torch.Generator().manual_seed(hash((seed, *ids)) % 2**31)
        return torch.randn(size, generator=generator) * 2

    return ScriptedModel(script, tokens=[f"t{n}" for n in range(size)], given="logits", eos=eos)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("length_penalty", [0.0, 1.0, -0.5])
def test_with_enough_beams_the_search_is_exhaustive(seed: int, length_penalty: float) -> None:
    model = _drawn(seed, 4, "t0")
    longest = 3
    trace = _search(
        model,
        num_beams=64,
        max_new_tokens=longest,
        length_penalty=length_penalty,
        early_stopping="never",
        num_return_sequences=10,
    )
    paths = [
        path
        for length in range(1, longest + 1)
        for path in itertools.product(range(4), repeat=length)
        if END not in path[:-1] and (path[-1] == END or length == longest)
    ]
    scored = {p: _probability(model, [A], p) / len(p) ** length_penalty for p in paths}
    best = sorted(scored, key=lambda path: -scored[path])[:10]
    assert [hypothesis.token_ids for hypothesis in trace.hypotheses[:10]] == best
    assert len(trace.hypotheses) == min(64, len(paths))
    for hypothesis in trace.hypotheses:
        assert hypothesis.score == pytest.approx(scored[hypothesis.token_ids], rel=1e-5)


@settings(max_examples=cases(60, 20), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    beams=st.integers(1, 6),
    groups=st.sampled_from([1, 1, 2]),
    draws=st.booleans(),
    ends=st.sets(st.integers(0, 9), max_size=3),
)
def test_every_tree_is_proved_and_leads_to_its_hypotheses(
    seed: int, beams: int, groups: int, draws: bool, ends: set
) -> None:
    model = _drawn(seed, 10)
    model.eos_ids = frozenset(ends)
    config = BeamSearch(
        num_beams=beams * groups,
        num_beam_groups=groups,
        diversity_penalty=0.7 if groups > 1 else 0,
        do_sample=draws and groups == 1,
        seed=seed,
        max_new_tokens=6,
    )
    trace = collect(model, [1, 2], config)
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []
    for hypothesis in trace.hypotheses:
        path = follow(trace.beam_steps, hypothesis.token_ids, hypothesis.group)
        assert tuple(lineage(trace.beam_steps, len(path) - 1, path[-1])) == path
        assert tuple(candidate.parent for candidate in path) == hypothesis.parents
        assert [candidate.fate for candidate in path] == ["kept"] * (len(path) - 1) + ["finished"]
        assert path[-1].cum_logprob == hypothesis.sum_logprob


def _log_softmax(model: ScriptedModel, ids: tuple[int, ...]) -> list[float]:
    return torch.log_softmax(model.logits_after(ids), -1).tolist()


def _diverse(
    model: ScriptedModel, prompt: list[int], beams: int, groups: int, penalty: float, longest: int
) -> list[list[tuple[float, tuple[int, ...]]]]:
    """Vijayakumar et al. 2016, no end of sequence: the beams of every group, from their text."""
    beam = [[(0.0, ())] for _ in range(groups)]
    for _ in range(longest):
        taken: list[int] = []
        for g in range(groups):
            grown = [
                (total + value - penalty * taken.count(token), (*path, token))
                for total, path in beam[g]
                for token, value in enumerate(_log_softmax(model, (*prompt, *path)))
            ]
            beam[g] = sorted(grown, key=lambda pair: -pair[0])[:beams]
            taken += [path[-1] for _, path in beam[g]]
    return beam


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0.0, 0.3, 1.5, 50.0])
def test_diverse_beam_search_equals_an_independent_one(seed: int, penalty: float) -> None:
    model = _drawn(seed, 12)
    trace = _search(
        model,
        num_beams=6,
        num_beam_groups=3,
        diversity_penalty=penalty,
        max_new_tokens=4,
        num_return_sequences=6,
    )
    expected = _diverse(model, [A], 2, 3, penalty, 4)
    for group, paths in enumerate(expected):
        of_group = [hypothesis for hypothesis in trace.hypotheses if hypothesis.group == group]
        assert [hypothesis.token_ids for hypothesis in of_group] == [path for _, path in paths]
        for hypothesis, (total, _) in zip(of_group, paths, strict=True):
            assert hypothesis.sum_logprob == pytest.approx(total, abs=1e-4)
    assert [o for o in check(trace, model) if not o.passed] == []


def test_a_group_that_has_ended_takes_no_more_tokens() -> None:
    """The first group ends at once; a is then free for the second."""
    model = _prompted({(): [0.0, 0.9, 0.1, 0.0], (C,): [0.9, 0.1, 0.0, 0.0]})
    trace = _search(
        model,
        [C],
        num_beams=2,
        num_beam_groups=2,
        diversity_penalty=5.0,
        early_stopping=True,
        max_new_tokens=3,
    )
    assert [hypothesis.token_ids for hypothesis in trace.hypotheses] == [(END,), (END,)]
    assert (A, 0) in {(c.token_id, step.index) for step in trace.beam_steps for c in step.kept}
    assert [o for o in check(trace, model) if not o.passed] == []


def test_the_cache_and_the_seed_decide_nothing_in_plain_beam_search() -> None:
    model = random_language_model("gpt2")
    runs = [
        _search(model, [5, 6], num_beams=3, max_new_tokens=10, use_cache=cache, seed=seed)
        for cache, seed in ((True, 0), (False, 0), (True, 5))
    ]
    assert len({tuple(h.token_ids for h in run.hypotheses) for run in runs}) == 1


def test_a_drawn_search_repeats_under_its_seed_and_differs_under_another() -> None:
    model = random_language_model("qwen2")
    runs = [
        _search(model, [5, 6], num_beams=3, max_new_tokens=10, do_sample=True, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert runs[0].hypotheses == runs[1].hypotheses != runs[2].hypotheses
    assert {step.origin for step in runs[0].beam_steps} == {"sampled"}


def test_temperature_0_draws_nothing_and_says_so() -> None:
    model = random_language_model("qwen2")
    cold = _search(model, [5], num_beams=3, do_sample=True, shaping=Shaping(temperature=0))
    assert cold.hypotheses == _search(model, [5], num_beams=3).hypotheses
    assert "plain beam search" in cold.notes[0].words


def test_the_run_ends_where_the_context_window_ends() -> None:
    model = ScriptedModel({(): [0.0, 0.5, 0.3, 0.2]}, tokens=TOKENS, context_window=6)
    trace = _search(model, [A, B, C], num_beams=2, max_new_tokens=40)
    assert (len(trace.token_ids), trace.finish_reason) == (3, "length")
    assert {step.limit for step in trace.beam_steps} == {3}


def test_a_stop_string_over_two_tokens_ends_a_path_and_the_prompt_does_not_count() -> None:
    model = _prompted({(): [0.0, 0.4, 0.6, 0.0]})
    trace = _search(
        model, [A], num_beams=2, max_new_tokens=5, stop_strings=("ab",), early_stopping=True
    )
    ended = [h for h in trace.hypotheses if h.finish_reason == "stop"]
    assert ended
    assert all(h.text.endswith("ab") and "ab" not in h.text[:-1] for h in ended)
    assert trace.beam_steps[0].finished == ()


def test_when_every_token_is_banned_the_message_says_what_to_do() -> None:
    model = _prompted({(): [1.0, 0.0, 0.0, 0.0]})
    with pytest.raises(DecodingError, match="lower no_repeat_ngram_size or min_new_tokens"):
        _search(model, num_beams=2, min_new_tokens=2)


def test_logits_that_are_no_distribution_are_refused() -> None:
    model = ScriptedModel({(): [math.nan] * 4}, tokens=TOKENS, given="logits")
    steps = decode(model, [A], BeamSearch())
    with pytest.raises(DecodingError, match="no distribution"):
        list(steps)
    with pytest.raises(DecodingError, match="no distribution"):
        LogProbabilities()(torch.full((2, 4), -math.inf))


def test_a_cancelled_search_keeps_the_best_open_row() -> None:
    seen: list[object] = []
    trace = collect(
        random_language_model("llama"),
        [5, 6],
        BeamSearch(num_beams=3, max_new_tokens=20),
        on_step=seen.append,
        should_stop=lambda: len(seen) >= 4,
    )
    assert (trace.finish_reason, trace.hypotheses) == ("cancelled", ())
    last = max(trace.beam_steps[-1].kept, key=lambda c: c.cum_logprob)
    assert trace.token_ids == tuple(c.token_id for c in lineage(trace.beam_steps, 2, last))
    assert Trace.from_dict(trace.to_dict()) == trace


def test_one_forward_a_step_with_one_row_for_each_beam() -> None:
    model = random_language_model("gpt2")
    shapes, model.eos_ids = forward_shapes(model), frozenset()
    steps = _search(model, [5, 6, 7], num_beams=4, max_new_tokens=5).beam_steps
    assert shapes == [(1, 3), (4, 1), (4, 1), (4, 1), (4, 1)]
    first, *others = [step.seconds.forward for step in steps]
    assert first == 0 < min(others)


@pytest.mark.parametrize("vocab", [9_000, 9_001, 9_063, 40_000])
@pytest.mark.parametrize("rows", [4, 5, 16])
def test_the_search_by_blocks_equals_topk(vocab: int, rows: int) -> None:
    generator = torch.Generator().manual_seed(vocab + rows)
    for _ in range(10):
        log_probs = torch.randn(rows, vocab, generator=generator)
        sums = (torch.randn(rows, generator=generator) * 2).tolist()
        before = torch.tensor(sums)[:, None]
        values, places = torch.topk((log_probs + before).flatten(), 2 * rows)
        choice = choose(log_probs, sums, rows, 2 * rows, None)
        assert choice.sums == values.tolist()
        assert [p * vocab + t for p, t in zip(choice.parents, choice.token_ids, strict=True)] == (
            places.tolist()
        )


def test_ties_go_to_whom_topk_over_everything_gives_them() -> None:
    log_probs = torch.randint(0, 4, (5, 9_000), generator=torch.Generator().manual_seed(1)).float()
    expected = torch.topk(log_probs.flatten(), 10)[1].tolist()
    choice = choose(log_probs, [0.0] * 5, 5, 10, None)
    assert [
        p * 9_000 + t for p, t in zip(choice.parents, choice.token_ids, strict=True)
    ] == expected


def test_a_draw_from_too_many_numbers_is_refused() -> None:
    log_probs = torch.zeros(1, 2**19)
    with pytest.raises(DecodingError, match="use fewer beams"):
        choose(log_probs, [0.0], 32, 64, torch.Generator())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_beams": 0}, r"num_beams must lie in \[1, 64\], got 0"),
        ({"num_beams": 65}, "num_beams must lie in"),
        ({"num_beams": 2.0}, "num_beams must be a whole number"),
        ({"length_penalty": 6}, r"length_penalty must lie in \[-5, 5\], got 6"),
        ({"length_penalty": math.nan}, "finite number"),
        ({"early_stopping": "always"}, "must be True, False or 'never', got 'always'"),
        ({"early_stopping": 1}, "must be True, False or 'never', got 1"),
        ({"num_beams": 3, "num_return_sequences": 4}, r"must lie in \[1, 3\], got 4"),
        ({"num_beams": 5, "num_beam_groups": 2}, r"must divide num_beams \(5\), got 2"),
        ({"num_beam_groups": 2, "do_sample": True}, "exclude each other"),
        ({"diversity_penalty": 0.5}, "set num_beam_groups to 2"),
        ({"num_beam_groups": 2, "diversity_penalty": -1}, r"must lie in \[0, 100\]"),
        ({"do_sample": "yes"}, "do_sample must be True or False, got 'yes'"),
        ({"seed": -1}, "seed must lie in"),
        ({"max_new_tokens": 0}, "BeamSearch.max_new_tokens must lie in"),
    ],
)
def test_a_bad_setting_is_refused_with_its_interval(settings: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        BeamSearch(**settings)
