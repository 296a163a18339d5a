"""What holds for the project's own texts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from core import figures

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


def test_what_figures_offer_is_named_by_dir() -> None:
    stub = Path(figures.__file__).with_name("__init__.pyi").read_text("utf-8")
    offered = re.findall(r" import (\w+) as \1$", stub, re.MULTILINE)
    assert offered and set(offered) <= set(dir(figures))
    drawn = {name.removesuffix("_data") for name in offered if name.endswith("_data")}
    assert {"beam_tree", "candidate_bars", "spec_timeline"} <= drawn & set(offered)
