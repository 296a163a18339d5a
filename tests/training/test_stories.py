import random
import re
from collections import Counter
from itertools import pairwise

import pytest

from training.corpus import stories
from training.corpus.stories import PLOTS, Story, count_sentences, make_story
from training.corpus.story import cast, frame

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
    found = [match[0] for story in told if (match := re.search(WRONG[name], story.text))]
    assert not found


def test_a_story_has_five_to_fifteen_sentences_and_simple_length(told: list[Story]) -> None:
    counts = Counter(count_sentences(story.text) for story in told)
    assert set(counts) <= set(range(5, 16))
    assert len(counts) >= 8
    words = sorted(len(story.text.split()) for story in told)
    assert words[0] >= 50
    assert words[-1] <= 200


def test_a_story_ends_and_every_quotation_is_closed(told: list[Story]) -> None:
    assert all(story.text.endswith((".", "!", '."', '!"')) for story in told)
    assert all(story.text.count('"') % 2 == 0 for story in told)


def test_half_of_the_stories_begin_in_the_two_best_known_ways(told: list[Story]) -> None:
    known = sum(story.text.startswith(("Once upon a time", "One day")) for story in told)
    assert 0.45 < known / len(told) < 0.65


def test_the_hero_is_named_at_once_and_again(told: list[Story]) -> None:
    for story in told:
        name = story.scene.slots["N"]
        sentences = re.split(r"(?<=[.!?]) ", story.text)
        assert name in " ".join(sentences[:2])
        assert len(re.findall(rf"\b{name}\b", story.text)) >= 2, story.text


def test_the_hero_stays_of_one_kind(told: list[Story]) -> None:
    for story in told:
        slots = story.scene.slots
        kinds = set(re.findall(rf"\b{slots['N']} the ([a-z]+)", story.text))
        assert kinds <= {slots["kind"]}
        assert slots["kind"] != slots["fkind"] or slots["kind"] in ("girl", "boy")


def test_only_the_named_characters_are_named(told: list[Story]) -> None:
    names = {*cast.GIRLS, *cast.BOYS}
    for story in told:
        found = names & set(re.findall(r"\w+", story.text))
        assert found <= {story.scene.slots["N"], story.scene.slots["F"]}, story.text


def test_a_story_of_one_person_has_the_pronouns_of_that_person(told: list[Story]) -> None:
    girl, boy = {"she", "her", "herself"}, {"he", "him", "his", "himself"}
    alone = [s for s in told if not s.scene.used & {"F", "elder"}]
    assert len(alone) > 100
    for story in alone:
        words = set(re.findall(r"[a-z]+", story.text.lower()))
        assert not words & (boy if story.scene.slots["he"] == "she" else girl), story.text


def test_two_stories_rarely_share_a_line(told: list[Story]) -> None:
    lines = [set(re.split(r'(?<=[.!?"]) (?=[A-Z"])', story.text)) for story in told]
    shares = [len(one & other) / len(one) for one, other in pairwise(lines)]
    assert sum(shares) / len(shares) < 0.01
    assert sum(share > 0 for share in shares) / len(shares) < 0.05


def test_there_are_hundreds_of_patterns_and_a_small_vocabulary(told: list[Story]) -> None:
    beats = [line for plot in PLOTS for line in plot.beats.splitlines() if len(line) > 4]
    shared = [*frame.ONCE, *frame.ONE_DAY, *frame.OTHER, *frame.HABITS, *frame.ENDINGS]
    assert len(PLOTS) >= 20
    assert len({*beats, *shared}) >= 800
    words = {word for story in told for word in re.findall(r"[a-z']+", story.text.lower())}
    assert len(words) < 2500
    assert len({*cast.GIRLS, *cast.BOYS}) >= 100


def test_a_seed_tells_its_story_again() -> None:
    assert stories.plain(random.Random(5)) == stories.plain(random.Random(5))
    assert stories.chat(random.Random(5)) == stories.chat(random.Random(5))
    assert stories.plain(random.Random(5)) != stories.plain(random.Random(6))


def test_a_chat_gets_the_story_it_asks_for() -> None:
    named = 0
    for seed in range(1700):
        messages = stories.chat(random.Random(seed))
        question, answer = (message.parts[0].text for message in messages[-2:])
        assert [message.role for message in messages[-2:]] == ["user", "assistant"]
        match = re.search(r"about an? (?:(\w+) )?(\w+) named (\w+)[.?!]?$", question, re.I)
        if match:
            named += 1
            told = answer.lower()
            assert all(word.lower() in told for word in match.groups() if word), (question, answer)
    assert named > 120


def test_one_sentence_is_one_sentence_where_the_system_asks_for_it() -> None:
    brief = 0
    for seed in range(1000):
        first, *_, last = stories.chat(random.Random(seed))
        if first.role == "system" and "one sentence" in first.parts[0].text:
            brief += 1
            text = re.sub(r'"[^"]*"', "", last.parts[0].text)
            assert len(re.findall(r"[.!?]", text)) <= 1
    assert brief > 100
