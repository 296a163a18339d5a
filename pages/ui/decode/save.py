"""A run and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.trace import Trace
from core.figures.base.grid import wide_columns
from core.figures.base.theme import LIGHT, Theme
from pages.ui.decode.state import DecodeView
from pages.ui.decode.strategies import strategy_of
from pages.ui.run import save

# Of a long prompt only the end, which was written last, is in the page.
_PROMPT_FIGURES = 3


def web_page(view: DecodeView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The run and its figures as one page that needs no server and no network."""
    step, across = view.step, wide_columns(900)
    read = len(trace.prompt_ids)
    drawn = [
        figures.probability_heatmap(trace, first=view.first, selected=view.selected, theme=theme),
        *([figures.candidate_bars(step, trace, theme=theme)] if step else []),
        *([figures.step_stages(step, trace, theme=theme)] if step else []),
        *([figures.softmax_row(step, trace, theme=theme)] if step else []),
        *(draw(step, trace, theme=theme) for draw in strategy_of(trace.config).saved),
        figures.uncertainty(trace, selected=view.selected, theme=theme),
        *(
            figures.prompt_reading(trace, first=first, theme=theme)
            for first in range(max(read - _PROMPT_FIGURES * across, 0), max(read, 1), across)
        ),
        figures.timing([("This run", trace)], theme=theme),
    ]
    return save.document(trace, drawn, theme)
