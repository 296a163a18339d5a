"""Places on the pages that a lesson can point at, beside the controls."""

from __future__ import annotations

from dataclasses import dataclass

from core.language import N_
from pages.ui.platform import slot
from pages.ui.registry import Page
from pages.ui.run import shared
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Control


@dataclass(frozen=True)
class PointPlace:
    """A place.

    Args:
        key: key of its widget or container.
        meaning: what it is, for the documentation.
        watches: control whose move counts as the place's; empty for none.
        tabs, tab: keys of a row of tabs and of the tab that holds it, which is opened.
    """

    key: str
    meaning: str = ""
    watches: str = ""
    tabs: str = ""
    tab: str = ""


PLACES = {
    "run": PointPlace("start", N_("the button Run")),
    "text": PointPlace("text-panel", N_("the text of the run")),
    "candidates": PointPlace("figure-candidates", N_("the candidates of a step, on Decode")),
    "roll_again": PointPlace("roll_again", N_("the button Roll again, in the lab"), watches="roll"),
    "lab_draw": PointPlace("figure-draw", N_("the line from 0 to 1, in the lab")),
    "lab_stages": PointPlace("figure-stages", N_("the bars of the step, in the lab")),
    "prompt_figure": PointPlace("figure-prompt", N_("the tab Prompt predictions, on Decode"),
        tabs="look", tab="prompt"),
    "beam_tree": PointPlace("figure-beam-tree", N_("the tree, on Beam search")),
    "by_hand": PointPlace("figure-by-hand", N_("the tab By hand, on Beam search"),
        tabs="beam-look", tab="hand"),
    "thoughts": PointPlace("reason-text-run", N_("the thoughts and the answer, on Reasoning")),
    "timeline": PointPlace("figure-timeline", N_("the rounds, on Speculative")),
    "pair_template": PointPlace("pair_template", N_("the pair Template off and on, on Compare")),
}  # fmt: skip


def place_of(name: str, row: Page) -> PointPlace | None:
    """Return the place of a name on a page: one of the table, or a control; None for neither."""
    if name in PLACES:
        return PLACES[name]
    return PointPlace(name, watches=name) if control_at(name, row) else None


def word_of(name: str, row: Page) -> str:
    """Return a control's value as the address has it; empty if the page has no such control."""
    found = control_at(name, row)
    if found is None:
        return ""
    place, held = found
    with slot.use(place):
        return held.in_address(control.value(held.key))


def control_at(name: str, row: Page) -> tuple[slot.Slot, Control] | None:
    """Return the control that the address of a page calls so, with its slot; None without one."""
    for place in shared.slots(row.slots):
        key = name.removeprefix(place.prefix)
        with slot.use(place):
            if control.is_declared(key) and control.row_of(key).state_key == name:
                return place, control.row_of(key)
    return None
