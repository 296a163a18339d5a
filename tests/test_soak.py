"""Memory growth and waits in a soak test."""

import pytest

from benchmarks.soak import growth, run_limit, waits_row


@pytest.mark.parametrize(
    ("samples", "least", "most"),
    [
        pytest.param([200, 400, 600, *[700] * 20], 0, 0, id="loaded at first"),
        pytest.param([700 + 2 * at for at in range(100)], 50, 1000, id="a steady leak"),
        pytest.param([*[700] * 50, 900, *[700] * 10], -1, 1, id="one high sample"),
        pytest.param([700], 0, 0, id="a single sample"),
    ],
)
def test_growth_is_what_goes_on_after_the_start(
    samples: list[int], least: float, most: float
) -> None:
    assert least <= growth(samples) <= most


def test_a_kind_of_waits_is_too_slow_where_five_of_a_hundred_are() -> None:
    waits = [1.0] * 95 + [9.0] * 5
    assert waits_row("run", waits[:-1], run_limit(50)) == (
        "run: median 1.00 s, 95 % up to 1.00 s, all up to 9.00 s",
        False,
    )
    row, late = waits_row("run", waits, run_limit(50))
    assert late and row.endswith("; more than 3.0 s is too long")
    assert not waits_row("opening", waits, None)[1] and run_limit(20) == 1.5
