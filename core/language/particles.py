"""Korean particles: a pair, such as 을(를), becomes the one that fits the sound before it."""

from __future__ import annotations

import re
from collections.abc import Callable

# Particles after a consonant and after a vowel, as the catalogue writes them.
_PAIRS = {
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
    "와(과)": ("과", "와"),
    "(으)": ("으", ""),
    "(이)": ("이", ""),
}
_PAIR = re.compile(r"(은\(는\)|이\(가\)|을\(를\)|과\(와\)|와\(과\)|\(으\)(?=로)|\(이\)(?=[가-힣]))")
# What isn't read: closing marks, markup, and words in brackets after a word.
_SILENT = re.compile(r"(?:[\s”’\"'`*」』]|</?\w+[^<>]*>|(?<=\S)\([^()]*\))+$")
_WORD = re.compile(r"[A-Za-z]+$")
_FIRST, _LAST, _FINALS, _RIEUL = ord("가"), ord("힣"), 28, 8
# Last sounds of 영, 일, 이, ... 구; 십, 백, 천, 만 and 억 end in a consonant like 영.
_DIGITS = dict(zip("0123456789", "ㅇㄹ ㅁ  ㄱㄹㄹ ", strict=True))
# Last sounds of letters' names that end in a consonant: 엘, 엠, 엔, 알.
_LETTERS = {"L": "ㄹ", "M": "ㅁ", "N": "ㄴ", "R": "ㄹ"}
# Last sounds of English words by their last letter; other letters are read in more than one way.
_ENDS = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ"} | dict.fromkeys("adfhijorsuvwxyz", " ")


def with_particles(template: str, filled: Callable[[str], str]) -> str:
    """Return a Korean template with its values and the particles that fit them.

    A pair stays as it is written after a value whose last sound isn't known.

    Args:
        filled: returns a piece of the template with its values.
    """
    done = ""
    for piece in _PAIR.split(template):
        done += _particle(piece, done) if piece in _PAIRS else filled(piece)
    return done


def _particle(pair: str, before: str) -> str:
    sound = last_sound(before)
    if not sound:
        return pair
    after_consonant, after_vowel = _PAIRS[pair]
    vowel = sound == " " or (sound == "ㄹ" and pair == "(으)")
    return after_vowel if vowel else after_consonant


def last_sound(text: str) -> str:
    """Return the consonant that ends a text as it is read in Korean.

    It is "ㄹ" or any other consonant, a space if the text ends in a vowel, and "" if the reading
    isn't known.
    """
    read = _SILENT.sub("", text)
    last = read[-1:]
    if last and _FIRST <= ord(last) <= _LAST:
        final = (ord(last) - _FIRST) % _FINALS
        return " " if final == 0 else "ㄹ" if final == _RIEUL else "ㅇ"
    if last == "%":
        return " "
    if word := _WORD.search(read):
        return _of_word(word[0])
    return _DIGITS.get(last, "")


def _of_word(word: str) -> str:
    if word[-1].isupper():
        return _LETTERS.get(word[-1], " ")
    return "ㅇ" if word.endswith("ng") else _ENDS.get(word[-1], "")
