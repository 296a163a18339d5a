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
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \| ?([^|]*) ?\|$", PAGE.read_text("utf-8"), re.M)
    assert [name for name, _, _ in rows[1:]] == list(SOURCES)
    for name, needs, settings in rows[1:]:
        assert set(re.findall(r"`(\w+)`", settings)) == SOURCES[name].settings  # type: ignore[index]
        assert bool(needs.strip()) == SOURCES[name].needs_draft  # type: ignore[index]
