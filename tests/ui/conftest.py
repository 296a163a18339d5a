"""Pages run in AppTest on synthetic traces: no model, no browser."""

from __future__ import annotations

import sys
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
from core.decoding.record.trace import Trace
from core.export.web import page
from pages.ui import registry
from pages.ui.decode.state import DecodeView
from pages.ui.resources import models
from pages.ui.run import work
from pages.ui.run.display import later
from pages.ui.run.view import View
from tests.figures.traces import make_trace
from tests.ui.reason_app import open_reason, scripted, stored  # noqa: F401 - fixtures
from tests.ui.seen import SECONDS
from tests.ui.stores import uncached

ROOT = Path(__file__).parents[2]
Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def what_takes_long_is_left_out() -> Iterator[None]:
    """Each app looks for components in all installed packages: a fifth of what a page costs.

    To cut a saved page's fonts to its characters takes seconds; `tests/export` looks at them.
    """
    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        patch.setattr(page, "font_rules", lambda _: "")
        yield


@pytest.fixture(scope="session")
def read_once() -> Callable[..., Any]:
    """`load_model` that reads an embedded model once for all tests: no run changes one."""
    load = core.load_model
    cached = cache(load)

    def loaded(where: str, **more: Any) -> Any:
        return cached(where) if where.startswith("embedded:") else load(where, **more)

    return loaded


@pytest.fixture(autouse=True)
def alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_once: Callable[..., Any]
) -> Iterator[None]:
    """A page that waits for nothing, in a session of its own."""
    monkeypatch.setattr(core, "load_model", read_once)
    # All figures are drawn at once; a browser asks for those below the first one.
    monkeypatch.setattr(later, "waits", lambda _: False)
    # What the workers were asked for is shown, on a busy machine too.
    monkeypatch.setattr(work, "PATIENCE_SECONDS", SECONDS / 2)
    # Nothing loads torch in the background.
    monkeypatch.setattr(models, "warm_up", lambda: None)
    # Neither converted files nor models that were used last, and no cache of a test before.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # A page is run as the main module, which a process that a later test spawns would run again.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    _forget()
    yield
    _forget()


def _forget() -> None:
    st.cache_resource.clear()
    models.MODELS.empty()
    models.REWARDS.empty()


def set_example(monkeypatch: pytest.MonkeyPatch, kind: type[View], example: Trace | None) -> None:
    """Set the first run that views of exactly this kind show."""
    load = View.load_example.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        View,
        "load_example",
        classmethod(lambda cls: example if cls is kind else load(cls)),
    )


def open_page(script: str, state: dict[str, Any], /, **parameters: str) -> AppTest:
    """Open the app at this page, as a link does.

    Args:
        state: of the session, before the page is drawn.
        parameters: of the address.
    """
    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=SECONDS)
    app.query_params.update(parameters)
    for key, value in state.items():
        app.session_state[key] = value
    path = next(page.path for page in registry.PAGES if page.script == script)
    app._page_hash = calc_hash(path) if path else ""
    assert not app.run().exception
    return app


def serve(monkeypatch: pytest.MonkeyPatch, model: Any) -> Any:
    """Whatever model a page asks for, it gets this one."""
    import torch

    torch.set_num_threads(1)
    monkeypatch.setattr(models, "MODELS", uncached(lambda _: model))
    return model


@pytest.fixture(autouse=True)
def _loads_here(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A model that a test puts in place of the real one stands in this process alone."""
    if request.path.stem != "test_in_worker":
        monkeypatch.setattr(models, "unloaded", lambda _: None)


@pytest.fixture
def example() -> Trace:
    """Return the run that the page shows first."""
    return make_trace()


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch, example: Trace) -> Open:
    """Open a page of the app on the example, with these parameters in the address.

    The charts are there at once; a browser gets them after the text. A session lasts as long as
    its test: what a page offers is gone with it.
    """
    set_example(monkeypatch, DecodeView, example)
    sessions: list[AppTest] = []

    def open_it(script: str = "decode.py", /, **parameters: str) -> AppTest:
        view = DecodeView.initial()
        view.painted = True
        sessions.append(open_page(script, {"view": view}, **parameters))
        return sessions[-1]

    return open_it
