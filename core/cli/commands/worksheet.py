"""`python -m core worksheet`: a lesson as PDF to print."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ...decoding.errors import FigureError
from ...decoding.files import write_file
from ...language import Message, use
from .. import output


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("lesson", help="name of a lesson of the course, or a lesson's YAML file")
    parser.add_argument("out", help="the PDF to write; - is stdout")
    output.add_language(parser)


def run(args: Namespace) -> int:
    """Write the worksheet."""
    from ...export.drawing.chrome import svgs
    from ...export.worksheet.lesson import lesson_worksheet, worksheet_figures
    from ...lessons.course import OWN, lesson_of, own_lessons
    from ...lessons.read import read_lesson

    lesson = lesson_of(args.lesson)
    if lesson is None and Path(args.lesson).suffix.lower() not in (".yaml", ".yml"):
        names = ", ".join(lesson.name for lesson in own_lessons())
        raise FigureError(
            Message(
                "There is no lesson {name!r}; name one of {names}, or a file.",
                name=args.lesson[:60],
                names=names,
            )
        )
    lesson = lesson or read_lesson(Path(args.lesson), OWN)
    output.require_writable(args.out, "out")
    with output.written(args.out, ".pdf") as path, output.writing(), use(args.lang):
        figures = worksheet_figures(lesson)
        write_file(Path(path), lesson_worksheet(lesson, figures, svgs(figures)))
    output.say_written(args.out)
    return 0
