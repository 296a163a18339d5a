"""Pages run in AppTest on synthetic traces: no model, no browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

import core
from core.decoding.trace import Trace
from core.export.web import page
from pages.ui import registry
from pages.ui.decode.state import DecodeView
from pages.ui.run import work
from pages.ui.run.view import View
from pages.ui.shell import models
from pages.ui.widgets import later
from tests.figures.traces import make_trace
from tests.ui.reason_app import open_reason, scripted, stored  # noqa: F401 - fixtures
from tests.ui.seen import SECONDS

ROOT = Path(__file__).parents[2]
Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def packages_are_looked_through_once() -> Iterator[None]:
    """Each app looks for components in all installed packages: a fifth of what a page costs."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def saved_pages_hold_no_fonts() -> Iterator[None]:
    """Cutting them to a page's characters takes seconds; `tests/export` looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "font_rules", lambda _: "")
        yield


@pytest.fixture(scope="session")
def read_once() -> Callable[..., Any]:
    """`load_model` that reads an embedded model once for all tests: no run changes one."""
    load, kept = core.load_model, {}

    def loaded(where: str, **more: Any) -> Any:
        if not where.startswith("embedded:"):
            return load(where, **more)
        if where not in kept:
            kept[where] = load(where, **more)
        return kept[where]

    return loaded


@pytest.fixture(autouse=True)
def embedded_models_are_read_once(
    monkeypatch: pytest.MonkeyPatch, read_once: Callable[..., Any]
) -> None:
    monkeypatch.setattr(core, "load_model", read_once)


@pytest.fixture(autouse=True)
def nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page draws all its figures at once; a browser asks for those below the first one."""
    monkeypatch.setattr(later, "waits", lambda _: False)


@pytest.fixture(autouse=True)
def what_is_soon_there_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page shows what its workers were asked for, on a busy machine too."""
    monkeypatch.setattr(work, "PATIENCE_SECONDS", SECONDS / 2)


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing loads torch in the background, and no cache lives from test to test."""
    monkeypatch.setattr(models, "warm_up", lambda: None)
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache directory without converted files and without models that were used last."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def set_example(monkeypatch: pytest.MonkeyPatch, kind: type[View], example: Trace | None) -> None:
    """What views of just this kind show first."""
    load = View.load_example.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        View,
        "load_example",
        classmethod(lambda cls: example if cls is kind else load(cls)),
    )


def open_page(app: AppTest, script: str) -> AppTest:
    """Draw the page of this script first, as a link to it does."""
    path = next(page.path for page in registry.PAGES if page.script == script)
    app._page_hash = calc_hash(path) if path else ""
    return app.run()


@pytest.fixture
def example() -> Trace:
    """What the page shows first."""
    return make_trace()


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch, example: Trace) -> Open:
    """Open a page of the app on the example, with these parameters in the address.

    The charts are there at once; a browser gets them after the text. A session lasts as long as
    its test: what a page offers is gone with it.
    """
    set_example(monkeypatch, DecodeView, example)
    sessions = []

    def open_it(script: str = "decode.py", /, **parameters: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=SECONDS)
        for name, value in parameters.items():
            app.query_params[name] = value
        view = DecodeView.initial()
        view.painted = True
        app.session_state["view"] = view
        sessions.append(app)
        return open_page(app, script)

    return open_it
