import random
import re

import pytest

from training.corpus import stories
from training.corpus.stories import Story, make_story
from training.corpus.story import cast

WRONG = {
    "a before a vowel": r"\b[Aa] (?!one\b|use)[aeiou]\w*",
    "a before a silent h": r"\b[Aa] (?:honest|hour)\b",
    "an before a consonant": r"\b[Aa]n (?!honest|hour)[^aeiou\s]\w*",
    "a double space": r"  ",
    "an unfilled slot": r"[{}\[\]|/?]\w*[{}\[\]|]|[{}\[\]|]",
    "a doubled word": r"\b(\w+) \1\b(?!,)",
    "a small letter after a full stop": r"[.!?] [a-z]",
    "two full stops": r"\.\.|[.!?]\"\.",
}


@pytest.fixture(scope="module")
def told() -> list[Story]:
    return [make_story(random.Random(seed)) for seed in range(2000)]


@pytest.mark.parametrize("name", WRONG)
def test_no_story_has(told: list[Story], name: str) -> None:
    assert not [match[0] for story in told if (match := re.search(WRONG[name], story.text))]


def test_a_story_keeps_its_characters_and_ends(told: list[Story]) -> None:
    names = {*cast.GIRLS, *cast.BOYS}
    for story in told:
        text, slots = story.text, story.scene.slots
        assert names & set(re.findall(r"\w+", text)) <= {slots["N"], slots["F"]}, text
        assert len(re.findall(rf"\b{slots['N']}\b", text)) >= 2, text
        assert set(re.findall(rf"\b{slots['N']} the ([a-z]+)", text)) <= {slots["kind"]}
        assert slots["kind"] != slots["fkind"] or slots["kind"] in ("girl", "boy")
        assert text.endswith((".", "!", '."', '!"')) and text.count('"') % 2 == 0


def test_a_story_of_one_person_has_the_pronouns_of_that_person(told: list[Story]) -> None:
    girl, boy = {"she", "her", "herself"}, {"he", "him", "his", "himself"}
    alone = [s for s in told if not s.scene.used & {"F", "elder"}]
    assert len(alone) > 100
    for story in alone:
        words = set(re.findall(r"[a-z]+", story.text.lower()))
        assert not words & (boy if story.scene.slots["he"] == "she" else girl), story.text


def test_a_chat_gets_the_story_it_asks_for() -> None:
    named = 0
    for seed in range(1700):
        messages = stories.chat(random.Random(seed))
        question, answer = (message.parts[0].text for message in messages[-2:])
        assert [message.role for message in messages[-2:]] == ["user", "assistant"]
        match = re.search(r"about an? (?:(\w+) )?(\w+) named (\w+)[.?!]?$", question, re.I)
        if match:
            named += 1
            story = answer.lower()
            assert all(word.lower() in story for word in match.groups() if word), (question, answer)
    assert named > 120


def test_one_sentence_is_one_sentence_where_the_system_asks_for_it() -> None:
    brief = 0
    for seed in range(1000):
        first, *_, last = stories.chat(random.Random(seed))
        if first.role == "system" and "one sentence" in first.parts[0].text:
            brief += 1
            assert len(re.findall(r"[.!?]", re.sub(r'"[^"]*"', "", last.parts[0].text))) <= 1
    assert brief > 100
