"""Forcing is exact to the token: scripted models whose every next token is known."""

from __future__ import annotations

import pytest
import torch

from core import (
    ConfigError,
    DecodingError,
    Reasoning,
    Sampling,
    Shaping,
    Trace,
    check,
    collect,
    read_trace,
)
from core.decoding.config import DRAW_METHODS
from core.decoding.loop.text import encode_plain
from core.decoding.reasoning.transcript import pieces_of, read_run
from core.decoding.reasoning.types import CalculatorCall
from core.decoding.shaping.draws import draw_noise
from core.models.scripted import END, ScriptedModel
from tests.evaluation.thinkers import (
    FAINT,
    ID,
    THINKS,
    TOKENS,
    following,
    special,
    thinker,
    written,
)
from tests.models.builders import random_language_model

PROMPT = [ID["q"]]


def run(model=None, prompt=PROMPT, **settings) -> Trace:
    """A run that passes its proof and survives the trace file."""
    model = model or thinker()
    trace = collect(model, prompt, Reasoning(wait_text="Wait,", **settings))
    assert [c for c in check(trace, model) if not c.passed] == []
    assert read_trace(trace.to_json().encode()) == trace
    return trace


def spent(trace: Trace) -> int:
    return read_run(pieces_of(trace.token_steps), trace.config).thinking_tokens


def test_a_budget_larger_than_the_thinking_changes_nothing() -> None:
    trace = run(max_thinking_tokens=100)
    assert written(trace) == "[<think>]abc</think>4.<end>"
    assert trace.finish_reason == "eos" and spent(trace) == 3
    assert [step.phase for step in trace.token_steps] == ["thinking"] * 5 + ["answer"] * 3
    assert [step.forced_as for step in trace.token_steps] == ["think_start", *[None] * 7]


@pytest.mark.parametrize(
    ("budget", "expected", "wanted"),
    [
        (0, "[<think>][</think>]4.<end>", "a"),
        (1, "[<think>]a[</think>]4.<end>", "b"),
        (2, "[<think>]ab[</think>]4.<end>", "c"),
    ],
)
def test_at_the_bound_the_closing_mark_takes_the_place_of_the_model_s_token(
    budget, expected, wanted
) -> None:
    trace = run(max_thinking_tokens=budget)
    assert written(trace) == expected and spent(trace) == budget
    closing = next(step for step in trace.token_steps if step.forced_as == "think_end")
    assert closing.index == 1 + budget and closing.instead_of == ID[wanted]
    assert closing.chosen.prob == 1 and closing.chosen.raw_prob == pytest.approx(FAINT)


def test_a_thinking_that_ends_at_the_bound_by_itself_is_not_forced() -> None:
    trace = run(max_thinking_tokens=3)
    assert written(trace) == "[<think>]abc</think>4.<end>"
    assert read_run(pieces_of(trace.token_steps), trace.config).closed_by_budget is False


@pytest.mark.parametrize(
    ("ignored", "budget", "expected"),
    [
        (1, 100, "[<think>]abc[Wait][,]bc</think>4.<end>"),
        (2, 100, "[<think>]abc[Wait][,]bc[Wait][,]bc</think>4.<end>"),
        (9, 9, "[<think>]abc[Wait][,]bc[Wait][,][</think>]4.<end>"),
        (9, 8, "[<think>]abc[Wait][,]bc</think>4.<end>"),
        (9, 5, "[<think>]abc[Wait][,][</think>]4.<end>"),
        (9, 4, "[<think>]abc</think>4.<end>"),
        (9, 3, "[<think>]abc</think>4.<end>"),
        (0, 100, "[<think>]abc</think>4.<end>"),
    ],
)
def test_the_first_attempts_to_stop_thinking_are_replaced_within_the_budget(
    ignored, budget, expected
) -> None:
    trace = run(max_thinking_tokens=budget, ignore_end=ignored)
    assert written(trace) == expected and spent(trace) <= budget
    waits = [step for step in trace.token_steps if step.forced_as == "wait"]
    replaced = [step.instead_of for step in waits if step.instead_of is not None]
    assert set(replaced) <= {ID["</think>"]}
    assert len(replaced) == expected.count("[Wait]")


def test_an_end_of_sequence_inside_the_thinking_ends_the_run_or_is_an_attempt_to_stop() -> None:
    model = thinker(b=END)
    assert written(run(model)) == "[<think>]ab<end>"
    trace = run(model, ignore_end=1)
    assert written(trace) == "[<think>]ab[Wait][,]b<end>"
    assert trace.token_steps[3].instead_of == ID[END]
    assert written(run(model, max_thinking_tokens=2)) == "[<think>]ab[</think>]4.<end>"


