"""Korean particles fit the value before them."""

from __future__ import annotations

import pytest

from core.language import Message
from core.language.message import _filled
from core.language.particles import last_sound

PAIRS = "{x}은(는) {x}이(가) {x}을(를) {x}과(와) {x}와(과) {x}(으)로 {x}(이)라고"


def particles(value: object) -> list[str]:
    filled = _filled(PAIRS, {"x": value}, "ko")
    return [piece.removeprefix(str(value)) for piece in filled.split(" ")]


@pytest.mark.parametrize("value", ["값", "0.3", "6", "10", "1,200", "1,000,000", "KLM", "running"])
def test_after_a_consonant(value: str) -> None:
    assert particles(value) == ["은", "이", "을", "과", "과", "으로", "이라고"]


@pytest.mark.parametrize("value", ["토큰", "모델", "1", "7", "28", "URL", "model", "top-3"])
def test_only_rieul_drops_the_vowel_of_ro(value: str) -> None:
    rieul = last_sound(value) == "ㄹ"
    assert particles(value) == ["은", "이", "을", "과", "과", "로" if rieul else "으로", "이라고"]
    assert rieul == (value not in ("토큰", "top-3"))


@pytest.mark.parametrize("value", ["나무", "2", "0.4", "95", "9", "12.5%", "GPU", "2.5ms", "was"])
def test_after_a_vowel(value: str) -> None:
    assert particles(value) == ["는", "가", "를", "와", "와", "로", "라고"]


@pytest.mark.parametrize("value", ["…", "!", "木", "cat", "time", "×"])
def test_a_pair_stays_where_the_reading_is_not_known(value: str) -> None:
    pairs = ["은(는)", "이(가)", "을(를)", "과(와)", "와(과)", "(으)로", "(이)라고"]
    assert particles(value) == pairs


@pytest.mark.parametrize(
    ("value", "sound"),
    [
        ("“값”", "ㅇ"),
        ("<b>나무</b>", " "),
        ("토큰(2)", "ㅇ"),
        ("‘다시 뽑기’", " "),
        ("`top_k`", ""),
    ],
)
def test_marks_and_words_in_brackets_are_not_read(value: str, sound: str) -> None:
    assert last_sound(value) == sound


def test_a_value_is_never_changed() -> None:
    assert _filled("{x}은(는)", {"x": "나을(를)무"}, "ko") == "나을(를)무는"
    assert _filled("{{}}은(는) {x:,}을(를)", {"x": 1200}, "ko") == "{}은(는) 1,200을"
    assert _filled("{x}을(를)", {"x": "나"}, "ja") == "나을(를)"


def test_a_particle_fits_the_translation_of_a_value() -> None:
    assert last_sound("token") == "ㄴ" and last_sound("vocabulary") == " "
    assert _filled("{x}이(가)", {"x": Message("token")}, "ko") == "토큰이"
    assert _filled("{x}이(가)", {"x": Message("rank")}, "ko") == "순위가"
