"""Error messages shorten values and texts from untrusted sources."""

from __future__ import annotations

import pytest

from core.decoding.validation import shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two", "one two"),
        ("one two three", "one two…"),
        ("one two\u202e\nx", "one two??x"),
        ("abcdefghijkl", "abcdefghij…"),
        ("one two  four", "one two…"),
        ("a\nb", "a?b"),
    ],
)
def test_a_text_is_cut_between_words(text: str, shown: str) -> None:
    assert shortened(text, 10) == shown
