"""Whatever a file holds, its reader answers with its own error class and one sentence."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.mutations import spoiled
from tests.fuzz.readers import READERS, ROOT, Reader

# A few of each in every run of the tests; `make fuzz` asks for many.
CASES = int(os.environ.get("FUZZ_CASES", "40"))
LONGEST = 600


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_spoiled_file_is_taken_or_refused_in_one_sentence(reader: Reader) -> None:
    for seed in reader.seeds:
        reader.read(seed)

    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        derandomize="FUZZ_CASES" not in os.environ,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(spoiled(reader.seeds, lines=reader.lines))
    def one(data: bytes) -> None:
        try:
            reader.read(data)
        except Exception as error:
            if reader.error is None or not isinstance(error, reader.error):
                raise
            assert_one_sentence(str(error))

    one()


# A call of one of these parses text that somebody wrote.
PARSERS = re.compile(r"\b(json\.loads?|csv\.(reader|DictReader)|yaml\.\w*load|tomllib\.loads?)\b")
# Files of the project's own and of models, which have tests of their own.
ELSEWHERE = (
    "core/models/",
    "core/decoding/files.py",
    "core/language/",
    # It reads what it wrote: a rule, as the key of a cache.
    "core/server/api/request/bounds.py",
    "core/figures/base/measure.py",
    "pages/ui/resources/models.py",
    "pages/ui/resources/prompts.py",
)


def test_every_parser_has_a_row() -> None:
    """A file that parses JSON, CSV or YAML is one that a row of the table names."""
    modules = {reader.module for reader in READERS}
    assert all((ROOT / module).is_file() for module in modules)
    parsers = {
        path.relative_to(ROOT).as_posix()
        for folder in ("core", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if PARSERS.search(path.read_text(encoding="utf-8"))
    }
    assert {path for path in parsers if not path.startswith(ELSEWHERE)} <= modules


def assert_one_sentence(said: str) -> None:
    assert said.isprintable(), said
    assert said.endswith("."), said
    assert not said.endswith(".."), said
    assert len(said) <= LONGEST, said
    assert said.count("invalid") <= 1, said
    for word in ("Error", "Traceback", "<class"):
        assert word not in said, said
