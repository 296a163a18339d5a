"""The project's own texts: no placeholders, a notebook that is up to date."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.depth import mostly_slow

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or not shutil.which("git"), reason="git knows what is tracked"
)
def test_no_document_holds_a_placeholder() -> None:
    command = ["git", "ls-files", "-z", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    assert ROOT / "README.md" in paths
    assert [
        path.name
        for path in paths
        if path.exists() and re.search(r"\{\{|^[A-Z]{3,}$", path.read_text("utf-8"), re.M)
    ] == []


NOTEBOOKS = {"figures": 4, "sampling": 4, "speculation": 3, "evaluation": 3}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_that_of_its_source_and_holds_its_pictures(name: str) -> None:
    text = (ROOT / f"docs/{name}.ipynb").read_text("utf-8")
    assert len(text) < 700_000 and str(ROOT) not in text
    made = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    run = [line for cell in made for line in "".join(cell["source"]).splitlines()]
    source = (ROOT / f"docs/{name}.py").read_text("utf-8").splitlines()
    assert list(filter(None, run)) == [line for line in source if line and line[0] != "#"]
    outputs = [output for cell in made for output in cell["outputs"]]
    assert not any(
        output["output_type"] == "error" or output.get("name") == "stderr" for output in outputs
    )
    pictures = sum("image/png" in output.get("data", ()) for output in outputs)
    assert pictures == NOTEBOOKS[name]


@pytest.mark.parametrize(
    "name", mostly_slow((name for name in NOTEBOOKS if name != "figures"), ["sampling"])
)
def test_a_notebook_runs_and_its_statements_hold(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The source runs as a script; the fourth notebook needs IPython and a browser."""
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(ROOT / f"docs/{name}.py"))
    assert capsys.readouterr().out
