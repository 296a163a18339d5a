"""Stored examples: each file is read once in the life of the server."""

from __future__ import annotations

from pathlib import Path

from pages.ui.resources import examples
from tests.app_server import ROOT

STORED = [
    path
    for folder in ("traces", "evaluation")
    for path in (ROOT / "assets" / folder).iterdir()
    if path.suffix in (".json", ".jsonl")
]


def test_a_second_tour_of_all_pages_reads_no_stored_example_again(tmp_path: Path) -> None:
    read = list[str]()

    def note(path: str) -> str:
        read.append(path)
        return path

    files = [tmp_path / path.name for path in STORED]
    for path in files:
        path.touch()
    for _ in range(2):
        assert [examples.example(str(path), note) for path in files] == list(map(str, files))
    assert len(files) > 8 and sorted(read) == sorted(map(str, files))
