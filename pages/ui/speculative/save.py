"""A speculative run and its figures as one page that needs no server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from core import figures
from core.decoding.counting import nth
from core.decoding.speculative.config import Speculative
from core.decoding.trace import Trace
from core.export.part import Part
from core.export.web.run_page import PAPER, Note
from core.figures.base.paper import WIDE, Paper
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
from pages.ui.run.archive import Tables
from pages.ui.speculative import controls
from pages.ui.speculative.lossless import three_figure
from pages.ui.speculative.state import SpecView

# So wide is a round at least, px.
_ROUND_WIDTH = 36


def parts(view: SpecView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """The whole timeline in windows, the selected token, and all that was measured."""
    columns = min(COLUMNS, max(int(paper.width / _ROUND_WIDTH), 4))
    timeline = partial(figures.spec_timeline, trace, columns=columns)
    data = partial(figures.spec_timeline_data, trace)
    found = [
        Part(f"timeline-from-round-{nth(first)}", partial(timeline, first=first), data)
        for first in range(0, max(len(trace.rounds), 1), columns)
    ]
    if view.token is not None:
        of = (trace, *view.token)
        name = f"verification-round-{nth(view.token[0])}-token-{nth(view.token[1])}"
        draw = partial(figures.spec_verification, *of)
        found.append(Part(name, draw, partial(figures.spec_verification_data, *of)))
    at = view.token[0] if view.token else 0
    found += [_part("time", figures.spec_time, figures.spec_time_data, trace, view.comparison)]
    found += [_part("positions", figures.spec_positions, figures.spec_positions_data, trace)]
    if view.sweep is None:
        found.append(Part("draft-lengths", needs="measure the draft lengths first"))
    else:
        table = partial(figures.spec_sweep_data, view.sweep)
        found.append(Part("draft-lengths", partial(figures.spec_sweep, view.sweep, trace), table))
    at = view.token[0] if view.token else 0
    found.append(
        _part(f"feed-round-{nth(at)}", figures.spec_feed, figures.spec_feed_data, trace, at)
    )
    return found + _of_rule(view, trace)


def _of_rule(view: SpecView, trace: Trace) -> list[Part]:
    """What was counted of the rule's output, and the three tokens."""
    found = []
    if view.counted is None:
        found.append(Part("outcomes", needs="count the outcomes first"))
    else:
        table = partial(figures.spec_outcomes_data, view.counted)
        found.append(Part("outcomes", partial(figures.spec_outcomes, view.counted, trace), table))
    if view.server is not None:
        run = view.server
        draw = partial(figures.server_speculation, run.found, run.caption)
        table = partial(figures.server_speculation_data, run.found)
        found.append(Part("server-speculation", draw, table))
    if view.three is not None:
        table = partial(figures.spec_enumeration_data, view.three.table, controls.NAMES)
        found.append(Part("three-tokens", partial(three_figure, view.three), table))
    return found


def _part(
    name: str, draw: Callable[..., go.Figure], data: Callable[..., DataFrame], *of: Any
) -> Part:
    """A figure and its table of the same arguments."""
    return Part(name, partial(draw, *of), partial(data, *of))


def tables(view: SpecView, trace: Trace) -> Tables:
    """The metrics, and what else was measured."""
    return [(words, frame) for words, frame in _notes(view, trace) if frame is not None]


def web_page(view: SpecView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole timeline in windows, the selected token, all that was measured as figures
    and in words and tables, and the three tokens as they were typed."""
    tokens = [(found.text, found.kind, kind_color(found.kind, theme)) for found in emitted(trace)]
    own, notes = parts(view, trace, PAPER), _notes(view, trace)
    return save.web_page(trace, own, theme, tokens=tokens, notes=notes)


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
