"""Pages run in AppTest on synthetic traces: no model, no browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.decoding.trace import Trace
from pages.ui.decode.state import DecodeView
from pages.ui.run.view import View
from pages.ui.shell import models
from pages.ui.widgets import later
from tests.figures.traces import make_trace
from tests.ui.reason_app import open_reason, scripted, stored  # noqa: F401 - fixtures

ROOT = Path(__file__).parents[2]
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page draws all its figures at once; a browser asks for those below the first one."""
    monkeypatch.setattr(later, "waits", lambda _: False)


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


@pytest.fixture
def example() -> Trace:
    """What the page shows first."""
    return make_trace()


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch, example: Trace) -> Open:
    """Open the app on the example, with these parameters in the address.

    The charts are there at once; a browser gets them after the text.
    """
    set_example(monkeypatch, DecodeView, example)

    def open_it(**parameters: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=20)
        for name, value in parameters.items():
            app.query_params[name] = value
        view = DecodeView.initial()
        view.painted = True
        app.session_state["view"] = view
        return app.run()

    return open_it
