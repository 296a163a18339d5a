"""Japanese spaces between a value and the words beside it."""

from __future__ import annotations

import pytest

from core.decoding.counting import sentences
from core.language import Message, tr, use
from core.language.message import _filled


@pytest.mark.parametrize(
    ("template", "value", "filled"),
    [
        ("{x} のテキスト", "ビームサーチ", "ビームサーチのテキスト"),
        ("{x} のテキスト", "top-p", "top-p のテキスト"),
        ("段階 {x}。", "温度", "段階温度。"),
        ("段階 {x}。", 3, "段階 3。"),
        ("{x} と {x}", "頻度", "頻度と頻度"),
        ("{x} と {x}", "DRY", "DRY と DRY"),
        ("{{x}} の {x:,} 個", 1200, "{x} の 1,200 個"),
    ],
)
def test_two_japanese_words_have_no_space_between_them(
    template: str, value: object, filled: str
) -> None:
    assert _filled(template, {"x": value}, "ja") == filled


def test_a_value_keeps_its_spaces() -> None:
    assert _filled("「{x}」 と", {"x": "木 の 葉"}, "ja") == "「木 の 葉」 と"


def test_sentences_follow_each_other_as_the_language_has_it() -> None:
    both = sentences(Message("木です。"), "", Message("葉です。"))
    assert both == "木です。 葉です。"
    with use("ja"):
        assert tr(both) == "木です。葉です。"
    with use("ko"):
        assert tr(both) == "木です。 葉です。"
