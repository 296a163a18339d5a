"""A speculative run and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.record.trace import Trace
from core.decoding.speculative.config import Speculative
from core.export.part import Part
from core.export.web.run_page import PAPER, NamedTable
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from core.figures.speculative.drafts.patterns import pattern_words
from core.figures.speculative.lossless import lossless_words
from core.figures.speculative.metrics import (
    latency_words,
    scoring_words,
    spec_latency_data,
    spec_metrics_data,
    spec_scoring_data,
)
from core.figures.speculative.same import identity_words
from core.figures.speculative.sources.exits import exit_words
from core.figures.speculative.sources.kinds import sources_words
from core.figures.speculative.time import verdict
from core.figures.speculative.words import emitted, kind_color
from core.language import tr
from pages.ui.run.files import save
from pages.ui.run.files.archive import Tables
from pages.ui.run.parts import saved_parts
from pages.ui.speculative import controls
from pages.ui.speculative.parts import PARTS
from pages.ui.speculative.state import SpecView


def parts(view: SpecView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """The whole timeline in windows, the selected token, and all that was measured."""
    return saved_parts(PARTS, view, trace, paper)


def tables(view: SpecView, trace: Trace) -> Tables:
    """The metrics, and what else was measured."""
    return [(words, frame) for words, frame in _notes(view, trace) if frame is not None]


def web_page(view: SpecView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole timeline in windows, the selected token, all that was measured as figures
    and in words and tables, and the three tokens as they were typed."""
    tokens = [(token.text, token.kind, kind_color(token.kind, theme)) for token in emitted(trace)]
    figures, notes = parts(view, trace, PAPER), _notes(view, trace)
    return save.web_page(trace, figures, theme, tokens=tokens, notes=notes)


def _notes(view: SpecView, trace: Trace) -> list[NamedTable]:
    notes: list[NamedTable] = []
    if view.comparison is not None:
        notes.append((verdict(view.comparison), None))
        notes.append((latency_words(view.comparison), spec_latency_data(view.comparison)))
    notes.append(
        (tr("Metrics of this run."), spec_metrics_data(trace, view.comparison, view.sweep))
    )
    if pattern := pattern_words(trace):
        notes.append((pattern, None))
    rejected = figures.spec_rejections_data(trace)
    if len(rejected):
        notes.append((tr("Rejected tokens."), rejected))
    if view.sweep is not None:
        notes.append((tr("Draft lengths, measured."), figures.spec_sweep_data(view.sweep)))
    if view.sources is not None:
        notes.append((sources_words(view.sources), figures.spec_sources_data(view.sources)))
    if view.exits is not None:
        notes.append((exit_words(view.exits), figures.spec_exits_data(view.exits)))
    if view.scored is not None:
        notes.append((scoring_words(view.scored), spec_scoring_data(view.scored)))
    config = trace.config
    if view.counted is not None and isinstance(config, Speculative):
        sentence = lossless_words(view.counted, config.acceptance, claims=config.lossless)
        notes.append((sentence, figures.spec_outcomes_data(view.counted)))
    if view.alone is not None:
        notes.append(
            (tr("Beside the target alone: {words}", words=identity_words(trace, view.alone)), None)
        )
    if view.three is not None:
        frame = figures.spec_enumeration_data(view.three.table, controls.NAMES)
        notes.append((tr("One verification on three tokens, enumerated."), frame))
    return notes
