"""Lookahead decoding: window and pool by hand and against fresh forwards, losslessness, proof."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from core import Shaping, Speculative, Trace, check, collect
from core.decoding.speculative.lookahead.window import (
    GuessWindow,
    NgramPool,
    first_levels,
    moved,
    parents_of,
    window_reach,
)
from core.decoding.speculative.measurement.baseline import target_only
from core.models.transformers_model import TransformersModel
from tests.decoding.speculative.speculations import ARCHITECTURES, scripted, target
from tests.decoding.speculative.test_exact import (
    TARGET,
    TARGET_OF_TWO,
    distance,
    enumerate_runs,
    exact_distribution,
)
from tests.depth import mostly_slow

GREEDY = Shaping(temperature=0.0)
# N-grams of 4 tokens, a window of 3 columns.
SMALL = Speculative(drafter="lookahead", draft_length=3, lookahead_window=3, lookahead_guesses=2)


def test_the_window_grows_a_level_a_round_and_then_moves_up() -> None:
    """The sizes are those of the authors' code: W + N - 3 guesses, then W - 1 and N - 2 times W."""
    levels = first_levels([5, 6], SMALL)
    assert levels == ((5, 6, 5, 6),) and window_reach(SMALL) == 4
    levels = moved(GuessWindow(levels, (11, 12, 13, 14)), [5, 6], SMALL, ())
    assert levels == ((6, 5, 6), (11, 12, 13, 14))
    levels = moved(GuessWindow(levels, (21, 22, 23, 24)), [5, 6], SMALL, ())
    assert levels == ((5, 6), (12, 13, 14), (22, 23, 24))
    window = GuessWindow(levels, (31, 32, 33))
    assert moved(window, [5, 6], SMALL, ()) == ((13, 14), (22, 23, 24), (31, 32, 33))
    # An end is replaced by a token of the prompt, as nothing follows an end.
    assert moved(window, [5, 6], SMALL, {32})[-1] == (31, 6, 33)
    assert window.size == 8 and window.reach == window_reach(SMALL)


def test_each_column_gives_an_n_gram_and_the_oldest_ones_go() -> None:
    pool, window = NgramPool(SMALL), GuessWindow(((5, 6), (12, 13, 14), (22, 23, 24)), (31, 32, 33))
    pool.gather(9, window)
    assert pool.after(9) == [(12, 22, 31)] and pool.after(5) == [(13, 23, 32)]
    assert pool.after(6) == [(14, 24, 33)] and pool.after(12) == []
    pool.gather(9, GuessWindow(((9, 6), (1, 2, 14), (1, 2, 24)), (1, 2, 33)))
    # The first column's comes first; the third one of token 9 drops the oldest.
    assert pool.after(9) == [(1, 1, 1), (2, 2, 2)] and pool.after(6) == [(14, 24, 33)]
    pool.gather(9, GuessWindow(((8, 6), (1, 2, 3), (1, 2, 3)), (1, 2, 3)))
    assert pool.after(9) == [(2, 2, 2), (1, 1, 1)], "an n-gram that comes again is the newest"
    pool.gather(7, GuessWindow(((5, 6, 5), (1, 2, 3, 4)), (1, 2, 3, 4)))
    assert pool.after(7) == [], "a window that isn't full gives none"


def test_a_column_follows_the_level_before_it() -> None:
    parents = parents_of(((5, 6), (12, 13, 14), (22, 23, 24)))
    assert parents == [-1, 0, -1, 0, 1, 2, 3, 4]


def _counting(tokens: int = 5):
    """The next token is one more, surely."""
    rows = [[float(at == (last + 1) % tokens) for at in range(tokens)] for last in range(tokens)]
    return scripted(*rows)


def test_a_sure_text_comes_n_tokens_a_round_once_the_window_is_full() -> None:
    config = replace(SMALL, max_new_tokens=19, shaping=GREEDY, lookahead_window=7)
    trace = collect(_counting(), [0, 1, 2, 3, 4], config)
    assert trace.token_ids == tuple(at % 5 for at in range(19))
    # Two rounds fill the window, the third gathers; each later one has 3 guesses and its own token.
    assert [len(step.token_ids) for step in trace.rounds] == [1, 1, 1, 4, 4, 4, 4]
    assert all(step.window is not None for step in trace.rounds)
    assert [outcome for outcome in check(trace, _counting()) if not outcome.passed] == []


