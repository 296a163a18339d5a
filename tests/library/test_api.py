"""The public names: each has an example that runs, and docs/api.md is made of their docstrings."""

from __future__ import annotations

import doctest
from functools import cache
from pathlib import Path

import pytest

import core
from core import figures
from tests.library import api_page

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
# Examples share loaded models.
NAMES = {name: getattr(core, name) for name in core.__all__}
NAMES |= {"figures": figures, "load_model": cache(core.load_model)}


@pytest.mark.parametrize("name", sorted(core.__all__))
def test_the_example_of_a_public_name_runs(name, tmp_path, monkeypatch, capsys) -> None:
    if name == "explore":
        pytest.importorskip("anywidget")  # requirements-notebook.txt
    monkeypatch.chdir(tmp_path)
    text = api_page.parts_of(getattr(core, name))["Example"]
    example = doctest.DocTestParser().get_doctest(text, dict(NAMES), name, None, 0)
    assert example.examples
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(example)
    assert not failed, capsys.readouterr().out


def test_the_reference_is_that_of_the_docstrings() -> None:
    """`python -m tests.library.api_page > docs/api.md` writes it."""
    assert (ROOT / "docs/api.md").read_text(encoding="utf-8") == api_page.page()


def test_the_reference_shows_types_without_their_bounds() -> None:
    kept = next(row for row in api_page.field_rows(core.BeamStep) if "kept_logprobs" in row)
    assert "| tuple[tuple[FiniteNumber \\| None, ...], ...] |" in kept
