"""A good model's folder, and no network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.models.loading import hub
from core.models.registry import load_model
from tests.models.loading.kinds import make_good


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "good"
    make_good(folder)
    load_model(folder)  # Imports what every load needs: tests measure what one takes more.
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    """A copy of a good model, to be broken."""
    return Path(shutil.copytree(good, tmp_path / "model"))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "hub_answers", lambda: False)
