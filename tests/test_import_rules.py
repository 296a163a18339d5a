"""Imports run one way (DESIGN: decoding <- models <- traces; figures beside; pages on top)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
STDLIB = set(sys.stdlib_module_names)
# The folders of the methods, and what a method may be built on.
ROOMS = {path.parent.name for path in (ROOT / "core/decoding").glob("*/method.py")}
BUILT_ON = {key: {"autoregressive"} for key in ("contrastive", "diffusion", "reasoning")}
BUILT_ON["contrastive_decoding"] = {"autoregressive", "speculative"}
# folder -> what it may import besides the standard library and itself
ALLOWED = {
    # For make_messages, at development alone.
    "core/language": {"babel", "yaml", "core.decoding"},
    # pandas, anywidget: the types of Trace.to_pandas and Trace.widget.
    "core/decoding": {
        *("torch", "typing_extensions", "pydantic_core", "pandas", "anywidget", "llguidance"),
    },
    "core/models": {
        *("core.decoding", "torch", "transformers", "tokenizers", "safetensors"),
        *("huggingface_hub", "gguf", "httpx2", "numpy"),
    },
    "core/traces": {
        *("core.decoding", "core.models", "torch", "transformers"),
        *("google.protobuf", "opentelemetry", "pandas", "pydantic", "pydantic_core", "yaml"),
    },
    "core/evaluation": {
        *("core.decoding", "core.models", "core.traces.bounded_file", "pandas", "pydantic"),
        "core.traces.bounded_yaml",
        *("ray", "torch", "yaml"),
    },
    "core/figures": {
        *("core.decoding", "core.evaluation"),
        *("core.traces.data_path.types", "core.traces.data_path.steps"),
        *("lazy_loader", "networkx", "pandas", "plotly"),
    },
    "core/export": {
        *("core.decoding", "core.evaluation", "core.figures", "core.lessons", "core.traces"),
        *("fontTools", "typst", "PIL"),
        *("kaleido", "choreographer", "pandas", "plotly", "anywidget", "traitlets"),
    },
    "core/lessons": {
        *("core.decoding", "core.evaluation", "core.figures"),
        *("core.traces.bounded_file", "core.traces.bounded_yaml"),
    },
    "core/cli": {"core"},
    "core/server": {
        *("core.decoding", "core.models", "core.traces.data_path", "core.traces.bounded_file"),
        *("torch", "llguidance", "openai", "prometheus_client", "starlette", "uvicorn"),
    },
    "pages/ui": {
        *("core", "streamlit", "starlette", "plotly", "pandas", "google.protobuf"),
        "segno",
    },
    "pages": {"pages.ui", "core", "streamlit"},
}


# The rooms of pages/ui that all pages share, the lowest first: each imports those before it alone.
SHARED_ROOMS = ("registry", "platform", "resources", "widgets", "run", "shell")
# What hosting may import; app.py and the pages' rooms alone import hosting.
HOSTING_KNOWS = {"registry", "platform", "resources"}
# Rooms of pages that others are built on.
PAGE_BUILT_ON = {key: {"decode"} for key in ("beam", "compare", "inside", "lab", "read")}
PAGE_BUILT_ON["classroom"] = {"course"}
# Imports of pages/ui that run against this; the list only ever gets shorter.
UPWARD: set[tuple[str, str]] = set()
# Folders with more than 15 Python files; the list only ever gets shorter.
LARGE = {
    "pages",  # Streamlit wants a script for each page in one folder.
    *("benchmarks", "training/corpus"),
    *("tests/evaluation", "tests/figures", "tests/models", "tests/training"),
}


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Every module that a file imports anywhere, inside functions and type checks too."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, path)
            deeper = {f"{module}.{alias.name}" for alias in node.names}
            modules |= {d for d in deeper if _is_module(d)} or {module}
    return frozenset(modules)


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    """Return the module's name. `core` alone imports itself by relative names, and by no other: the
    installed package has another name."""
    in_core = path.is_relative_to(ROOT / "core")
    if not node.level:
        name = node.module or ""
        assert not in_core or name.split(".")[0] != "core", f"{path}: not relative: {name}"
        return name
    assert in_core, f"{path}: relative import"
    package = path.parent.relative_to(ROOT).parts
    return ".".join((*package[: len(package) - node.level + 1], *filter(None, [node.module])))


@cache
def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def files_of(folder: str) -> list[Path]:
    """A folder's Python files; `pages` without its subfolder, which has rules of its own."""
    pattern = "*.py" if folder == "pages" else "**/*.py"
    paths = sorted((ROOT / folder).glob(pattern))
    assert paths, f"a rule speaks of {folder}, which holds no Python file"
    return paths


def file_of(module: str) -> Path:
    """The file of a module that a rule names."""
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    assert path.exists(), f"a rule speaks of {module}, which is not there"
    return path


def decoding_of(path: Path) -> set[str]:
    """Return the modules of `core.decoding` that a file imports, relative to it."""
    prefix = "core.decoding."
    return {n.removeprefix(prefix) for n in imports_of(path) if n.startswith(prefix)}


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_imports_only_what_it_may(folder: str) -> None:
    allowed = {*ALLOWED[folder], "core.installation", "core.language"}
    if folder != "pages":
        allowed.add(folder.replace("/", "."))
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files_of(folder)
        for name in sorted(imports_of(path))
        if name.split(".")[0] not in STDLIB
        and not any(name == a or name.startswith(f"{a}.") for a in allowed)
    ]
    assert wrong == []


