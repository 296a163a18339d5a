"""The figures of the page of reasoning budgets."""

from __future__ import annotations

from core import figures
from core.export.stored_parts import samples_caption
from core.figures.base.labels import settings_caption
from core.language import N_
from pages.ui.run.figures import constraint
from pages.ui.run.parts import PagePart

STOPS = PagePart(
    "stops",
    figures.reason_stops,
    lambda view, trace: view.strip and {"strip": view.strip, "caption": settings_caption(trace)},
    N_("ask where the model knew the answer first"),
)
RIVALS = PagePart(
    "ways-compared",
    figures.reason_rivals,
    lambda view, _: view.rivalry and {"rivalry": view.rivalry},
    N_("compare the ways under the same bound first"),
)
BEST_OF = PagePart(
    "best-of-n",
    figures.best_of,
    lambda view, _: (
        view.best_of and {"sampled": view.best_of.sampled, "caption": samples_caption(view.best_of)}
    ),
    N_("draw samples under Best of N first"),
)
CONSTRAINT = constraint.part_of()
