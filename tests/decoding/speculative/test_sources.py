"""The declaration of the draft sources."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from core import Speculative
from core.decoding.speculative.drafters.start import _named
from core.decoding.speculative.sources import SOURCES, Drafter
from core.models.places import DEFAULT_DRAFTS

PAGE = Path(__file__).parents[3] / "docs" / "drafts.md"


def test_every_choice_of_the_config_is_a_row_and_every_row_a_choice() -> None:
    assert tuple(SOURCES) == get_args(Drafter)
    assert {row.name for row in SOURCES.values() if row.needs_draft} == DEFAULT_DRAFTS.keys()


@pytest.mark.parametrize("name", SOURCES)
def test_a_row_names_what_is_there(name: Drafter) -> None:
    row = SOURCES[name]
    assert callable(_named(row.start))
    assert row.settings <= {field.name for field in fields(Speculative)}
    assert not (row.from_text and (row.needs_draft or row.draws))


def test_the_page_lists_every_source_with_its_own_settings() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    rows = [line.strip("|").split("|") for line in lines[1:]]
    assert [re.findall(r"`(\w+)`", row[0]) for row in rows] == [[name] for name in SOURCES]
    for (_, _, needs, settings), source in zip(rows, SOURCES.values(), strict=True):
        assert set(re.findall(r"`(\w+)`", settings)) == source.settings
        assert bool(needs.strip()) == source.needs_draft
