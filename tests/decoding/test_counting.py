"""What people read counts from 1, and says of how many."""

from core.decoding.counting import counted, nth, place_of, span_of


def test_the_last_of_forty_is_the_fortieth() -> None:
    assert nth(0) == 1
    assert place_of("Step", 39, 40) == "Step 40 of 40"


def test_a_span_names_its_first_its_last_and_how_many_there_are() -> None:
    assert span_of("Steps", 0, 40, 163) == "Steps 1 to 40 of 163"
    assert span_of("Rounds", 40, 41, 41) == "Round 41 of 41"


def test_one_thing_is_not_several() -> None:
    assert [counted(n, "sequence") for n in (0, 1, 2)] == [
        "0 sequences",
        "1 sequence",
        "2 sequences",
    ]
