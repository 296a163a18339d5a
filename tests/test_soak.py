"""Memory growth in a soak test."""

import pytest

from benchmarks.soak import growth


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
