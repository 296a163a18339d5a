"""A speculative run and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.speculative.config import Speculative
from core.decoding.trace import Trace
from core.figures.base.theme import LIGHT, Theme
from core.figures.speculative.lossless import lossless_words
from core.figures.speculative.metrics import (
    latency_words,
    scoring_words,
    spec_latency_data,
    spec_metrics_data,
    spec_scoring_data,
)
from core.figures.speculative.same import identity_words
from core.figures.speculative.timeline import COLUMNS
from core.figures.speculative.verdict import verdict
from core.figures.speculative.words import emitted, kind_color
from pages.ui.run import save
from pages.ui.run.save import Note
from pages.ui.speculative import controls
from pages.ui.speculative.lossless import three_figure
from pages.ui.speculative.state import SpecView


def web_page(view: SpecView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole timeline in windows, the selected token, all that was measured as figures
    and in words and tables, and the three tokens as they were typed."""
    starts = range(0, max(len(trace.rounds), 1), COLUMNS)
    drawn = [figures.spec_timeline(trace, first=first, theme=theme) for first in starts]
    if view.token is not None:
        drawn.append(figures.spec_verification(trace, *view.token, theme=theme))
    drawn.append(figures.spec_time(trace, view.comparison, theme=theme))
    drawn.append(figures.spec_positions(trace, theme=theme))
    if view.sweep is not None:
        drawn.append(figures.spec_sweep(view.sweep, trace, theme=theme))
    drawn.append(figures.spec_feed(trace, view.token[0] if view.token else 0, theme=theme))
    if view.counted is not None:
        drawn.append(figures.spec_outcomes(view.counted, trace, theme=theme))
    if view.three is not None:
        drawn.append(three_figure(view.three, theme))
    tokens = [(found.text, found.kind, kind_color(found.kind, theme)) for found in emitted(trace)]
    notes = _notes(view, trace)
    return save.document(trace, drawn, theme, tokens=tokens, notes=notes)


def _notes(view: SpecView, trace: Trace) -> list[Note]:
    found: list[Note] = []
    if view.comparison is not None:
        found.append((verdict(view.comparison), None))
        found.append((latency_words(view.comparison), spec_latency_data(view.comparison)))
    found.append(("Metrics of this run.", spec_metrics_data(trace, view.comparison, view.sweep)))
    if view.sweep is not None:
        found.append(("Draft lengths, measured.", figures.spec_sweep_data(view.sweep)))
    if view.scored is not None:
        found.append((scoring_words(view.scored), spec_scoring_data(view.scored)))
    config = trace.config
    if view.counted is not None and isinstance(config, Speculative):
        said = lossless_words(view.counted, config.acceptance, claims=config.lossless)
        found.append((said, figures.spec_outcomes_data(view.counted)))
    if view.alone is not None:
        found.append((f"Beside the target alone: {identity_words(trace, view.alone)}", None))
    if view.three is not None:
        frame = figures.spec_enumeration_data(view.three.table, controls.NAMES)
        found.append(("One verification on three tokens, enumerated.", frame))
    return found
