"""The token strip's colours follow the numbers and stay readable."""

import math

import pytest

from core.decoding.shaping.config import Shaping
from core.figures import DARK, LIGHT, legend, token_colors
from core.figures.base.color import contrast
from core.figures.decode.strip import token_share
from tests.figures.traces import make_trace

TRACE = make_trace(40, shaping=Shaping(temperature=1.5))
KINDS = ("probability", "entropy", "rank", "surprisal")


@pytest.mark.parametrize("by", KINDS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_token_has_a_readable_pair(by, theme):
    pairs = token_colors(TRACE, by, theme)
    assert len(pairs) == len(TRACE.token_ids)
    assert all(contrast(ground, ink) >= 4.5 for ground, ink in pairs)
    assert len({ground for ground, _ in pairs}) > 5


def test_a_certain_token_is_pale_and_a_surprising_one_is_strong():
    grounds = [ground for ground, _ in token_colors(TRACE)]
    steps = TRACE.token_steps
    assert grounds == [LIGHT.uncertainty_color(1 - step.chosen.raw_prob) for step in steps]
    by_prob = sorted(zip(steps, grounds, strict=True), key=lambda pair: pair[0].chosen.raw_prob)
    contrasts = [contrast(ground, LIGHT.paper) for _, ground in by_prob]
    assert contrasts == sorted(contrasts, reverse=True)


def test_shares_reach_from_0_to_1():
    step = TRACE.token_steps[0]
    assert token_share(step, "rank") == pytest.approx(
        min(1, math.log(step.chosen.rank) / math.log(1000))
    )
    for by in KINDS:
        assert all(0 <= token_share(step, by) <= 1 for step in TRACE.token_steps)


@pytest.mark.parametrize("by", KINDS)
def test_legends_name_both_ends(by):
    key = legend(by, DARK)
    assert key.title and key.low != key.high
    assert key.stops == DARK.uncertainty
