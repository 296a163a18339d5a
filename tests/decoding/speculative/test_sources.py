"""The declaration of the draft sources."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from core import Speculative
from core.decoding.speculative.drafters.start import _named
from core.decoding.speculative.sources import SOURCES, Drafter
from core.models.places import DEFAULT_DRAFTS


def test_every_choice_of_the_config_is_a_row_and_every_row_a_choice() -> None:
    assert tuple(SOURCES) == get_args(Drafter)
    assert {row.name for row in SOURCES.values() if row.needs_draft} == DEFAULT_DRAFTS.keys()


@pytest.mark.parametrize("name", SOURCES)
def test_a_row_names_what_is_there(name: Drafter) -> None:
    row = SOURCES[name]
    assert callable(_named(row.start))
    assert row.settings <= {field.name for field in fields(Speculative)}
    assert not (row.needs_draft and row.from_text)
