"""`make notebook`: run docs/figures.py cell by cell and write it with its outputs as a notebook."""

from __future__ import annotations

import ast
import io
import json
import os
import re
from base64 import b64encode
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import plotly.graph_objects as go

from core.export.chrome import svgs
from core.export.part import drawing
from core.export.render import png
from core.figures.base.paper import Paper

SOURCE = Path(__file__).with_name("figures.py")
NOTEBOOK = SOURCE.with_suffix(".ipynb")
_CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)
# Pixels an inch of the pictures in the notebook.
_DPI = 130


def cells(source: str) -> list[tuple[str, str]]:
    """The kind (`markdown` or `code`) and the text of each cell."""
    _, *parts = _CELL.split(source)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [(("markdown" if kind else "code"), _text(kind, text)) for kind, text in pairs]


def _text(kind: str | None, text: str) -> str:
    return re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE) if kind else text.strip()


def run(source: str) -> dict[str, Any]:
    """The notebook (nbformat 4.5) with what its cells print and draw."""
    names: dict[str, Any] = {"__name__": "notebook"}
    made = []
    for at, (kind, text) in enumerate(cells(source), 1):
        cell = {"id": f"cell-{at}", "cell_type": kind, "metadata": {}, "source": text}
        if kind == "code":
            count = 1 + sum(one["cell_type"] == "code" for one in made)
            cell |= {"execution_count": count, "outputs": _outputs(text, names, count)}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _outputs(text: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell; what it printed, and the value of its last expression."""
    tree, printed, value = ast.parse(text), io.StringIO(), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, SOURCE.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), SOURCE.name, "eval"), names)
    found: list[dict[str, Any]] = []
    if said := printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": said})
    if isinstance(value, go.Figure):
        shown = {"image/png": _picture(value, count), "text/plain": value.layout.meta["alt"]}
        result = {"data": shown, "metadata": {}, "execution_count": count}
        found.append({"output_type": "execute_result", **result})
    return found


def _picture(figure: go.Figure, count: int) -> str:
    drawn = drawing(svgs([figure])[0], figure, f"cell-{count}", Paper())
    return b64encode(png(drawn, _DPI)).decode()


def main() -> None:
    """Write the notebook."""
    with TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)
        try:
            made = run(SOURCE.read_text(encoding="utf-8"))
        finally:
            os.chdir(here)
    NOTEBOOK.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {NOTEBOOK.name}: {NOTEBOOK.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
