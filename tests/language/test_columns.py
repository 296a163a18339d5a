"""Widths of texts in a terminal's columns."""

from __future__ import annotations

import pytest

from core.language import use
from core.language.columns import cut, left, right, text_columns, wrapped


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("token", 5),
        ("トークン", 8),
        ("토큰", 4),
        ("top-k は", 8),
        ("e\u0301", 1),
        ("…", 1),
    ],
)
def test_a_wide_character_takes_two_columns(text: str, columns: int) -> None:
    assert text_columns(text) == columns


def test_a_cell_is_filled_up_to_its_columns() -> None:
    assert (left("順位", 6), right("순위", 6)) == ("順位  ", "  순위")
    assert left("too wide", 3) == "too wide"


def test_a_text_is_cut_before_the_character_that_does_not_fit() -> None:
    assert [cut("あいう", columns) for columns in (6, 5, 4, 0)] == ["あいう", "あい", "あい", ""]


def test_lines_have_at_most_their_columns_and_keep_the_text() -> None:
    text = "トークンの確率を、順位とともに表示します。top-k は除きます。"
    for columns in range(10, 40):
        with use("ja"):
            lines = list(wrapped(text, columns))
        assert max(map(text_columns, lines)) <= columns
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert not any(line.startswith(("、", "。")) for line in lines)


def test_korean_lines_break_between_words() -> None:
    text = "토큰의 확률을 순위와 함께 출력합니다"
    with use("ko"):
        lines = list(wrapped(text, 16))
    assert " ".join(lines) == text and len(lines) == 3
    assert max(map(text_columns, lines)) <= 16
