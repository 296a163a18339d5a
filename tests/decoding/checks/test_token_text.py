"""What a token is shown as, against what it added to the text."""

from __future__ import annotations

import pytest

from core.decoding.checks.token_text import added_faults, display_faults


def _faults(*emitted: tuple[str, str]) -> list[str]:
    return list(added_faults((f"token {at}", *pair) for at, pair in enumerate(emitted)))


@pytest.mark.parametrize(
    "emitted",
    [
        [(" the", " the"), ("\n", "\n"), ("", "")],
        # A character in two tokens: the second one completes it.
        [("<E2><98>", ""), ("<83>!", "☃!")],
        # A special token adds nothing, also between the parts of a character.
        [("<E2>", ""), ("<|pad|>", ""), ("<98><83>", "☃")],
        # Broken off by another character, or by the end of the run.
        [("<E2><98>", ""), ("a", "\ufffda")],
        [("<E2><98>", "\ufffd")],
        # Text that only looks like a byte.
        [("<E2>", "<E2>"), (" is", " is")],
    ],
    ids=str,
)
def test_honest_texts_agree(emitted: list[tuple[str, str]]) -> None:
    assert _faults(*emitted) == []


def test_another_text_is_found_at_its_token() -> None:
    assert [fault[:7] for fault in _faults((" a", " a"), ("x", " cat"), (".", "."))] == ["token 1"]
    assert _faults(("<E2><98>", ""), ("<84>", "☃")) != []


def test_one_id_has_one_text() -> None:
    shown = [("round 0", 5, " a"), ("round 0", 6, " b"), ("round 1", 5, " a")]
    assert list(display_faults(shown)) == []
    assert [fault[:7] for fault in display_faults([*shown, ("round 2", 6, "B")])] == ["round 2"]
