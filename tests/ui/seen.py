"""What a page under `AppTest` shows, for the tests of all pages."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.ui.state import View

SECONDS = 60.0


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in app.text)


def figures(app: AppTest) -> dict[str, dict[str, Any]]:
    """The charts on the page by the stem of their keys; those that move come first."""
    moving = {
        chart.proto.id: json.loads(json.loads(chart.proto.json)["figure"])
        for chart in app.get("bidi_component")
        if "-chart-" in chart.proto.id
    }
    others = {chart.proto.id: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}
    return {name.rsplit("chart-", 1)[-1]: found for name, found in {**moving, **others}.items()}


def charts(app: AppTest) -> list[str]:
    """Which charts are on the page, by the stem of their keys."""
    return list(figures(app))


def settle(app: AppTest, view: View) -> AppTest:
    """Wait for the view's workers, draw the page again."""
    for job in list(view.jobs.values()):
        assert job.done.wait(SECONDS)
    return app.run()
