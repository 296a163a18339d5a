"""A strategy of the Decode page: one row, in a module of its own; `strategies` lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.decoding.config import MethodConfig
from pages.ui.run.parts import PagePart
from pages.ui.widgets.controls.control import Control


@dataclass(frozen=True)
class Strategy:
    """A method that emits a `TokenStep` a token, as the Decode page offers it.

    Args:
        rows: its own controls that set fields of the config.
        beside: keys of the controls in the first row while it is chosen.
        more: keys of its controls under "More settings", there whatever is chosen.
        offered: whether it is there for the model of the sidebar.
        reshapes: whether a step follows from its logits alone, so that it is redrawn under other
            knobs without a run.
        parts: its own figures of a step, by the keys of their tabs, which have its label.
    """

    label: str
    config: type[MethodConfig]
    rows: tuple[Control, ...] = ()
    beside: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    offered: Callable[[], bool] = lambda: True
    reshapes: bool = True
    parts: Mapping[str, PagePart] = field(default_factory=dict)
