"""The table of pages: each row gives a page's place in the navigation, its files, its address."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.decoding.methods import BY_NAME
from pages.ui import registry
from pages.ui.registry import PAGES, Named, Page
from pages.ui.widgets.controls import control
from tests.test_import_rules import imports_of
from tests.ui.conftest import Open

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_all_that_a_row_names_is_there(page: Page) -> None:
    assert (ROOT / "pages" / page.script).is_file()
    assert callable(page.view.find()) and callable(page.load_controls.find())
    for name in ("web_page", "parts", "tables"):
        assert callable(getattr(page.saved.find(), name))


def test_the_readme_has_each_page_with_its_sentence() -> None:
    rows = re.findall(r"^\| !\[.*\]\((.*)\) \| (.*) \|$", (ROOT / "README.md").read_text(), re.M)
    assert rows == [
        (
            f"docs/pages/{page.name}.png",
            page.summary.replace(page.title, f"**{page.title}**", 1),
        )
        for page in PAGES
    ]
    assert all((ROOT / picture).is_file() for picture, _ in rows)


def test_every_script_has_one_row_of_its_own() -> None:
    scripts = sorted(
        {path.name for path in (ROOT / "pages").glob("*.py")} - {"main.py", "__init__.py"}
    )
    assert sorted(page.script for page in PAGES) == scripts
    assert len({page.path for page in PAGES}) == len(PAGES)


def test_no_script_hides_a_library() -> None:
    """Streamlit puts the scripts' folder first on the way of every import."""
    for path in (ROOT / "pages").glob("*.py"):
        assert find_spec(path.stem) is None, path


def test_every_method_s_traces_are_shown_by_one_page() -> None:
    assert {page.path: page.shows for page in PAGES if page.shows} == {
        "beam": ("beam",),
        "diffusion": ("diffusion",),
        "reasoning": ("reasoning",),
        "sampling": ("lab",),
        "speculative": ("speculative",),
    }
    on_decode = {name for name in BY_NAME if registry.page_of(name) is registry.DECODE}
    assert on_decode == {*("contrastive", "contrastive_decoding", "engine", "greedy", "sampling")}


def test_an_unknown_path_is_home() -> None:
    assert registry.page_at("nowhere") is registry.HOME is PAGES[0]


METHODS = "pages.ui.decode.methods"


def reached(*modules: str) -> set[str]:
    """The modules that these import, and so on; `strategies` imports its neighbours by name."""
    found, left = set(), list(modules)
    while left:
        name = left.pop()
        path = ROOT.joinpath(*name.split("."))
        file = path.with_suffix(".py")
        if name not in found and (file.exists() or (path / "__init__.py").exists()):
            found.add(name)
            if name == f"{METHODS}.strategies":
                left += [f"{METHODS}.{path.stem}" for path in file.parent.glob("*.py")]
            left += imports_of(file if file.exists() else path / "__init__.py")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_declares_the_controls_that_it_draws(
    page: Page, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lab drew controls that Decode's module declares, which a server may not have opened."""
    for path in (ROOT / "pages/ui").rglob("*.py"):
        import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    every, find, rows = dict(control._rows), Named.find, {}

    def take(*modules: str) -> None:
        known = reached(*modules)
        rows.update({key: row for key, row in every.items() if control._declared_by[key] in known})

    def found(named: Named) -> Any:
        take(f"pages.ui.{named.name.partition(':')[0]}")
        return find(named)

    take("pages.main", f"pages.{page.script.removesuffix('.py')}")
    monkeypatch.setattr(control, "_rows", rows)
    monkeypatch.setattr(Named, "find", found)
    app = open_app(page.script)
    assert not [row.value for row in app.text if "Something went wrong" in row.value]
    assert not [row.label for row in app.button if row.label == "Reset this page"]
