"""Errors that are raised for a reader of another language: their own text stays English."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from core.decoding.constraints.value import read_constraint
from core.decoding.errors import ConfigError, DecodingError
from core.decoding.methods import METHODS
from core.decoding.shaping.config import Shaping
from core.evaluation.plan.plan_file import read_plan
from core.language import use
from core.language.make_messages import ROOT
from core.lessons.read import read_lesson
from core.server.api.errors import as_api_error
from core.server.api.request.formats import constraint_of
from core.traces.file import read_trace
from pages.ui.widgets.controls import constraint as constraint_control

_WRONG: tuple[Any, ...] = (None, -7, 1e12, float("nan"), "", "(", (), [object()], ("regex", "("))
# Calls that translate.
_TRANSLATES = {"tr", "trn"}


def _texts() -> Iterator[tuple[str, ConfigError]]:
    """Yield the error of each setting of each method with each wrong value that it refuses."""
    for kind in (Shaping, *(method.config for method in METHODS)):
        for field in fields(kind):
            for at, value in enumerate(_WRONG):
                try:
                    kind(**{field.name: value})
                except ConfigError as error:
                    yield f"{kind.__name__}.{field.name} {at}", error
                except (TypeError, AttributeError):
                    continue


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_the_error_of_every_setting_is_english_for_every_reader(language: str) -> None:
    english = {place: (str(error), str(error.plain)) for place, error in _texts()}
    assert len(english) > 500
    with use(language):
        here = {place: (str(error), str(error.plain), error.shown) for place, error in _texts()}
    assert {place: texts[:2] for place, texts in here.items()} == english
    same = [place for place, texts in here.items() if texts[2] == english[place][0]]
    assert same == []


_CALLS: tuple[Callable[[], object], ...] = (
    lambda: read_constraint("Shaping", "constraint", ("regex", "(")),
    lambda: read_trace(b"{}"),
    lambda: read_trace(b"[" * 200_000),
    lambda: read_plan(b"a: [1,"),
    lambda: read_lesson(b"a: *b", "x"),
    lambda: constraint_control._value("regex", "("),
)


@pytest.mark.parametrize("call", _CALLS)
def test_an_error_of_a_reader_is_english_and_its_sentence_translated(
    call: Callable[[], object],
) -> None:
    with pytest.raises(DecodingError) as english:
        call()
    with use("ja"), pytest.raises(DecodingError) as here:
        call()
    assert str(here.value) == str(english.value)
    with use("ja"):
        assert here.value.shown != str(english.value)


def test_an_answer_of_the_endpoint_is_english() -> None:
    with use("ja"):
        with pytest.raises(ConfigError) as error:
            Shaping(top_p=2)
        assert str(as_api_error(error.value)) == "top_p must lie in [0, 1], got 2."
        with pytest.raises(Exception, match=r"^regex is not a regular expression: [ -~]*$"):
            constraint_of("regex", "(", "regex")


def _raised() -> Iterator[tuple[str, ast.AST]]:
    for folder in ("core", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from _raises(path)


def _raises(path: Path) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield f"{path.relative_to(ROOT)}:{node.lineno}", node.exc


def test_no_error_is_raised_with_a_translated_text() -> None:
    wrong = [
        place
        for place, raised in _raised()
        for node in ast.walk(raised)
        if (isinstance(node, ast.Call) and getattr(node.func, "id", "") in _TRANSLATES)
        or (isinstance(node, ast.Attribute) and node.attr == "shown")
    ]
    assert wrong == []
