"""What counts as growth in a soak."""

from benchmarks.soak import growth


def test_what_is_loaded_at_first_is_no_growth() -> None:
    assert growth([200, 400, 600, *[700] * 20]) == 0


def test_a_steady_leak_is() -> None:
    assert growth([700 + 2 * at for at in range(100)]) > 50


def test_one_high_sample_is_not() -> None:
    assert abs(growth([*[700] * 50, 900, *[700] * 10])) < 1
    assert growth([700]) == 0
