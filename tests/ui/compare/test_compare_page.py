"""The Compare page: two runs, where they part, and why."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.ui.compare.state import PairView
from tests.ui import seen
from tests.ui.conftest import open_page


def opened(**parameters: str) -> AppTest:
    return open_page("compare.py", {"pair": PairView(painted=True)}, **parameters)


def test_two_stored_runs_are_compared_before_any_model_is_loaded() -> None:
    app = opened()
    said = seen.texts(app)
    assert "They differ in temperature (0.8 | 0.3)." in said
    assert "Other settings. The runs differ in temperature" in said
    assert {"candidates", "heatmap"} <= set(seen.charts(app))
