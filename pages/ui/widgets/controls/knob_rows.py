"""The knobs that set fields of `Shaping`, which pages share, and rails of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pages.ui.widgets import ahead
from pages.ui.widgets.controls import rail
from pages.ui.widgets.controls.control import Control, declare, value
from pages.ui.widgets.controls.knob import LAB_KNOBS, nearest_temperature
from pages.ui.widgets.controls.slider import Slider, slider

KNOB_ROWS = tuple(
    slider(
        knob,
        field=f"shaping.{knob.field}",
        **({"to_field": nearest_temperature} if knob.field == "temperature" else {}),
    )
    for knob in LAB_KNOBS
)
declare(*KNOB_ROWS)


def inputs(rows: Sequence[Control]) -> dict[str, tuple[float, ahead.Reader]]:
    """Knobs as what a gesture changes: their values, and what reads others."""
    return {row.key: (value(row.key), row.knob.read) for row in rows if isinstance(row, Slider)}


def draw_rail(
    key: str,
    rows: Sequence[Slider],
    *,
    idle: Collection[str] = (),
    then: Callable[[], None] | None = None,
) -> None:
    """Draw knobs as one rail.

    Args:
        idle: keys of knobs that no run uses, beside those whose row says so.
        then: ends the callback of a change.
    """
    rail.draw(key, [(row.knob, row.key not in idle and row.acts(value)) for row in rows], then=then)
