"""The reader of lessons: bounds, hostile YAML, and one sentence with its place for each fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.decoding.errors import LessonError
from core.lessons.read import MAX_BYTES, MAX_STEPS, MAX_WORDS, read_lesson
from core.lessons.types import GuessChoice, Lesson, Target

ROOT = Path(__file__).parents[2]
HEAD = "title: T\nminutes: 5\nsummary: S\nsteps:\n"
FIRST = "  - {page: decode, say: Look}\n"
ASK = "{question: Q, fact: first_token, choices: [{words: a, is: a}, {words: b, otherwise: true}]}"


def lesson(steps: str, head: str = HEAD) -> Lesson:
    return read_lesson((head + steps).encode(), "test")


def refused(steps: str, head: str = HEAD) -> str:
    with pytest.raises(LessonError) as found:
        lesson(steps, head)
    return str(found.value)


def test_a_step_has_its_page_its_controls_and_its_question() -> None:
    read = lesson(
        "  - page: sampling\n"
        "    set: {temperature: 0.5, chat: true, prompt: Once, seed: 7}\n"
        "    say: Look\n      here.\n"
        "    ask: {question: Q, fact: change.token, choices: [{words: a, is: same},"
        " {words: b, least: 1, most: 2}]}\n"
        "    do: Move it.\n    point: temperature\n    wait: move\n    to: '>= 1.5'\n"
        "    reveal: '{before.token} {token}'\n"
    )
    step = read.steps[0]
    assert step.settings == (("temperature", "0.5"), ("chat", "true"), ("prompt", "Once"),
                             ("seed", "7"))  # fmt: skip
    assert step.say == "Look here." and step.to == Target(">=", "1.5")
    assert step.ask is not None
    assert step.ask.choices == (GuessChoice("a", "same"), GuessChoice("b", None, 1.0, 2.0))


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("  - {say: Look}\n", "Step 1 needs a page"),
        ("  - {page: decode}\n", "Step 1: say must be a text"),
        (FIRST + "  - {say: ''}\n", "Step 2: say must be a text"),
        (FIRST + f"  - {{say: {'x' * (MAX_WORDS + 1)}}}\n", "Step 2: say must be a text"),
        ('  - {page: decode, say: "a\\u202eb"}\n', "without control characters"),
        ("  - {page: ../etc, say: a}\n", "the path of a page"),
        ("  - {page: decode, say: a, points: b}\n", "Step 1 has no field 'points'"),
        ("  - {page: decode, say: a, point: 'x} *{'}\n", "the name of a control"),
        ("  - {page: decode, say: a, wait: sleep}\n", "one of run, move, select"),
        ("  - {page: decode, say: a, wait: move}\n", "wait: move needs point"),
        ("  - {page: decode, say: a, to: 3}\n", "to needs wait: move"),
        (FIRST + "  - {say: a, set: {seed: 1}}\n", "Step 2: set needs page"),
        ("  - {page: decode, say: a, set: {seed: [1]}}\n", "seed must be a text, a number"),
        ("  - {page: decode, say: a, set: {'a b': 1}}\n", "is no control's name"),
        ("  - {page: decode, say: a, reveal: '{textt}'}\n", "Step 1 names the fact 'textt'"),
        ("  - {page: decode, say: a, reveal: 'It is {text'}\n", "Step 1 has a brace without"),
        ("  - {page: decode, say: a, reveal: '{after.text}'}\n", "'after.text'"),
        ("  - {page: decode, say: a, ask: {question: Q, fact: x, choices: []}}\n", "Step 1: ask"),
        (
            "  - {page: decode, say: a, ask: {question: Q, fact: text, choices: [{words: a}, "
            "{words: b, is: c}]}}\n",
            "Step 1: ask, choice 1 needs one of is",
        ),
        (
            "  - {page: decode, say: a, ask: {question: Q, fact: text, choices: [{words: a, "
            "is: b, otherwise: true}, {words: b, is: c}]}}\n",
            "choice 1 needs one of is",
        ),
        (
            "  - {page: decode, say: a, ask: {question: Q, fact: text, choices: [{words: a, "
            "is: c}]}}\n",
            "two choices or more",
        ),
        *(
            (
                "  - {page: decode, say: a, ask: {question: Q, fact: tokens, choices: [{words: a, "
                f"{one}}}, {{words: b, is: -5}}, {{words: c, {other}}}]}}}}\n",
                "Step 1: ask has two choices that can both be right: 1 and 3.",
            )
            for one, other in (
                ("is: 3", "is: 3.0"),
                ("is: x", "is: ' X'"),
                ("is: 3", "least: 1, most: 3"),
                ("least: 3", "is: 4"),
                ("least: 1, most: 3", "least: 3"),
                ("least: 0", "least: 9"),
                ("otherwise: true", "otherwise: true"),
            )
        ),
        (
            "  - {page: decode, say: a, ask: {question: Q, fact: greedy_loses, choices: [{words: "
            "'Yes', is: yes}, {words: b, otherwise: true}]}}\n",
            "choice 1: is is read as true: put yes, no",
        ),
        ("  - {page: decode, say: No}\n", "say is read as false"),
        ("  []\n", f"a list of 1 to {MAX_STEPS} items"),
        (FIRST * (MAX_STEPS + 1), f"a list of 1 to {MAX_STEPS} items"),
        ("  - Look\n", "Step 1 must be an object"),
    ],
)
def test_each_fault_is_a_sentence_with_its_place(steps: str, words: str) -> None:
    said = refused(steps)
    assert words in said and said.endswith(".") and said.isprintable() and len(said) < 400


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"- 1", "The lesson must be an object"),
        (b"title: [", "is not YAML"),
        (b"a: &a [1]\nb: [*a, *a]", "holds an alias"),
        (b"!!python/object/apply:os.system [ls]", "is not YAML"),
        (b"[" * 50_000, "nested deeper"),
        (b"a: 1" + b":1" * 30_000, "without quotes"),
        (b"\xff\xfe\x00", "is not YAML"),
        (b"x" * (MAX_BYTES + 1), "larger than the 0.1 MB"),
        (b"title: T\nminutes: 0\nsummary: S\nsteps:\n" + FIRST.encode(), "minutes must be"),
        (b"title: T\nminutes: true\nsummary: S\nsteps:\n" + FIRST.encode(), "minutes must be"),
        (b"title: 7\nminutes: 5\nsummary: S\nsteps:\n" + FIRST.encode(), "title must be a text"),
    ],
)
def test_hostile_and_broken_files_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(LessonError, match=words):
        read_lesson(data, "test")


def test_a_word_reaches_no_bound() -> None:
    assert Target(">=", "1.5").reached("2") and not Target(">=", "1.5").reached("two")


def test_markup_stays_text() -> None:
    read = lesson("  - {page: decode, say: '<b>x</b> ![](http://a/b) **c**'}\n")
    assert read.steps[0].say == "<b>x</b> ![](http://a/b) **c**"


def test_a_section_begins_at_the_step_before_it_that_has_a_page() -> None:
    read = lesson(
        FIRST + "  - {say: b}\n" + FIRST + "  - {say: d}\n" + f"  - {{say: e, ask: {ASK}}}\n"
    )
    assert [read.begins(at) for at in range(5)] == [0, 0, 2, 2, 2]
    assert list(read.questions) == [4]
