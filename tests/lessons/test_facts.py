"""Facts of runs, by arithmetic on scripted models, and the sentences that hold them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core import collect
from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.beam.config import BeamSearch
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import Shaping
from core.decoding.speculative.config import Speculative
from core.evaluation.example import load_example
from core.figures.base.labels import NBSP
from core.lessons.facts import FACTS, chance, percent
from core.lessons.finding import PageFacts
from core.lessons.sentences import filled, first_missing, right_choice, values
from core.lessons.types import FactValue, GuessChoice, GuessQuestion, LessonStep, Target
from core.models.scripted import ScriptedModel

ROOT = Path(__file__).parents[2]
TOKENS = ("<end>", "a", " b", " c", " d")
# After the prompt " b" has 0.6; after " b" the end 0.5; after " c" the end 0.9.
SCRIPT = {
    (1,): [0.0, 0.0, 0.6, 0.4, 0.0],
    (2,): [0.5, 0.0, 0.0, 0.3, 0.2],
    (3,): [0.9, 0.0, 0.1, 0.0, 0.0],
    (): [1.0, 0.0, 0.0, 0.0, 0.0],
}


def model() -> ScriptedModel:
    return ScriptedModel(SCRIPT, tokens=TOKENS)


def fact(name: str, *runs: Trace, selected: int = 0) -> FactValue:
    return FACTS[name].find(PageFacts(runs, selected))


def greedy() -> Trace:
    return collect(model(), "a", Greedy(max_new_tokens=3))


def test_the_step_the_run_and_its_probability() -> None:
    run = greedy()
    assert (fact("first_token", run), fact("likeliest_first", run)) == ("b", "b")
    assert fact("first_probability", run) == pytest.approx(0.6)
    assert (fact("second_token", run), fact("token_rank", run)) == ("c", 1)
    assert fact("second_probability", run) == pytest.approx(0.4)
    assert (fact("tokens", run), fact("text", run)) == (2, " b".strip())
    assert fact("log_probability", run) == pytest.approx(math.log(0.6 * 0.5))
    assert fact("mean_surprisal", run) == pytest.approx(-math.log(0.3) / 2)
    assert fact("perplexity", run) == pytest.approx(0.3**-0.5)
    assert fact("first_guesses", run) == 1
    assert fact("token", run, selected=1) == "<end>"
    assert fact("surprising_probability", run) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("tokens", "text", "words"),
    [
        (("\n", "<think>", "84", ".", "</think>", "The", " end"), "\n84.The end", "84. The end"),
        ((" a", " b", "<end>"), " a b", "a b"),
        # A character of two tokens, and a text that a stop string has cut.
        (("\ufffd", "\ufffd"), "é", "é"),
        ((" a", " b\n"), " a b", "a b"),
    ],
)
def test_a_text_has_a_space_where_it_leaves_out_a_mark(
    tokens: tuple[str, ...], text: str, words: str
) -> None:
    steps = [SimpleNamespace(chosen=SimpleNamespace(text=token)) for token in tokens]
    run: Any = SimpleNamespace(text=text, token_steps=steps)
    for name in ("left_text", "right_text", "text"):
        assert fact(name, run, run) == words


def test_the_dice_and_the_cuts() -> None:
    shaping = Shaping(temperature=1.0, top_k=1)
    cut = collect(model(), "a", Sampling(max_new_tokens=1, seed=3, shaping=shaping))
    assert (fact("kept", cut), fact("token_final", cut)) == (1, pytest.approx(1))
    assert fact("top_final", cut) == pytest.approx(1)
    run = collect(model(), "a", Sampling(max_new_tokens=1, seed=3, shaping=Shaping()))
    low, die, high = (float(fact(name, run)) for name in ("die_from", "die", "die_to"))
    assert low <= die < high
    assert high - low == pytest.approx(float(fact("token_final", run)))


def test_beam_search_finds_the_likelier_text_and_sends_more_texts_through_the_model() -> None:
    run = collect(model(), "a", BeamSearch(num_beams=2, max_new_tokens=3))
    assert fact("text", run) == "c"
    assert fact("log_probability", run) == pytest.approx(math.log(0.4 * 0.9), abs=1e-5)
    assert fact("beams", run) == 2
    assert fact("best_log", run) == pytest.approx(math.log(0.4 * 0.9), abs=1e-5)
    assert FACTS["best_log"].words(fact("best_log", run)) == "−1.02"
    # One pass for the prompt, then two texts for each further step.
    assert fact("beam_forwards", run) == 1 + 2 * (len(run.beam_steps) - 1)


def test_an_infinite_log_probability_has_words() -> None:
    assert FACTS["log_probability"].words(-math.inf) == "−inf"
    assert (chance(math.inf), chance(0.5)) == ("100\u00a0%", "100\u00a0%")


def test_a_full_stop_after_a_quoted_sentence_is_not_doubled() -> None:
    assert filled("It wrote {text}. Yes.", {"text": "A cow."}, {}) == "It wrote “A cow.” Yes."
    assert filled("It wrote {text}.", {"text": "a cow"}, {}) == "It wrote “a cow”."


def test_rounds_of_speculation() -> None:
    config = Speculative(max_new_tokens=2, draft_length=2, shaping=Shaping(temperature=0.0))
    run = collect(model(), "a", config, draft=model())
    assert fact("rounds", run) == len(run.rounds)
    assert fact("target_forwards", run) == 1 + len(run.rounds)
    assert fact("drafted", run) == fact("accepted", run)
    assert fact("first_drafted", run) == len(run.rounds[0].drafted) == fact("first_accepted", run)


def test_the_prompt_is_guessed_at_every_position() -> None:
    run = collect(model(), [1, 3, 2], Greedy(max_new_tokens=1))
    # After "a" it expects " b" (there stands " c"), after " c" the end (there stands " b").
    assert fact("prompt_guesses", run) == "b <end>"
    assert (fact("prompt_hits", run), fact("prompt_asked", run)) == (0, 2)
    assert fact("prompt_tokens", run) == 3


def test_thinking_and_its_answer() -> None:
    example = load_example(ROOT / "assets/traces/reasoning.json")
    assert fact("answer", example.run) == fact("right_answer", example.run) == "117"
    assert fact("outcome", example.run) == "correct"
    thought = sum(step.phase == "thinking" for step in example.run.token_steps)
    assert 0 < int(fact("thinking_tokens", example.run)) <= thought


def test_two_runs() -> None:
    left, right = greedy(), collect(model(), "a", BeamSearch(num_beams=2, max_new_tokens=3))
    assert fact("parts_at", left, right) == 1 and fact("parts_at", left, left) == 0
    assert (fact("left_text", left, right), fact("right_text", left, right)) == ("b", "c")
    assert fact("left_prompt_tokens", left, right) == fact("right_prompt_tokens", left, right) == 1


def test_the_lab_shows_its_own_step() -> None:
    run = greedy()
    assert FACTS["token"].find(PageFacts((), 0, run)) == "b"


@pytest.mark.parametrize("name", FACTS)
def test_no_fact_is_made_up_where_there_is_no_run(name: str) -> None:
    with pytest.raises(LookupError):
        FACTS[name].find(PageFacts())


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.341, "34.1 %"), (0.0, "0 %"), (1.0, "100 %"), (0.9996, "> 99.9 %"), (0.0012, "0.12 %")],
)
def test_shares_in_percent_as_the_figures_write_them(share: float, words: str) -> None:
    assert percent(share).replace(NBSP, " ") == words


@pytest.mark.parametrize(
    ("probability", "words"),
    [(0.3, "30.0 %"), (1 / 3318, "1 in 3,300"), (1 / 25, "1 in 25"),
     (1e-9 * 0.99, "1 in a number with 10 digits")],
)  # fmt: skip
def test_chances(probability: float, words: str) -> None:
    assert chance(math.log(probability)).replace(NBSP, " ") == words


def test_a_sentence_holds_what_was_before_what_is_now_and_the_change() -> None:
    step = LessonStep("s", reveal="{before.text} {text} {change.text} {change.log_probability}")
    before: dict[str, FactValue] = {"text": "x", "log_probability": -2.0}
    now: dict[str, FactValue] = {"text": "y", "log_probability": -1.0}
    assert first_missing(step, now, before) == ""
    assert filled(step.reveal, now, before) == "“x” “y” other up"
    assert first_missing(step, {}, before) == "text"
    assert filled("{text}{change.text}", {}, before) == "……"


def test_the_run_says_which_choice_is_right() -> None:
    ask = GuessQuestion(
        "Q", "first_accepted",
        (GuessChoice("none", 0.0), GuessChoice("some", None, 1, 2),
         GuessChoice("more", otherwise=True)),
    )  # fmt: skip
    assert [right_choice(ask, {"first_accepted": n}, {}) for n in (0, 2, 5)] == [0, 1, 2]
    assert right_choice(ask, {}, {}) is None
    words = GuessQuestion(
        "Q", "first_token", (GuessChoice("Girl", "Girl"), GuessChoice("boy", "boy"))
    )
    assert [right_choice(words, {"first_token": t}, {}) for t in ("girl", "dog")] == [0, None]


def test_a_moved_control_reaches_its_value() -> None:
    assert Target(">=", "1.5").reached("1.5") and not Target(">=", "1.5").reached("1.4")
    assert Target("<=", "0.5").reached("0.25")
    assert Target("is", "vllm").reached("vllm") and not Target("is", "0").reached("1")


def test_values_are_those_that_the_step_names() -> None:
    step = LessonStep("{tokens}", reveal="{before.text}")
    assert values(step, PageFacts((greedy(),))) == {"tokens": 2, "text": "b"}
    assert json.dumps(values(step, PageFacts())) == "{}"
