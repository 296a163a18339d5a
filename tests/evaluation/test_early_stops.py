"""Stopping a thinking after each of its steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core import Greedy, Reasoning, collect
from core.decoding.errors import TraceError
from core.evaluation.early_stops import stop_strip, stopping_places
from core.evaluation.types import Problem, StopPoint, StopStrip
from core.models.scripted import END, ScriptedModel
from tests.evaluation.thinkers import ID as THINKER_ID
from tests.evaluation.thinkers import THINKS, following

TOKENS = (END, "<think>", "</think>", "q", "7 + 5", " = 12", ".", " 12", " * 3", " = 36", "3.5",
          "36", "12", "5", "\n")  # fmt: skip
ID = {token: at for at, token in enumerate(TOKENS)}
THOUGHT = ["7 + 5", " = 12", ".", " 12", " * 3", " = 36", "."]
PROBLEM = Problem("k", "q", "36")


def script(ids: tuple[int, ...]) -> list[float]:
    """Thinks THOUGHT, then answers the last result that it has seen, else 5."""
    words = [TOKENS[token] for token in ids]
    if "</think>" not in words:
        place = len(words) - words.index("<think>") - 1 if "<think>" in words else 0
        return _row([*THOUGHT, "</think>"][min(place, len(THOUGHT))])
    answer = "36" if " = 36" in words else "12" if " = 12" in words else "5"
    after = words[words.index("</think>") + 1 :]
    return _row({0: answer, 1: "."}.get(len(after), END))


def _row(token: str) -> list[float]:
    faint = 1e-7
    return [
        1 - faint * (len(TOKENS) - 1) if token_text == token else faint for token_text in TOKENS
    ]


MODEL = ScriptedModel(script, tokens=TOKENS)


def test_the_strip_asks_before_the_first_step_and_after_each() -> None:
    strip = stop_strip(MODEL, PROBLEM, collect(MODEL, "q", Reasoning()))
    assert [point.piece for point in strip.points] == ["", "7 + 5 = 12.", " 12 * 3 = 36."]
    assert [point.tokens for point in strip.points] == [0, 3, 7]
    assert [point.answer for point in strip.points] == ["5", "12", "36"]
    assert [point.outcome for point in strip.points] == ["wrong", "wrong", "correct"]
    assert strip.points[-1].thinking == "7 + 5 = 12. 12 * 3 = 36." and strip.knew_at == 2


@pytest.mark.parametrize("budget", range(9))
def test_each_point_answers_as_a_run_with_that_budget(budget) -> None:
    trace = collect(MODEL, "q", Reasoning(max_thinking_tokens=budget))
    last = stop_strip(MODEL, PROBLEM, trace).points[-1]
    whole = collect(MODEL, "q", Reasoning())
    assert last.tokens == min(budget, 7)
    for point in stop_strip(MODEL, PROBLEM, whole).points:
        if point.tokens == last.tokens:
            assert point == replace(last, piece=point.piece)
    answer = "".join(step.text for step in trace.token_steps if step.phase == "answer")
    assert last.answer_text == answer


@pytest.mark.parametrize("after", [1, 2])
def test_a_strip_that_is_stopped_holds_the_points_that_have_their_answer(after) -> None:
    trace, calls = collect(MODEL, "q", Reasoning()), []
    whole = stop_strip(MODEL, PROBLEM, trace).points

    def stop() -> bool:
        calls.append(True)
        return len(calls) == after

    strip = stop_strip(MODEL, PROBLEM, trace, should_stop=stop)
    assert len(calls) == after and set(strip.points) < set(whole)
    # The run's own answer needs no forward.
    assert strip.points[-1] == whole[-1]


def test_a_closing_mark_of_several_tokens_is_no_thinking() -> None:
    config = Reasoning(think_start="", think_end="cd")
    model = following({**THINKS, "q": "a", "c": "d", "d": "4"})
    strip = stop_strip(model, PROBLEM, collect(model, [THINKER_ID["q"]], config))
    assert [(point.tokens, point.thinking) for point in strip.points] == [(0, ""), (2, "ab")]


def test_the_last_answer_is_the_run_s_own_where_it_has_one() -> None:
    model = following({**THINKS, "</think>": {"4": 0.6, "2": 0.4}, "2": "."})
    drawn, ids = Reasoning(do_sample=True), [THINKER_ID["q"]]
    answers = set()
    for seed in range(6):
        strip = stop_strip(model, PROBLEM, collect(model, ids, replace(drawn, seed=seed)))
        assert strip.own_end and [point.answer for point in strip.points[:-1]] == ["4"]
        answers.add(strip.points[-1].answer)
    assert answers == {"4", "2"}
    cut = stop_strip(model, PROBLEM, collect(model, ids, replace(drawn, max_new_tokens=3)))
    assert not cut.own_end and cut.points[-1].answer == "4"


def test_a_decimal_point_ends_no_step_and_a_line_does() -> None:
    config = Reasoning()

    def places(*words: str) -> list[int]:
        rows = {(): _row(END), (ID["q"],): _row("<think>")}
        for before, after in zip(("<think>", *words), (*words, "</think>"), strict=True):
            rows[(ID[before],)] = _row(after)
        trace = collect(ScriptedModel(rows, tokens=TOKENS), "q", config)
        return stopping_places(trace.token_steps, config)[1]

    assert places("3.5", " = 12", ".") == [1, 4]
    assert places("5", ".", "36") == [1, 4]
    assert places("5", ".", " 12") == [1, 3, 4]
    assert places("5", "\n", "36") == [1, 3, 4]


def test_only_a_run_that_thinks_between_marks_can_be_stopped() -> None:
    with pytest.raises(TraceError, match="a trace of greedy, not of reasoning"):
        stop_strip(MODEL, PROBLEM, collect(MODEL, "q", Greedy(max_new_tokens=2)))
    with pytest.raises(TraceError, match="between marks"):
        stop_strip(MODEL, PROBLEM, collect(MODEL, "q", Reasoning(think_start="", think_end="")))


def test_it_knew_from_the_first_point_after_which_all_are_right() -> None:
    def knew(*outcomes: str) -> int | None:
        points = [StopPoint(at, "", "", "", None, outcome) for at, outcome in enumerate(outcomes)]
        return StopStrip(PROBLEM, tuple(points)).knew_at

    assert knew("wrong", "correct", "wrong", "correct", "correct") == 3
    assert knew("correct", "correct") == 0
    assert knew("correct", "unparsable") is None
    assert knew() is None
