"""Imports run one way (DESIGN: decoding <- models <- traces; figures beside; pages on top)."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STDLIB = set(sys.stdlib_module_names)
NO_TORCH = {"types", "configs", "errors", "serial", "__init__"}
NO_TORCH |= {"beam_types", "beam_rules", "beam_replay", "beam_autopsy"}
NO_TORCH |= {"orders", "lab_types", "lab_serial"}
NO_TORCH |= {"speculative_types", "speculative_metrics", "speculative_serial"}
NO_TORCH |= {"acceptance", "scoring", "columns", "speculative_report"}
NO_TORCH |= {"calculator", "reasoning_types", "reasoning_read"}
OURS = ("core", "pages", "training", "benchmarks", "tests", "app")

# folder -> what it may import besides the standard library and itself
ALLOWED = {
    "core/decoding": {"torch"},
    "core/models": {"core.decoding", "torch", "transformers", "tokenizers", "safetensors"},
    "core/traces": {"core.decoding", "core.models", "pydantic", "torch", "transformers"},
    "core/reasoning": {"core.decoding", "core.models", "pandas", "pydantic"},
    "core/figures": {"core.decoding", "core.reasoning", "plotly", "networkx", "pandas"},
    "core/cli": {"core"},
    "pages/ui": {"core", "streamlit", "plotly", "pandas"},
    "pages": {"pages.ui", "core", "streamlit"},
}
FIGURES_MAY_READ = {"core.decoding.types", "core.decoding.configs", "core.decoding.lab_types"}
FIGURES_MAY_READ |= {"core.decoding.speculative_metrics", "core.decoding.acceptance"}
FIGURES_MAY_READ |= {"core.decoding.speculative_types"}
FIGURES_MAY_READ |= {"core.decoding.scoring", "core.decoding.speculative_report"}
FIGURES_MAY_READ |= {f"core.decoding.beam_{name}" for name in ("replay", "rules", "autopsy")}
FIGURES_MAY_READ |= {"core.decoding.reasoning_types", "core.decoding.reasoning_read"}
# What a stored sweep is drawn from; the rest of the folder runs models.
REASONING_WITHOUT_MODELS = {"sweep_types", "types", "curves", "fair", "intervals", "example"}
REASONING_WITHOUT_MODELS |= {"answers"}


def imports_of(path: Path) -> set[str]:
    """Every module that a file imports anywhere, inside functions and type checks too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            deeper = {f"{module}.{alias.name}" for alias in node.names}
            found |= {d for d in deeper if _is_module(d)} or {module}
    return found


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def files_of(folder: str) -> list[Path]:
    """A folder's Python files; `pages` without its subfolder, which has rules of its own."""
    pattern = "*.py" if folder == "pages" else "**/*.py"
    return sorted((ROOT / folder).glob(pattern))


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_imports_only_what_it_may(folder: str) -> None:
    own = folder.replace("/", ".")
    allowed = {own, *ALLOWED[folder]} if folder != "pages" else ALLOWED[folder]
    assert files_of(folder)
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files_of(folder)
        for name in sorted(imports_of(path))
        if name.split(".")[0] not in STDLIB
        and not any(name == a or name.startswith(f"{a}.") for a in allowed)
    ]
    assert wrong == []


def test_types_and_configs_load_without_torch() -> None:
    for path in (ROOT / "core/decoding").glob("*.py"):
        if path.stem in NO_TORCH:
            reached = {name.split(".")[-1] for name in imports_of(path) if "decoding" in name}
            assert "torch" not in imports_of(path), path
            assert reached <= NO_TORCH, path


def test_figures_read_of_reasoning_what_needs_no_model() -> None:
    allowed = {f"core.reasoning.{name}" for name in REASONING_WITHOUT_MODELS}
    for path in files_of("core/figures"):
        names = {n for n in imports_of(path) if n.startswith("core.reasoning")}
        assert names <= allowed, path


def test_figures_read_nothing_of_decoding_but_types_configs_and_replays() -> None:
    for path in files_of("core/figures"):
        names = {n for n in imports_of(path) if n.startswith("core.decoding")}
        assert names <= FIGURES_MAY_READ, path


def test_core_knows_no_streamlit_and_no_pages() -> None:
    for path in (ROOT / "core").rglob("*.py"):
        roots = {name.split(".")[0] for name in imports_of(path)}
        assert not roots & {"streamlit", "pages", "app"}, path


def test_pages_never_import_each_other() -> None:
    pages = {path.stem for path in files_of("pages")}
    for path in files_of("pages"):
        assert not {f"pages.{stem}" for stem in pages} & imports_of(path), path


def test_decoding_methods_do_not_import_each_other() -> None:
    methods = {"autoregressive", "beam", "speculative", "reasoning"}
    for stem in methods:
        path = ROOT / "core/decoding" / f"{stem}.py"
        if path.exists():
            # Reasoning is built on the autoregressive method.
            own = {stem, "autoregressive"} if stem == "reasoning" else {stem}
            others = {f"core.decoding.{name}" for name in methods - own}
            assert not others & imports_of(path), path


def test_reading_a_stored_trace_and_drawing_it_load_no_torch() -> None:
    import subprocess

    code = (
        "import sys; from core import Trace, read_trace, Sampling;"
        "from core import BeamSearch, guess_parents, lineage, rerank;"
        "from core.figures import *; import core.traces.file, core.traces.lab;"
        "import core.reasoning.types, core.reasoning.curves, core.reasoning.example;"
        "import core.reasoning.problems, core.decoding.reasoning_read;"
        "assert step_way and 'pandas' in sys.modules;"
        "assert not {'torch', 'transformers', 'streamlit'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_public_face_resolves_every_name() -> None:
    import core

    for name in core.__all__:
        assert getattr(core, name) is not None
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = core.nothing_here
