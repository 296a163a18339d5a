"""Counts and places on screen: they begin at 1, and singular differs from plural."""

from core.decoding.counting import counted, duration, nth, place_of, span_of


def test_places_count_from_1_and_one_thing_is_not_several() -> None:
    assert nth(0) == 1
    assert place_of("Step", 39, 40) == "Step 40 of 40"
    assert span_of("Steps", 0, 40, 163) == "Steps 1 to 40 of 163"
    assert span_of("Rounds", 40, 41, 41) == "Round 41 of 41"
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_a_time_has_three_digits_in_the_unit_that_fits() -> None:
    times = (0.00123, 0.0123, 0.31244, 0.9996, 8.64334, 75.04)
    assert [duration(seconds) for seconds in times] == [
        *("1.23 ms", "12.3 ms", "312 ms", "1.00 s", "8.64 s", "75.0 s"),
    ]
