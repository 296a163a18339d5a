"""What holds for the project's own texts."""

from __future__ import annotations

import json
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
    held = [
        path.name
        for path in paths
        if path.exists() and re.search(r"\{\{|^[A-Z]{3,}$", path.read_text("utf-8"), re.M)
    ]
    assert held == []


def test_what_figures_offer_is_named_by_dir() -> None:
    stub = Path(figures.__file__).with_name("__init__.pyi").read_text("utf-8")
    offered = re.findall(r" import (\w+) as \1$", stub, re.MULTILINE)
    assert offered and set(offered) <= set(dir(figures))
    drawn = {name.removesuffix("_data") for name in offered if name.endswith("_data")}
    assert {"beam_tree", "candidate_bars", "spec_timeline"} <= drawn & set(offered)


def test_the_notebook_is_that_of_its_source_and_holds_its_pictures() -> None:
    text = (ROOT / "docs/figures.ipynb").read_text("utf-8")
    assert len(text) < 700_000 and str(ROOT) not in text
    made = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    run = [line for cell in made for line in "".join(cell["source"]).splitlines()]
    source = (ROOT / "docs/figures.py").read_text("utf-8").splitlines()
    assert list(filter(None, run)) == [line for line in source if line and line[0] != "#"]
    outputs = [one for cell in made for one in cell["outputs"]]
    assert not any(one["output_type"] == "error" or one.get("name") == "stderr" for one in outputs)
    assert sum("image/png" in one.get("data", ()) for one in outputs) == 4