@pytest.mark.parametrize("method", sorted(ROOMS))
def test_decoding_methods_do_not_import_each_other(method: str) -> None:
    for part in ("config", "engine", "method"):
        imported = decoding_of(file_of(f"core.decoding.{method}.{part}"))
        rooms = {name.split(".")[0] for name in imported}
        assert rooms & ROOMS <= BUILT_ON.get(method, set()) | {method}, part


def room_of(module: str) -> str:
    """Return the room of a module below `pages.ui`."""
    return module.split(".")[2]


def may_import(room: str) -> set[str]:
    """Return the rooms of pages/ui that a room may import."""
    if room in SHARED_ROOMS:
        return set(SHARED_ROOMS[: SHARED_ROOMS.index(room) + 1])
    if room == "hosting":
        return HOSTING_KNOWS | {"hosting"}
    return {*SHARED_ROOMS, "hosting", room} | PAGE_BUILT_ON.get(room, set())


def test_rooms_of_pages_import_those_below_them() -> None:
    arrows = {
        (".".join(path.relative_to(ROOT).with_suffix("").parts), name)
        for path in files_of("pages/ui")
        for name in imports_of(path)
        if name.startswith("pages.ui.") and path.parent != ROOT / "pages/ui"
    }
    assert len(arrows) > 500
    assert {(a, b) for a, b in arrows if room_of(b) not in may_import(room_of(a))} == UPWARD
    used = {(room_of(a), room_of(b)) for a, b in arrows}
    assert all((page, base) in used for page, bases in PAGE_BUILT_ON.items() for base in bases)


def test_streamlit_s_own_modules_are_known_to_the_platform_and_to_hosting_alone() -> None:
    """Its runtime, its messages and its errors change from version to version."""
    assert {
        path.relative_to(ROOT / "pages/ui").parts[0]
        for path in files_of("pages/ui")
        if any(name.startswith("streamlit.") for name in imports_of(path))
        or "from streamlit import" in path.read_text(encoding="utf-8")
    } == {"platform", "hosting"}


def test_no_files_import_each_other_in_a_circle() -> None:
    every = [
        path for folder in ("core", "pages", "training") for path in (ROOT / folder).rglob("*.py")
    ]
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in every}
    graph = nx.DiGraph(
        (names[path], imported)
        for path in every
        for imported in imports_of(path) & set(names.values()) - {names[path]}
    )
    assert [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1] == []


def test_a_folder_holds_fifteen_files_at_most() -> None:
    """A larger folder has more than one subject; the list of exceptions only gets shorter."""
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for folder in ("core", "pages", "training", "benchmarks", "tests")
        for path in (ROOT / folder).rglob("*.py")
    )
    assert {folder for folder, count in counts.items() if count > 15} == LARGE


def declared_in(path: Path) -> Iterator[str]:
    """The names of a file's classes and types, those with an underscore left out."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case (
                ast.ClassDef(name=name)
                | ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ) if re.fullmatch("[A-Z]+[a-z]\\w*", name):
                yield name


def test_a_type_s_name_means_one_thing() -> None:
    """A reader meets it in any file; a name with an underscore is its file's own."""
    places = defaultdict(list)
    for path in (*files_of("core"), *files_of("pages/ui")):
        for name in declared_in(path):
            places[name].append(path)
    assert len(places) > 500
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_files_and_functions_are_short() -> None:
    """At most 350 lines a file and 60 a function (CONTRIBUTING: a function fits on a screen)."""
    for path in (*files_of("core"), *files_of("pages/ui")):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 350, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno + 1 <= 60, f"{path}: {node.name}"


def test_reading_what_is_stored_and_drawing_it_load_no_torch() -> None:
    code = (
        "import sys; from core import Trace, read_trace, Sampling;"
        "from core import BeamSearch, guess_parents, lineage, rerank;"
        "from core.evaluation.example import load_example;"
        "load_example('assets/traces/reasoning.json');"
        "from core.traces.lab import load_lab; load_lab('assets/traces/lab.json');"
        "assert 'pandas' not in sys.modules;"
        "from core.figures import *; import core.traces.file;"
        "import core.evaluation.types, core.evaluation.sweep.curves;"
        "import core.evaluation.questions.problems, core.decoding.reasoning.transcript;"
        "from core.decoding.methods import METHODS;"
        "assert METHODS and step_stages and 'pandas' in sys.modules;"
        "from core.models.places import list_embedded; list_embedded();"
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


def test_a_protocol_is_asked_for_by_offers() -> None:
    """From Python 3.12 on, `isinstance` finds nothing in a wrapped model."""
    assert not [
        path for path in (ROOT / "core").rglob("*.py") if "runtime_checkable" in path.read_text()
    ]


def test_a_job_imports_transformers_after_its_model_is_loaded() -> None:
    """Two threads that import transformers' names by different ways break each other's imports.

    The load imports them first, in one thread at a time.
    """
    late, loads = (
        {"core.models.inside", "core.traces.data_path.again"},
        {"load_for", "_with_modules"},
    )
    seen = 0
    for path in sorted((ROOT / "pages/ui").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef) or function.name in loads:
                continue
            nodes = list(ast.walk(function))
            imports = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module in late]
            calls = [
                node.lineno
                for node in nodes
                if isinstance(node, ast.Call)
                and getattr(node.func, "attr", getattr(node.func, "id", "")) in loads
            ]
            for node in imports:
                assert min(calls, default=node.lineno) < node.lineno, f"{path.name}:{node.lineno}"
                seen += 1
    assert seen >= 4
