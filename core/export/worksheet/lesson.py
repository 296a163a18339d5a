"""A lesson's worksheet: its sentences, and behind them an example of each page's figure."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ...decoding.counting import counted, nth
from ...figures import LIGHT, printed
from ...installation import ASSETS
from ...language import N_, tr
from ...lessons.transcript import SpokenStep, spoken
from ...lessons.types import Lesson, LessonStep
from ..catalog import entries_of
from ..part import Part, drawing
from ..stored import read_stored
from .sheet import SheetStep, Worksheet, worksheet_pdf

_TRACES = ASSETS / "traces"
# By the path of a page its title, its stored example, and the figure of it that teaches.
_EXAMPLES = {
    "decode": (N_("Decode"), "decode.json", "candidates"),
    "sampling": (N_("Sampling lab"), "lab.json", "stages"),
    "beam": (N_("Beam search"), "beam.json", "tree"),
    "speculative": (N_("Speculative"), "speculative.json", "timeline"),
    "reasoning": (N_("Reasoning budget"), "reasoning.json", "accuracy"),
    "read": (N_("Read"), "read.json", "uncertainty"),
}
WIDTH = "120mm"


def worksheet_parts(lesson: Lesson) -> list[tuple[str, Part]]:
    """Return a figure for each page of the lesson that has a stored example, with its title."""
    paper, found = printed(WIDTH), list[tuple[str, Part]]()
    for path in dict.fromkeys(step.page for step in lesson.steps):
        if path in _EXAMPLES:
            title, file, name = _EXAMPLES[path]
            entries = {
                entry.name: entry for entry in entries_of(read_stored(_TRACES / file).content)
            }
            found.append((tr(title), entries[name].part(None, paper)))
    return found


def worksheet_figures(lesson: Lesson) -> list[go.Figure]:
    """Return the figures of the worksheet, for Plotly to draw as SVG."""
    return [part.figure(LIGHT, printed(WIDTH)) for _, part in worksheet_parts(lesson)]


def lesson_worksheet(lesson: Lesson, figures: Sequence[go.Figure], raws: Sequence[str]) -> bytes:
    """Return the worksheet of a lesson as PDF.

    Args:
        figures: those of `worksheet_figures`.
        raws: Plotly's SVG of each.

    Raises:
        FigureError: a picture is no figure of the app.
    """
    parts, paper = worksheet_parts(lesson), printed(WIDTH)
    drawings = [
        drawing(raw, figure, f"figure{nth(at)}", paper)
        for at, (figure, raw) in enumerate(zip(figures, raws, strict=True))
    ]
    length = counted(lesson.minutes, "minute")
    about = tr("Decoding Explorer · lesson of about {minutes}", minutes=length)
    steps = tuple(map(_sheet_step, lesson.steps, spoken(lesson)))
    pages = [title for title, _ in parts]
    title, summary = tr(lesson.title), tr(lesson.summary)
    return worksheet_pdf(Worksheet(title, about, summary, steps, drawings, pages))


def _sheet_step(step: LessonStep, said: SpokenStep) -> SheetStep:
    choices = tuple(tr(choice.words) for choice in step.ask.choices) if step.ask else ()
    answer = "" if said.right is None else choices[said.right]
    return SheetStep(said.say, said.question, choices, said.do, answer, said.reveal)
