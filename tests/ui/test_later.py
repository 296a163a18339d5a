"""On the first paint a page's first figure goes ahead; the browser asks for the others."""

import pytest

from pages.ui.widgets import later
from tests.ui.conftest import Open
from tests.ui.seen import charts

WAITS = later.waits


@pytest.mark.parametrize(
    ("script", "first"),
    [
        ("sampling.py", "stages"),
        ("beam.py", "beam-tree"),
        ("speculative.py", "timeline"),
        ("reasoning.py", "stops"),
    ],
)
def test_the_first_figure_goes_ahead(
    script: str, first: str, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(later, "waits", WAITS)
    app = open_app(script)
    assert not app.exception and charts(app) == [first]
    again = charts(app.run())
    assert again[0] == first and len(again) > 1
