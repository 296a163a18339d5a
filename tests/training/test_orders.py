"""System prompts: many wordings for every form, none of the evaluation's held-out ones."""

import random
import re

import pytest

from tests.training.reading import learned, whole
from training.corpus import lists, orders, stories, talk, words_orders
from training.evaluation import overlap

COUNT = 1000


def test_every_form_is_asked_for_in_many_wordings_of_which_none_is_held_out() -> None:
    held = ("Reply using a single word.", "Just the answer, nothing else.",
            "write everything in uppercase", "Put every item on its own line!")  # fmt: skip
    assert all(map(orders.is_kept, held)) and not orders.is_kept("Answer in capital letters.")
    shapes = {overlap.frame(text.rstrip("!.")) for text in held}
    assert set(words_orders.COMPOSED) == set(words_orders.WORDINGS)
    for way in words_orders.WORDINGS:
        rng = random.Random(way)
        texts = [orders.system(rng, way) for _ in range(COUNT)]
        assert not [text for text in texts if re.search(r"[{}\[\]|]|  | [.,]", text)], way
        assert len({text.lower().strip(".") for text in texts}) > (100 if way == "none" else 150), (
            way
        )
        assert not [text for text in texts if overlap.frame(text.rstrip(".")) in shapes], way


@pytest.mark.parametrize("family", [talk, lists, stories], ids=["talk", "lists", "stories"])
def test_capital_letters_are_kept_to(family: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "system", lambda _, way: way)
    rng = random.Random(2)
    large = 0
    for _ in range(600):
        first, *_, last = family.chat(rng)  # type: ignore[attr-defined]
        if first.role == "system" and whole(first.parts) == "capitals":
            large += 1
            text = whole(last.parts)
            assert text == text.upper()
    assert large > 30


def test_a_system_prompt_bears_no_loss() -> None:
    assert learned(orders.order(random.Random(3), "word").parts) == "~"
