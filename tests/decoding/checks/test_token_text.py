"""Check that the display texts of tokens make up a text."""

from __future__ import annotations

import pytest

from core.decoding.checks.token_text import added_faults, says


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (["Once", " upon", " a"], "Once upon a"),
        # What tokenizers do to a text: a space in front, other letters, special tokens around.
        ([" Once", " upon"], "Once upon"),
        (["once", "upon"], "Once  Upon"),
        (["<s>", "Once", " upon", "</s>"], "Once upon"),
        (["<|im_start|>", "user", "Hi", "<|im_end|>"], "<|im_start|>userHi<|im_end|>"),
        (["[CLS]", "once"], "once"),
        # A character in two tokens, an unknown word, a text that looks like a byte.
        (["<E2><98>", "<83>", " snow"], "\u2603 snow"),
        (["one", "<unk>", "three"], "one zwei three"),
        (["<", "E2", ">"], "<E2>"),
        ([], ""),
    ],
)
def test_the_tokens_of_a_text_make_it_up(shown, text) -> None:
    assert says(shown, text)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (["Once", " upon"], "Twice upon"),
        (["Once", " upon"], "Once"),
        (["Once"], "Once upon"),
        (["<s>", "Once"], "Twice"),
        (["one", "<unk>", "three"], "three one"),
        (["<E2><98>", "<83>"], "\u2604"),
        (["<s>"], "Once"),
    ],
)
def test_other_tokens_don_t(shown, text) -> None:
    assert not says(shown, text)


def test_a_special_token_at_the_end_hands_over_what_is_left_of_a_character() -> None:
    run = [("0", "<EA>", ""), ("1", "<96>", ""), ("2", "<|endoftext|>", "\ufffd")]
    assert not list(added_faults(run))
    assert list(added_faults([("0", "a", "a"), ("1", "b", "\ufffd")]))
