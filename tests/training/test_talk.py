"""Small talk gets one sentence, and what lies outside the model's world gets no answer."""

import random
import re

from training.corpus import talk, words_talk
from training.evaluation.written import _CHECKS, sentences


def test_every_answer_passes_the_check_of_its_kind() -> None:
    for kind, (lines, answers) in words_talk.TALK.items():
        assert len(set(lines.splitlines())) >= 40, kind
        for answer in answers:
            assert _CHECKS[kind](answer.replace("{able}", words_talk.ABLE)), answer
    for answer in words_talk.UNKNOWN:
        text = answer.replace("{able}", words_talk.ABLE)
        assert _CHECKS["outside"](text) and len(sentences(text)) == 1


def test_every_pattern_has_its_slots_and_all_slots_are_used() -> None:
    slots = set(re.findall(r"{(\w+)}", " ".join(words_talk.OUTSIDE)))
    assert slots == {*talk.SLOTS, "gibberish", "gibberish2"}
    rng = random.Random(1)
    for _ in range(3000):
        text, answer = talk.make(rng)
        assert text and not re.search(r"[{}\[\]|@]", text), text
        assert "{" not in answer


def test_japanese_and_korean_are_answered_in_their_language() -> None:
    rng = random.Random(2)
    for _ in range(1000):
        text, answer = talk.make(rng)
        foreign = re.search(r"[\u3041-\u30ff\uac00-\ud7a3]", text)
        assert bool(foreign) == (not answer.isascii()) or re.search(r"[\u4e00-\u9fff]", text)
