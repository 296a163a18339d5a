"""Contents of a page under `AppTest`, for the tests of all pages."""

import json
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.ui.run.work import BackgroundWork

SECONDS = 60.0


def texts(app: AppTest) -> str:
    """Return the plain texts of the page and of the parts that the browser may change."""
    drawn = [json.loads(element.proto.json or "{}") for element in app.get("bidi_component")]
    parts = [data["text"] for data in drawn if isinstance(data.get("text"), str)]
    return "\n".join([*(element.value for element in app.text), *parts])


def charts(app: AppTest) -> list[str]:
    """Return the charts on the page, by the stem of their keys."""
    return [element.proto.id.rsplit("chart-", 1)[-1] for element in _charts(app)]


def specs(app: AppTest) -> list[dict[str, Any]]:
    """The charts on the page as the browser gets them."""
    return [json.loads(json.loads(element.proto.json)["figure"]) for element in _charts(app)]


def _charts(app: AppTest) -> list[Any]:
    drawn = app.get("bidi_component")
    charts = [
        element for element in drawn if element.proto.component_name.endswith("explorer.chart")
    ]
    # Those of closed tabs are empty.
    return [element for element in charts if json.loads(element.proto.json)["figure"]]


def markup(app: AppTest) -> str:
    """All of the page that may be markup."""
    drawn = [*app.title, *app.header, *app.markdown, *app.caption, *app.get("html")]
    bodies = [element.proto.body for element in drawn]
    return "\n".join([*bodies, *(button.label for button in app.button)])


def settle(app: AppTest, key: str) -> AppTest:
    """Wait for the page's workers and draw again, until nothing is under way.

    Args:
        key: under which the session keeps what the page looks at.
    """
    view: BackgroundWork = app.session_state[key]
    for _ in range(8):
        assert not app.exception
        if not view.under_way:
            return app
        assert all(job.done.wait(SECONDS) for job in list(view.jobs.values()))
        app.run()
    raise AssertionError("the page never comes to rest")


def looks(app: AppTest, key: str, *titles: str) -> Iterator[str]:
    """Opens one tab after another of those that the session keeps under this key."""
    for title in titles:
        app.session_state[key] = title
        assert not app.run().exception, title
        yield title


def strip_data(app: AppTest) -> dict[str, Any]:
    """Return the data of the token strip."""
    drawn = [json.loads(element.proto.json or "{}") for element in app.get("bidi_component")]
    return next(data for data in drawn if "tokens" in data)


def data_of(app: AppTest, component: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The components of this name on the page: their keys, and what the browser is told."""
    for element in app.get("bidi_component"):
        if element.proto.component_name.endswith(f"explorer.{component}"):
            yield element.proto.id, json.loads(element.proto.json or "{}")