def test_one_forward_a_round_reads_drafts_and_window() -> None:
    """The window's predictions equal those of a separate forward for each of its paths."""
    model, ids = target("llama"), [5, 9, 2, 77]
    model.eos_ids = frozenset()
    config = Speculative(max_new_tokens=24, drafter="lookahead", shaping=GREEDY)
    trace, compared = collect(model, ids, config), 0
    for step in trace.rounds:
        assert step.window is not None
        levels, predicted = step.window
        guesses, parents = [at for level in levels for at in level], parents_of(levels)
        context = model.start([*ids, *trace.token_ids[: step.start]])
        for place, token_id in enumerate(predicted, len(guesses) - len(predicted)):
            path, node = list[int](), place
            while node >= 0:
                path, node = [guesses[node], *path], parents[node]
            assert int(context.branch([0]).extend(path)[0, -1].argmax()) == token_id
            compared += 1
        held = 1 + len(step.drafted) + step.window.size
        assert step.target_cache.peak == step.target_cache.before + held
    assert compared > 100


@pytest.mark.parametrize("acceptance", ["speculative", "exact"])
@pytest.mark.parametrize("guesses", [1, 3])
def test_lookahead_loses_nothing(guesses, acceptance, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Speculative(
        draft_length=2,
        max_new_tokens=5,
        drafter="lookahead",
        lookahead_window=3,
        lookahead_guesses=guesses,
        acceptance=acceptance,
    )
    drafted: set[int] = set()

    def count(trace: Trace, _: float) -> None:
        drafted.update(len(step.drafted) for step in trace.rounds)

    model = scripted(*TARGET_OF_TWO)
    emitted = enumerate_runs(monkeypatch, model, None, config, count, prompt_ids=[1, 0])
    assert distance(emitted, exact_distribution(TARGET_OF_TWO, 5)) < 1e-5
    assert max(drafted) >= 2


def test_lookahead_with_an_end_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Speculative(draft_length=2, max_new_tokens=4, drafter="lookahead", lookahead_window=2)
    emitted = enumerate_runs(
        monkeypatch, scripted(*TARGET, eos=True), None, config, prompt_ids=[1, 2, 0]
    )
    assert distance(emitted, exact_distribution(TARGET, 4, end=0)) < 1e-5


@pytest.mark.parametrize("kind", mostly_slow(ARCHITECTURES, ("llama", "gpt2")))
def test_every_run_is_proved_and_greedy_equals_generate(kind: str) -> None:
    model = target(kind)
    for case in range(4):
        dice = random.Random(f"lookahead {kind} {case}")
        model.eos_ids = dice.choice([frozenset(), frozenset(range(5, 300, 40))])
        config = Speculative(
            max_new_tokens=24,
            drafter="lookahead",
            draft_length=dice.randint(2, 5),
            lookahead_window=dice.randint(1, 8),
            lookahead_guesses=dice.randint(1, 8),
            scoring=dice.choice(["multi_query", "batch_expansion"]),
            acceptance=dice.choice(["speculative", "exact", "typical"]),
            use_cache=case != 3,
            shaping=Shaping(temperature=0.0 if case % 2 else 0.7),
            seed=case,
        )
        prompt = [dice.randrange(1, 300) for _ in range(dice.randint(1, 9))]
        trace = collect(model, prompt, config)
        outcomes = check(trace, model)
        assert [outcome for outcome in outcomes if not outcome.passed] == []
        names = {outcome.name for outcome in outcomes}
        assert names >= {"lookahead_windows", "lookahead_windows_again", "lookahead_predictions"}
        if config.shaping.temperature == 0:
            assert trace.token_ids == collect(model, prompt, target_only(config)).token_ids
            assert "generate_greedy_tokens" in names


def test_the_window_ends_where_the_context_does() -> None:
    rows = [[float(at == (last + 1) % 5) for at in range(5)] for last in range(5)]
    model = scripted(*rows, context_window=16)
    config = replace(SMALL, max_new_tokens=30, shaping=GREEDY)
    trace = collect(model, [0, 1, 2], config)
    kept = [step.window is not None for step in trace.rounds]
    assert kept == sorted(kept, reverse=True) and set(kept) == {True, False}
    assert trace.token_ids == tuple((3 + n) % 5 for n in range(13))
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


FORGERIES = {
    "a guess": lambda window: window._replace(
        levels=(*window.levels[:-1], (window.levels[-1][0] + 1, *window.levels[-1][1:]))
    ),
    "a prediction": lambda window: window._replace(
        predicted=(window.predicted[0] + 1, *window.predicted[1:])
    ),
}
SHAPES = {
    "a level less": lambda window: window._replace(levels=window.levels[:-1]),
    "a level more": lambda window: window._replace(levels=(*window.levels, window.levels[-1])),
    "a longer level": lambda window: window._replace(
        levels=(window.levels[0], (*window.levels[1], 5), *window.levels[2:])
    ),
    "an empty last level": lambda window: window._replace(
        levels=(*window.levels[:-1], ()), predicted=()
    ),
    "one empty level": lambda _: GuessWindow(((),), ()),
    "a prediction more": lambda window: window._replace(predicted=(*window.predicted, 5)),
    "no prediction": lambda window: window._replace(predicted=()),
}
Change = Callable[[GuessWindow], GuessWindow]


def _run() -> tuple[Trace, TransformersModel]:
    model = target("llama")
    model.eos_ids = frozenset()
    config = Speculative(max_new_tokens=12, drafter="lookahead", shaping=GREEDY)
    return collect(model, [5, 9, 2, 77], config), model


def _with_window(trace: Trace, at: int, change: Change) -> Trace:
    step = trace.rounds[at]
    assert step.window is not None
    forged = replace(step, window=change(step.window))
    return replace(
        trace, steps=tuple(forged if each is step else each for each in trace.steps), checks=()
    )


def _failed(trace: Trace, *models: TransformersModel) -> list[str]:
    return [outcome.name for outcome in check(trace, *models) if not outcome.passed]


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_window_is_found(name: str) -> None:
    trace, model = _run()
    assert "lookahead_windows" in _failed(_with_window(trace, 6, FORGERIES[name]))
    # A window that is left out is no window that ended.
    assert _failed(_with_window(trace, 6, lambda _: None), model)


@pytest.mark.parametrize("at", [1, 6, -1])
@pytest.mark.parametrize("name", SHAPES)
def test_a_window_of_another_shape_is_the_only_fault(name: str, at: int) -> None:
    trace, model = _run()
    forged = _with_window(trace, at, SHAPES[name])
    assert _failed(forged) == _failed(forged, model) == ["rounds_whole"]


def test_rounds_that_follow_no_prompt_or_begin_elsewhere_are_the_only_fault() -> None:
    trace, model = _run()
    late = tuple(replace(step, start=step.start + 10**6) for step in trace.rounds)
    for forged in (
        replace(trace, prompt_ids=()),
        replace(trace, steps=(*trace.steps[: -len(late)], *late)),
        replace(trace, token_ids=trace.token_ids[:1]),
    ):
        assert _failed(forged) == _failed(forged, model) == ["rounds_whole"]


@pytest.mark.parametrize("part", ["levels", "predicted"])
def test_a_token_of_a_window_that_the_model_lacks_is_found(part: str) -> None:
    trace, model = _run()

    def change(window: GuessWindow) -> GuessWindow:
        if part == "predicted":
            return window._replace(predicted=(model.vocab_size, *window.predicted[1:]))
        first = (model.vocab_size, *window.levels[0][1:])
        return window._replace(levels=(first, *window.levels[1:]))

    forged = _with_window(trace, -1, change)
    assert _failed(forged, model) == [*_failed(forged), "fits_models"]


def test_a_window_beyond_the_context_is_found_and_not_read() -> None:
    """The model would refuse its tokens."""
    config = replace(SMALL, max_new_tokens=13, shaping=GREEDY)
    trace = collect(_counting(), [0, 1, 2], config)
    rows = [[float(at == (last + 1) % 5) for at in range(5)] for last in range(5)]
    failed = _failed(trace, scripted(*rows, context_window=16))
    assert failed == ["lookahead_windows_again"]


def test_a_last_prediction_that_no_round_reads_is_found_by_the_model() -> None:
    model = target("llama")
    model.eos_ids = frozenset()
    trace = collect(model, [5, 9, 2, 77], Speculative(max_new_tokens=12, drafter="lookahead"))
    step = trace.rounds[-1]
    assert step.window is not None
    forged = replace(step, window=FORGERIES["a prediction"](step.window))
    changed = replace(trace, steps=(*trace.steps[:-1], forged))
    assert [o.name for o in check(changed) if not o.passed] == []
    failed = [o.name for o in check(changed, model) if not o.passed]
    assert failed == ["lookahead_predictions"]


def test_the_windows_of_a_file_come_back(tmp_path) -> None:
    trace = collect(_counting(), [0, 1, 2], replace(SMALL, max_new_tokens=9))
    trace.save(tmp_path / "run.json")
    assert Trace.load(tmp_path / "run.json").rounds == trace.rounds
    assert all(first.start < second.start for first, second in pairwise(trace.rounds))
