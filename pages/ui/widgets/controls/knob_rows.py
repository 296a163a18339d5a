"""The knobs that set fields of `Shaping`, which pages share, and rails of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from core.decoding.shaping.config import SETTINGS
from pages.ui.widgets import ahead
from pages.ui.widgets.controls import rail
from pages.ui.widgets.controls.control import Control, Read, always, declare, value
from pages.ui.widgets.controls.knob import LAB_KNOBS, Knob, nearest_temperature
from pages.ui.widgets.controls.slider import Slider, slider


def _acts(knob: Knob) -> Callable[[Read], bool]:
    """Return whether a run uses a knob: a further number of a setting only where that is on."""
    first = SETTINGS[knob.field].part_of
    if not first:
        return always
    return lambda read: bool(read(SETTINGS[first].key) != SETTINGS[first].off)


KNOB_ROWS = tuple(
    slider(
        knob,
        field=f"shaping.{knob.field}",
        acts=_acts(knob),
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
    folded: Collection[str] = (),
    then: Callable[[], None] | None = None,
) -> None:
    """Draw knobs as one rail.

    Args:
        idle: keys of knobs that no run uses, beside those whose row says so.
        folded: keys of knobs below the others, under a button that shows them, beside those of
            a group.
        then: ends the callback of a change.
    """
    # A knob that shows with another one is there while that is moved, before the page knows.
    rail.draw(
        key,
        [
            (row.knob, row.key not in idle and (bool(row.knob.part_of) or row.acts(value)))
            for row in rows
        ],
        folded={*folded, *(row.key for row in rows if row.knob.group)},
        then=then,
    )
