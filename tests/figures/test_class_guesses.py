"""Guesses of a class: shares, the hidden and the shown answer, the table."""

from __future__ import annotations

from dataclasses import replace

from core.figures import DARK, LIGHT, ClassGuesses, class_guesses, class_guesses_data

ASKED = ClassGuesses(
    "The dice, question 2", "Which token is drawn?", ("cat", "dog", "sun"), (3, 9, 0), 20
)


def test_a_bar_is_the_share_of_the_guesses_and_its_label_their_number() -> None:
    drawn = class_guesses(ASKED)
    assert list(drawn.data[0].x) == [0.25, 0.75, 0.0]
    texts = [note.text for note in drawn.layout.annotations]
    assert "9 · 75\u00a0%" in texts and "0 · 0\u00a0%" in texts and "<b>dog</b>" in texts
    assert "12 of 20 pupils answered" in drawn.layout.meta["caption"]
    assert (
        "dog: 9 of 12" in drawn.layout.meta["alt"]
        and drawn.layout.meta["subtitle"] == ASKED.question
    )
    assert list(drawn.data[0].y) == sorted(drawn.data[0].y) and drawn.layout.yaxis.range[1] == 0


def test_the_right_answer_is_told_only_once_it_is_shown() -> None:
    for theme in (LIGHT, DARK):
        hidden, shown = (class_guesses(replace(ASKED, right=r), theme=theme) for r in (None, 2))
        assert len(set(hidden.data[0].marker.color)) == 1
        assert "✓" not in hidden.to_json() and "right" not in hidden.layout.meta["alt"]
        first, second, right = shown.data[0].marker.color
        assert first == second != right == theme.first
        assert "sun: 0 of 12, the right answer" in shown.layout.meta["alt"]
        assert "<b>sun\u00a0✓</b>" in [note.text for note in shown.layout.annotations]


def test_without_a_guess_the_answers_stand_there() -> None:
    nobody = replace(ASKED, counts=(0, 0, 0))
    assert list(class_guesses(nobody).data[0].x) == [0, 0, 0]
    assert class_guesses_data(nobody)["share"].tolist() == [0, 0, 0]
    assert class_guesses(replace(nobody, choices=(), counts=())).layout.meta["alt"]


def test_the_table_has_a_row_for_each_answer() -> None:
    table = class_guesses_data(replace(ASKED, right=1))
    assert table.to_dict("list") == {
        "choice": ["cat", "dog", "sun"],
        "guesses": [3, 9, 0],
        "share": [0.25, 0.75, 0.0],
        "right": [False, True, False],
    }
    assert class_guesses_data(ASKED)["right"].isna().all()