@pytest.mark.parametrize("most", range(1, 9))
def test_the_loop_s_own_bound_cuts_off_whatever_is_going_on(most) -> None:
    trace = run(max_new_tokens=most)
    whole = run().token_ids
    assert trace.token_ids == whole[:most]
    assert trace.finish_reason == ("length" if most < len(whole) else "eos")


def test_the_answer_has_a_bound_of_its_own() -> None:
    trace = run(max_answer_tokens=1)
    assert written(trace) == "[<think>]abc</think>4" and trace.finish_reason == "length"
    assert run(max_answer_tokens=3).finish_reason == "eos"


def test_stop_strings_act_in_the_answer_only() -> None:
    trace = run(stop_strings=("b", "4"))
    assert written(trace) == "[<think>]abc</think>4" and trace.finish_reason == "stop"
    # One that begins in the thinking is none: "c</think>4" has "c4" in it once marks are left out.
    assert run(stop_strings=("c4",)).finish_reason == "eos"


def test_a_prompt_may_open_the_thinking_or_close_it() -> None:
    opened = run(prompt=[*PROMPT, ID["<think>"]], max_thinking_tokens=2)
    assert written(opened) == "ab[</think>]4.<end>" and spent(opened) == 2
    closed = run(prompt=[*PROMPT, ID["<think>"], ID["</think>"]])
    assert written(closed) == "4.<end>"
    assert {step.phase for step in closed.token_steps} == {"answer"}


def test_without_marks_a_run_is_an_answer() -> None:
    trace = run(think_start="", think_end="")
    assert written(trace) == "4.<end>" and spent(trace) == 0


def test_marks_may_be_texts_of_several_tokens_that_the_model_is_told_to_write() -> None:
    marks = {"think_start": "", "think_end": "cd"}
    model = following({**THINKS, "q": "a", "c": "d", "d": "4"})
    trace = run(model, **marks)
    assert written(trace) == "abcd4.<end>" and trace.token_steps[3].phase == "thinking"
    reading = read_run(pieces_of(trace.token_steps), trace.config)
    assert (reading.thinking, reading.answer) == ("ab", "4.")
    forced = run(model, max_thinking_tokens=1, **marks)
    assert written(forced) == "a[c][d]4.<end>"
    assert [step.forced_as for step in forced.token_steps[1:3]] == ["think_end"] * 2


CALLS = {
    **THINKS,
    "q": "<call>",
    "<call>": "8",
    "8": "*",
    "*": "2",
    "2": "<result>",
    "<result>": "0",
    "0": ".",
    "</result>": "4",
}
ANSWERS = {"think_start": "", "think_end": ""}


def test_a_call_gets_its_result_put_in_and_the_model_goes_on() -> None:
    model = following({**CALLS, "*": "1"} | {"1": "<result>"})
    trace = run(model, calculator=True, **ANSWERS)
    assert written(trace) == "<call>8*1<result>[8][</result>]4.<end>"
    reading = read_run(pieces_of(trace.token_steps), trace.config)
    assert reading.calls == (CalculatorCall("8*1", "8", 0, 6),)
    assert [step.forced_as for step in trace.token_steps[5:7]] == ["result", "result"]
    assert {step.draw.method for step in trace.token_steps[5:7]} == {"forced"}


def test_a_call_and_its_result_stay_apart_where_their_marks_are_special_tokens() -> None:
    model = special(following({**CALLS, "*": "1", "1": "<result>", "</result>": "2", "2": "."}))
    trace = run(model, calculator=True, **ANSWERS)
    assert trace.text == "8*182."
    reading = read_run(pieces_of(trace.token_steps), trace.config)
    assert reading.answer == "<call>8*1<result>8</result>2."
    assert reading.calls == (CalculatorCall("8*1", "8", 0, 6),)


def test_a_stray_result_mark_after_an_answered_call_gets_no_second_result() -> None:
    model = following({**CALLS, "*": "1", "1": "<result>", "</result>": "<result>"})
    trace = run(model, calculator=True, **ANSWERS)
    assert written(trace) == "<call>8*1<result>[8][</result>]<result>0.<end>"
    assert read_run(pieces_of(trace.token_steps), trace.config).calls == (
        CalculatorCall("8*1", "8", 0, 6),
    )


def test_without_the_calculator_the_model_makes_up_the_result() -> None:
    trace = run(following(CALLS), **ANSWERS)
    assert written(trace) == "<call>8*2<result>0.<end>"
    assert read_run(pieces_of(trace.token_steps), trace.config).calls == ()


