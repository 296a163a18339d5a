"""A lesson's worksheet: its sentences, its boxes, its answers at the end, hostile texts."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from core.cli.main import main
from core.export.worksheet import lesson as worksheets
from core.export.worksheet import sheet as sheets
from core.export.worksheet.sheet import SheetStep, Worksheet, worksheet_pdf
from core.language import use
from core.lessons import transcript
from core.lessons.course import OWN, own_lessons
from core.lessons.read import read_lesson
from core.lessons.sentences import PLACEHOLDER
from core.lessons.transcript import spoken
from core.lessons.types import Lesson
from pages.ui.registry import page_at

HOSTILE = '#pagebreak() $x$ *b* "q" \\ ] 日本語 <img src=x>'
STEP = SheetStep("Say", "Which?", ("one", HOSTILE), "Press Run.", "one", "It was one.")


def pages_of(pdf: bytes) -> int:
    """Return the number of pages."""
    return max(int(count) for count in re.findall(rb"/Count (\d+)", pdf))


def test_texts_are_data_and_never_markup() -> None:
    plain = Worksheet("T", "about", "s", (STEP._replace(choices=("one", "two")),))
    evil = Worksheet(HOSTILE, HOSTILE, HOSTILE, (STEP, STEP._replace(say=HOSTILE)))
    assert pages_of(worksheet_pdf(plain)) == pages_of(worksheet_pdf(evil)) == 2
    assert worksheet_pdf(plain).startswith(b"%PDF-")


def test_the_answers_are_on_the_last_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    compile_it = sheets.typst.compile

    def watched(*args: object, **named: object) -> object:
        seen.append(str(named["sys_inputs"]))
        return compile_it(*args, **named)

    monkeypatch.setattr(sheets.typst, "compile", watched)
    steps = (STEP,) * 12
    long, without = (
        pages_of(worksheet_pdf(Worksheet("T", "a", "s", made)))
        for made in (steps, tuple(step._replace(answer="", reveal="") for step in steps))
    )
    assert long >= without >= 3 and "It was one." in seen[0] and "It was one." not in seen[1]
    template = sheets._TEMPLATE
    # A figure of another run never stands above a question.
    places = ["question-of(step) }", "image(", "sheet.words.answers", "step.answer", "#step.reveal"]
    assert sorted(places, key=template.index) == places


def test_one_face_has_the_signs_of_all_texts() -> None:
    faces = sheets._faces(Worksheet("T", "a", "日", (STEP,)))
    assert sorted((face.family, face.weight) for face in faces) == [
        ("Decoding Sans", 400),
        ("Decoding Sans", 700),
    ]
    for face in faces:
        assert {ord(sign) for sign in "T日本語"} <= TTFont(
            io.BytesIO(face.data)
        ).getBestCmap().keys()


@pytest.mark.parametrize("lesson", own_lessons(), ids=lambda lesson: lesson.name)
def test_a_figure_of_each_page_is_drawn(lesson: Lesson) -> None:
    parts = worksheets.worksheet_parts(lesson)
    pages = dict.fromkeys(step.page for step in lesson.steps if step.page)
    titles = [page_at(path).title for path in pages if path != "compare"]
    assert [title for title, _ in parts] == titles
    assert len(worksheets.worksheet_figures(lesson)) == len(parts)


@pytest.mark.parametrize("lesson", own_lessons(), ids=lambda lesson: lesson.name)
def test_the_stored_sentences_are_those_of_the_lesson(lesson: Lesson) -> None:
    said = spoken(lesson)
    assert lesson.name in transcript._stored() and len(said) == len(lesson.steps)
    for step, told in zip(lesson.steps, said, strict=True):
        for text, filled in ((step.say, told.say), (step.reveal, told.reveal)):
            form = "(.+)".join(map(re.escape, PLACEHOLDER.split(text)[::2]))
            assert re.fullmatch(form, filled), (text, filled)
        assert (told.right is None) or step.ask is not None
        assert bool(told.question) == (step.ask is not None) and bool(told.do) == bool(step.do)
    asked = [told for step, told in zip(lesson.steps, said, strict=True) if step.ask]
    assert all(told.right is not None for told in asked)


def test_a_lesson_from_a_file_has_its_questions_without_answers() -> None:
    file = b"""title: T
minutes: 5
summary: S
steps:
  - page: decode
    say: The model wrote {text}.
    ask: {question: Why?, fact: text, choices: [{words: a, is: a}, {words: b, otherwise: true}]}
    reveal: It wrote {text}.
"""
    [step] = spoken(read_lesson(file, OWN))
    assert step.question == "Why?" and step.right is None and step.reveal == ""
    assert "{" not in step.say


def test_the_command_names_the_lessons(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worksheet", "nothing", "out.pdf"]) == 2
    error = capsys.readouterr().err
    assert "There is no lesson 'nothing'" in error and "one-token" in error


def test_the_command_writes_the_pdf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from core.export.drawing import chrome

    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><g/></svg>'
    monkeypatch.setattr(chrome, "svgs", lambda figures: [svg] * len(figures))
    out = tmp_path / "sheet.pdf"
    assert main(["worksheet", "one-token", str(out)]) == 0
    assert pages_of(out.read_bytes()) >= 2
    assert "written to" in capsys.readouterr().err


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_lesson_is_spoken_in_the_reader_s_language_with_the_same_numbers(language: str) -> None:
    for lesson in own_lessons():
        english = spoken(lesson)
        with use(language):
            translated = spoken(lesson)
        for before, after in zip(english, translated, strict=True):
            for said, words in zip(before[:4], after[:4], strict=True):
                assert not said or words != said
                assert set(re.findall(r"\d+\.\d+", said)) <= set(re.findall(r"\d+\.\d+", words))
            assert after.right == before.right
