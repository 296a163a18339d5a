"""Decision boundaries: values of a knob at which the drawn token changes under the same noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..autoregressive.config import Sampling
from ..shaping.config import SETTINGS
from ..shaping.draws import draw
from ..shaping.orders import Order
from ..shaping.stages import Distribution, raw_distribution
from ..validation import MIN_TEMPERATURE
from .step import StepLogits, noise_of
from .types import KnobBoundaries, TokenInterval

_SCAN_POINTS = 33
# Precision as parts of a knob's range: elsewhere what a figure can show; finer for the boundaries
# next to the knob's value.
_COARSE, _FINE = 1 / 512, 1e-6
# In a dense sequence of tokens the figure draws narrower intervals as "many tokens".
_CROWDED = 1 / 64
# Maximum number of tried values, without the scan's and those next to the knob's value.
_MOST_TRIES = 160


def all_boundaries(
    step_logits: StepLogits,
    config: Sampling,
    order: Order,
    number: int,
    ranges: Mapping[str, tuple[float, float]],
    should_stop: Callable[[], bool] = bool,
) -> tuple[KnobBoundaries, ...]:
    """Find the tokens that the same noise draws over each knob's range; the other knobs stay.

    The real shaping and draw run at 33 values of the range and at the knob's own value. Between two
    values with different tokens, the boundary is bisected: to a millionth of the range on both
    sides of the knob's value, elsewhere to a figure's precision (for top-k to a whole number),
    until 160 more values were tried. A token whose interval lies between two tried values is
    missed.

    Args:
        ranges: fields of `Shaping` with their lowest and highest allowed value; a knob whose value
            lies beyond is searched up to that value.
        should_stop: called before each try; True ends the search with the boundaries known so far.
    """
    raw = raw_distribution(step_logits.logits)
    return tuple(
        _knob_boundaries(step_logits, raw, config, order, number, name, reach, should_stop)
        for name, reach in ranges.items()
    )


def _knob_boundaries(
    step_logits: StepLogits,
    raw: Distribution,
    config: Sampling,
    order: Order,
    number: int,
    name: str,
    reach: tuple[float, float],
    should_stop: Callable[[], bool],
) -> KnobBoundaries:
    value = float(getattr(config.shaping, name))
    if (SETTINGS[name].part_of or name) not in order.acting(config.shaping):
        return KnobBoundaries(name, value, (), acts=False)
    whole = SETTINGS[name].whole
    search = _Search(
        token_at=_drawing(step_logits, raw, config, order, number, name),
        span=max(reach[1], value) - min(reach[0], value),
        whole=whole,
        gap=MIN_TEMPERATURE if name == "temperature" else 0.0,
        should_stop=should_stop,
    )
    runs = search.runs(_scan(name, value, reach, whole))
    text = step_logits.model.token_text
    pieces = (
        TokenInterval(a, b, token, text(token)) for a, b, token in search.refined(runs, value)
    )
    return KnobBoundaries(name, value, tuple(pieces))


def _drawing(
    step_logits: StepLogits,
    raw: Distribution,
    config: Sampling,
    order: Order,
    number: int,
    name: str,
) -> Callable[[float], int]:
    """Return a function that draws the token at a value; the stages before the knob run once."""
    kind = int if SETTINGS[name].whole else float
    noise = noise_of(step_logits, config, number)
    acting = SETTINGS[name].part_of or name
    late = order.processors[order.processors.index(acting) :]
    shaper = step_logits.shaper(config.shaping, order, config.seed)
    every = step_logits.shaped(shaper, number, [raw])
    early = [stage for stage in every if stage.name not in (*late, "argmax")]

    def token_at(value: float) -> int:
        shaping = replace(config.shaping, **{name: kind(value)})  # type: ignore[arg-type]
        anew = 0 in (shaping.temperature, config.shaping.temperature) or name == "mirostat"
        shaper = step_logits.shaper(shaping, order, config.seed)
        stages = step_logits.shaped(shaper, number, [raw] if anew else early)
        return draw(stages[-1], config.draw, noise).token_id

    return token_at


def _scan(name: str, value: float, reach: tuple[float, float], whole: bool) -> list[float]:
    points = {value, *_spread(*reach)}
    if value > reach[1]:
        points |= _spread(reach[1], value)
    if whole:
        points = {float(round(point)) for point in points}
    if name == "temperature":
        points.add(MIN_TEMPERATURE)
    if name == "top_k":
        points |= {1.0, 2.0}  # 0 is off, which differs much from 1
    return sorted(points)


def _spread(low: float, high: float) -> set[float]:
    return {low + (high - low) * at / (_SCAN_POINTS - 1) for at in range(_SCAN_POINTS)}


_Run = tuple[float, float, int]


@dataclass(frozen=True, slots=True)
class _Search:
    """Search for intervals of equal tokens along a knob.

    Args:
        span: length of the range, highest minus lowest value.
        whole: the knob takes whole numbers only.
        gap: no value exists between 0 and this one.
        tried: values tried between those of the scan, without the refined ones.
    """

    token_at: Callable[[float], int]
    span: float
    whole: bool
    gap: float
    should_stop: Callable[[], bool]
    tried: list[float] = field(default_factory=list)

    def runs(self, points: Sequence[float]) -> list[_Run]:
        """Return (first, last, token) of every interval of equal tokens, by rising value."""
        runs: list[_Run] = []
        for point in points:
            if self.should_stop():
                break
            here: _Run = (point, point, self.token_at(point))
            runs += self._between(runs.pop(), here) if runs else [here]
        return runs

    def _between(self, left: _Run, right: _Run) -> list[_Run]:
        """Return both intervals grown towards each other, with further intervals between them."""
        if left[2] == right[2]:
            return [(left[0], right[1], left[2])]
        middle = self._middle(left[1], right[0], _COARSE)
        if middle is None or len(self.tried) >= _MOST_TRIES:
            return [left, right]
        self.tried.append(middle)
        here: _Run = (middle, middle, self.token_at(middle))
        third = here[2] not in (left[2], right[2])
        if third and right[0] - left[1] <= _CROWDED * self.span and not self.whole:
            return [left, here, right]
        *before, last = self._between(left, here)
        return [*before, *self._between(last, right)]

    def refined(self, runs: list[_Run], value: float) -> list[_Run]:
        """Return the intervals with more exact ends of the one that holds the value."""
        at = next((at for at, run in enumerate(runs) if run[0] <= value <= run[1]), None)
        if at is None:
            return runs
        here, before, after = runs[at], runs[:at], runs[at + 1 :]
        if before:
            here, others = self._edge(here, before.pop())
            before += reversed(others)
        if after:
            here, others = self._edge(here, after.pop(0))
            after = others + after
        return [*before, here, *after]

    def _edge(self, here: _Run, other: _Run) -> tuple[_Run, list[_Run]]:
        """Return an interval grown towards another one, and the intervals on that side from near to
        far.
        """
        others = [other]
        while True:
            left, right = sorted((here, others[0]))
            middle = self._middle(left[1], right[0], _FINE)
            if middle is None:
                return here, others
            token = self.token_at(middle)
            if token == here[2]:
                here = _grown(here, middle)
            elif token == others[0][2]:
                others[0] = _grown(others[0], middle)
            else:
                others.insert(0, (middle, middle, token))

    def _middle(self, low: float, high: float, part: float) -> float | None:
        """Return a value to try between two; None if they are closer than this part of the
        range.
        """
        if high - low <= (1 if self.whole else part * self.span) or self.should_stop():
            return None
        if low == 0 and high <= self.gap:
            return None
        middle = float((low + high) // 2) if self.whole else (low + high) / 2
        return middle if low < middle < high else None


def _grown(run: _Run, value: float) -> _Run:
    return min(run[0], value), max(run[1], value), run[2]
