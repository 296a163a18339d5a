"""A gesture draws anew what it changes, not the whole page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.run.display import panel
from tests.ui.conftest import Open
from tests.ui.knobs import report
from tests.ui.seen import texts

Touch = Callable[[AppTest], Any]


@pytest.mark.parametrize(
    ("script", "touch", "words"),
    [
        (
            "beam.py",
            lambda app: app.button(key="deselect").click().run(),
            "No candidate is selected",
        ),
        ("beam.py", lambda app: report(app, length_penalty=-2.0), "Ranked anew"),
        (
            "beam.py",
            lambda app: app.segmented_control(key="early").set_value(True).run(),
            "Ranked anew",
        ),
        ("speculative.py", lambda app: app.button(key="to-recovered").click().run(), "recovered"),
        ("reasoning.py", lambda app: report(app, thinking=40), "Press Run"),
    ],
)
def test_a_gesture_draws_only_what_it_changes(
    script: str, touch: Touch, words: str, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app().switch_page(script).run()
    whole, read = [], panel.read_controls

    def read_controls(*asked: Any) -> Any:
        whole.append(asked)
        return read(*asked)

    monkeypatch.setattr(panel, "read_controls", read_controls)
    touch(app)
    assert not app.exception and not whole
    assert words in texts(app)
    app.run()
    assert len(whole) == 1 and words in texts(app)
