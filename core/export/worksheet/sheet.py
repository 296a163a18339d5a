"""Typeset a worksheet as PDF with typst: steps and questions of a lesson, answers at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import typst

from ...decoding.errors import FigureError
from ...language import N_, current, tr
from ..drawing.font_files import BOLD, REGULAR, SANS
from ..drawing.fonts import FontFile, fonts_for
from ..drawing.svg import SvgDrawing

# Words of the template.
_WORDS = {
    "step": N_("Step"),
    "why": N_("Why do you think so?"),
    "app": N_("In the app:"),
    "happened": N_("What happened?"),
    "examples": N_("Examples"),
    "others": N_(
        "These figures show how the pages look. They are of other runs than those of this lesson."
    ),
    "answers": N_("Answers"),
}
_TEMPLATE = Path(__file__).with_suffix(".typ").read_text(encoding="utf-8")


class SheetStep(NamedTuple):
    """A step of a worksheet, as plain text.

    Args:
        say: the step's first words.
        question: asked before the learner acts; empty if the step asks nothing.
        choices: texts of the answers, one box each.
        do: what the learner does in the app.
        answer: for the last page: the right answer; empty if it isn't known.
        reveal: for the last page: the step's last words.
    """

    say: str
    question: str = ""
    choices: tuple[str, ...] = ()
    do: str = ""
    answer: str = ""
    reveal: str = ""


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A worksheet.

    Args:
        about: a line under the title, such as the length of the lesson.
        drawings: figures of stored examples in print size, on a page behind the questions.
        pages: title of the page that each is from.
    """

    title: str
    about: str
    summary: str
    steps: tuple[SheetStep, ...]
    drawings: Sequence[SvgDrawing] = ()
    pages: Sequence[str] = ()

    @property
    def texts(self) -> Iterable[str]:
        """All texts that the worksheet prints."""
        yield from (self.title, self.about, self.summary, *self.pages, *map(tr, _WORDS.values()))
        for step in self.steps:
            yield from (step.say, step.question, *step.choices, step.do, step.answer, step.reveal)
        for drawing in self.drawings:
            yield from (drawing.text, drawing.title)


def worksheet_pdf(sheet: Worksheet) -> bytes:
    """Return the worksheet as PDF, A4; text and figures have the project's fonts alone.

    Raises:
        FigureError: a figure is damaged.
    """
    with TemporaryDirectory(prefix="worksheet-") as folder:
        root = Path(folder)
        (root / "sheet.typ").write_text(_TEMPLATE, encoding="utf-8")
        for at, drawing in enumerate(sheet.drawings):
            (root / f"{at}.svg").write_text(drawing.text, encoding="utf-8")
        for at, face in enumerate(_faces(sheet)):
            (root / f"{at}.ttf").write_bytes(face.data)
        try:
            made: bytes = typst.compile(
                root / "sheet.typ",
                root=root,
                font_paths=[root],
                ignore_system_fonts=True,
                format="pdf",
                sys_inputs={"sheet": json.dumps(_plain(sheet))},
                package_path=root,
                package_cache_path=root,
            )
        except typst.TypstError as error:
            raise FigureError(N_("A picture of this worksheet is damaged.")) from error
    return made


def _faces(sheet: Worksheet) -> Sequence[FontFile]:
    """Return one face for each family and weight: typst takes the first font of a name."""
    kinds = {(face.family, face.weight) for d in sheet.drawings for face in d.fonts.faces}
    kinds |= {(SANS, REGULAR), (SANS, BOLD)}
    characters = set(chain.from_iterable(sheet.texts)) | set("☐")
    return fonts_for(dict.fromkeys(sorted(kinds), characters)).faces


def _plain(sheet: Worksheet) -> dict[str, object]:
    """Return what the template reads; texts are data in it and never markup."""
    millimetres = 25.4 / 96
    return {
        "language": current(),
        "words": {name: tr(words) for name, words in _WORDS.items()},
        "title": sheet.title,
        "about": sheet.about,
        "summary": sheet.summary,
        "steps": [step._asdict() for step in sheet.steps],
        "figures": [
            {
                "file": f"{at}.svg",
                "width": drawing.width * drawing.scale * millimetres,
                "alt": drawing.alt,
                "page": page,
            }
            for at, (drawing, page) in enumerate(zip(sheet.drawings, sheet.pages, strict=True))
        ],
    }