def test_a_call_without_a_value_gives_an_error() -> None:
    model = following({**CALLS, "8": "/", "/": "0", "0": "<result>"})
    trace = run(model, calculator=True, **ANSWERS)
    assert written(trace) == "<call>8/0<result>[error][</result>]4.<end>"


def test_a_budget_cuts_a_result_too() -> None:
    model = following({**CALLS, "<think>": "<call>", "*": "1", "1": "<result>", "</think>": "."})
    whole = run(model, calculator=True, max_thinking_tokens=7)
    assert written(whole).startswith("[<think>]<call>8*1<result>[8][</result>][</think>]")
    trace = run(model, calculator=True, max_thinking_tokens=6)
    assert written(trace) == "[<think>]<call>8*1<result>[8][</think>].<end>"


@pytest.mark.parametrize("draw", DRAW_METHODS)
def test_drawn_runs_pass_their_proof_with_waits_and_bounds(draw) -> None:
    even = {token: {"a": 0.3, "b": 0.3, "</think>": 0.3, "d": 0.1} for token in "ab,"}
    model = following({**THINKS, **even, "d": "a", "4": {"4": 0.5, ".": 0.5}})
    shaping = Shaping(temperature=1.3, top_p=0.95)
    lengths = set()
    for seed in range(12):
        trace = run(
            model,
            max_thinking_tokens=12,
            ignore_end=1,
            do_sample=True,
            seed=seed,
            draw=draw,
            shaping=shaping,
        )
        lengths.add(spent(trace))
        assert spent(trace) <= 12
    assert len(lengths) > 3


def test_a_forced_token_throws_no_dice_unless_it_takes_a_picked_one_s_place() -> None:
    trace = run(do_sample=True, seed=5, max_thinking_tokens=2)
    generator = torch.Generator().manual_seed(5)
    for step in trace.token_steps:
        if step.forced_as == "think_start":
            assert step.draw.method == "forced" and step.draw.uniform is None
        else:
            assert step.draw.uniform == float(draw_noise("inverse_cdf", generator, 0))


def test_what_the_model_chooses_is_what_sampling_would_choose() -> None:
    model = random_language_model("llama")
    ids = model.encode("the fox had a hat")
    settings = {"seed": 3, "shaping": Shaping(temperature=0.9, top_k=20)}
    plain = collect(model, ids, Sampling(max_new_tokens=9, **settings))
    reasoned = collect(
        model,
        ids,
        Reasoning(max_new_tokens=9, think_start="", think_end="", do_sample=True, **settings),
    )
    assert reasoned.token_ids == plain.token_ids
    assert [s.candidates for s in reasoned.token_steps] == [s.candidates for s in plain.token_steps]


def test_forced_text_has_no_special_tokens_of_a_prompt() -> None:
    class Framed:
        """A tokenizer that puts 7 before a prompt and 9 after it."""

        def encode(self, text: str) -> list[int]:
            return [7, *(ord(char) for char in text), 9]

    assert encode_plain(Framed(), "ab") == [97, 98]
    assert encode_plain(thinker(), "Wait,") == [ID["Wait"], ID[","]]


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"max_thinking_tokens": -1}, "max_thinking_tokens"),
        ({"max_thinking_tokens": True}, "max_thinking_tokens"),
        ({"max_answer_tokens": 0}, "max_answer_tokens"),
        ({"ignore_end": 101}, "ignore_end"),
        ({"wait_text": ""}, "wait_text"),
        ({"wait_text": "x</think>"}, "wait_text"),
        ({"think_end": ""}, "think_end"),
        ({"think_start": "\ud800"}, "think_start"),
        ({"think_end": "x" * 2000}, "1,000"),
        ({"calculator": 1}, "calculator"),
        ({"draw": "dice"}, "draw"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused_with_their_name(settings, word) -> None:
    with pytest.raises(ConfigError, match=word):
        Reasoning(**settings)


def test_a_mark_that_the_tokenizer_can_t_write_is_named() -> None:
    class Mute:
        """A tokenizer that knows no text."""

        def __getattr__(self, name):
            return getattr(thinker(), name)

        def encode(self, _text: str) -> list[int]:
            return []

    with pytest.raises(ConfigError, match="think_end has no tokens"):
        list(collect(Mute(), PROMPT, Reasoning()))


def test_a_token_that_the_model_rules_out_can_t_be_forced() -> None:
    certain = [1.0] + [0.0] * (len(TOKENS) - 1)
    with pytest.raises(DecodingError, match="rules out the token '<think>'"):
        collect(ScriptedModel({(): certain}, tokens=TOKENS), PROMPT, Reasoning())
