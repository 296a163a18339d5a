"""A speculative run and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.decoding.speculative.config import Speculative
from core.export.part import Part, of_figure, window_name
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
from core.figures.speculative.timeline import COLUMNS, rounds_for
from core.figures.speculative.verdict import verdict
from core.figures.speculative.words import EXTRA, emitted, kind_color
from pages.ui.run import save
from pages.ui.run.archive import Tables
from pages.ui.speculative import controls, lossless, server, time
from pages.ui.speculative.state import SpecView


def parts(view: SpecView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """The whole timeline in windows, the selected token, and all that was measured."""
    count = len(trace.rounds)
    columns = min(COLUMNS, rounds_for(paper.width, trace))
    found = [
        of_figure(
            window_name("timeline", "round", first, min(first + columns, count)),
            figures.spec_timeline,
            trace,
            columns=columns,
            first=first,
        )
        for first in range(0, max(count, 1), columns)
    ]
    at = 0
    if view.token is not None:
        at, place = view.token
        which = "own-token" if place == EXTRA else f"position-{nth(place)}"
        name = f"verification-round-{nth(at)}-{which}"
        found.append(of_figure(name, figures.spec_verification, trace, *view.token))
    found.append(of_figure("time", figures.spec_time, trace, view.comparison))
    found.append(of_figure("positions", figures.spec_positions, trace))
    if view.sweep is None:
        found.append(Part("draft-lengths", needs="measure the draft lengths first"))
    else:
        found.append(time.draft_lengths(view.sweep, trace))
    found.append(of_figure(f"feed-round-{nth(at)}", figures.spec_feed, trace, at))
    return found + _of_rule(view, trace)


def _of_rule(view: SpecView, trace: Trace) -> list[Part]:
    """What was counted of the rule's output, and the three tokens."""
    found = []
    if view.counted is None:
        found.append(Part("outcomes", needs="count the outcomes first"))
    else:
        found.append(lossless.outcomes(view.counted, trace))
    if view.server is not None:
        found.append(server.part(view.server))
    if view.three is not None:
        found.append(lossless.enumeration(view.three))
    return found


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
