"""What holds for the project's own texts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or not shutil.which("git"), reason="git knows what is tracked"
)
def test_no_document_holds_a_placeholder() -> None:
    command = ["git", "ls-files", "-z", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    assert ROOT / "README.md" in paths
    held = [path.name for path in paths if path.exists() and "{{" in path.read_text("utf-8")]
    assert held == []
