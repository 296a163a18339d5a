"""The same dice under other knobs: where along a knob's range the drawn token changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.decoding.configs import MIN_TEMPERATURE, Sampling
from core.decoding.draws import draw
from core.decoding.lab import Scene, dice_of, shaped
from core.decoding.lab_types import KnobFlips, Piece
from core.decoding.orders import Order
from core.decoding.shaping import raw_distribution

_SCAN_POINTS = 33
# Of a knob's range: what a figure can show, and how exactly the flips next to the knob are found.
_COARSE, _FINE = 1 / 512, 1e-6
# So many values are tried beyond the scan, where token follows on token along the range.
_MOST_TRIES = 160


def flips(
    scene: Scene,
    config: Sampling,
    order: Order,
    number: int,
    name: str,
    low: float,
    high: float,
    should_stop: Callable[[], bool] = bool,
) -> KnobFlips:
    """Which token the dice pick over a knob's whole range, the other knobs as they are.

    The real shaping and the real draw run at 33 values of the range and at the knob's own; where
    two values give different tokens, the change between them is bisected: to a millionth of the
    range on both sides of the knob, else to what a figure can show (for top-k to the whole number),
    until 160 more values were tried. A token that only lives between two tried values is missed.

    Args:
        name: the field of `Shaping`.
        low, high: the range, both allowed values.
        should_stop: asked before each try; True ends the search with what is known.
    """
    value = float(getattr(config.shaping, name))
    if order.lacks(name):
        return KnobFlips(name, value, (), acts=False)
    raw, dice = raw_distribution(scene.logits), dice_of(scene, config, number)
    whole = isinstance(getattr(config.shaping, name), int)

    def token_at(tried: float) -> int:
        setting = int(tried) if whole else tried
        shaping = replace(config.shaping, **{name: setting})  # type: ignore[arg-type]
        stages = shaped(raw, scene.previous_ids, shaping, order)
        return draw(stages[-1], config.draw, dice).token_id

    gap = MIN_TEMPERATURE if name == "temperature" else 0.0
    search = _Search(token_at, 1.0 if whole else _COARSE * (high - low), whole, gap, should_stop)
    runs = search.runs(_scan(name, value, low, high, whole))
    least = 1.0 if whole else _FINE * (high - low)
    runs = replace(search, least=least, tried=[], most=10 * _MOST_TRIES).refined(runs, value)
    text = scene.model.token_text
    return KnobFlips(name, value, tuple(Piece(a, b, token, text(token)) for a, b, token in runs))


def _scan(name: str, value: float, low: float, high: float, whole: bool) -> list[float]:
    steps = (low + (high - low) * at / (_SCAN_POINTS - 1) for at in range(_SCAN_POINTS))
    points = {float(round(point)) if whole else point for point in steps}
    if low <= value <= high:
        points.add(value)
    if name == "temperature":
        points.add(MIN_TEMPERATURE)
    if name == "top_k":
        points |= {1.0, 2.0}  # 0 is off, which is far from 1
    return sorted(points)


_Run = tuple[float, float, int]


@dataclass(frozen=True, slots=True)
class _Search:
    """Finds runs of equal tokens along a knob.

    Args:
        least: two values as near as this are not looked between.
        whole: the knob takes whole numbers only.
        gap: values between 0 and this one don't exist.
        tried: values tried between others, at most so many.
    """

    token_at: Callable[[float], int]
    least: float
    whole: bool
    gap: float
    should_stop: Callable[[], bool]
    tried: list[float] = field(default_factory=list)
    most: int = _MOST_TRIES

    def runs(self, points: Sequence[float]) -> list[_Run]:
        """(first, last, token) of every run of equal tokens, by rising value."""
        found: list[_Run] = []
        for point in points:
            if self.should_stop():
                break
            here: _Run = (point, point, self.token_at(point))
            if found and found[-1][2] == here[2]:
                found[-1] = (found[-1][0], point, here[2])
            elif found:
                found += self._between(found.pop(), here)
            else:
                found.append(here)
        return found

    def refined(self, runs: list[_Run], value: float) -> list[_Run]:
        """The ends of the run that holds the value, bisected anew."""
        at = next((at for at, run in enumerate(runs) if run[0] <= value <= run[1]), None)
        if at is None:
            return runs
        before, here, after = runs[:at], [runs[at]], runs[at + 1 :]
        if before:
            here = self._between(before.pop(), here[0])
        if after:
            here += self._between(here.pop(), after.pop(0))
        return [*before, *here, *after]

    def _between(self, left: _Run, right: _Run) -> list[_Run]:
        """Both runs grown towards each other, and any third one met on the way."""
        middle = self._middle(left[1], right[0])
        if middle is None:
            return [left, right]
        self.tried.append(middle)
        token = self.token_at(middle)
        if token == left[2]:
            return self._between((left[0], middle, token), right)
        if token == right[2]:
            return self._between(left, (middle, right[1], token))
        *before, third = self._between(left, (middle, middle, token))
        return [*before, *self._between(third, right)]

    def _middle(self, low: float, high: float) -> float | None:
        """A value to try between two; None where there is none."""
        if high - low <= self.least or (low == 0 and high <= self.gap):
            return None
        if len(self.tried) >= self.most or self.should_stop():
            return None
        middle = float((low + high) // 2) if self.whole else (low + high) / 2
        return middle if low < middle < high else None
