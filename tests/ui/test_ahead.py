"""The figures of another step, which the browser gets before the page has answered."""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from pages.ui.hosting import step_figures
from tests.ui.conftest import Open
from tests.ui.knobs import report
from tests.ui.seen import specs

STEP = 3
# The controls as the example was made.
AS_RUN = {"top_p": "0.9", "seed": "7"}


def _offered(app: AppTest) -> list[dict[str, Any]]:
    """What the charts are told of figures of other steps."""
    told = [json.loads(element.proto.json or "{}") for element in app.get("bidi_component")]
    return [data["ahead"] for data in told if data.get("ahead")]


def test_they_are_those_that_the_page_draws(open_app: Open) -> None:
    client = TestClient(Starlette(routes=step_figures.routes()))
    app = open_app(**AS_RUN)
    where = _offered(app)
    assert where and len({one["address"] for one in where}) == 1
    address = where[0]["address"]
    answer = client.get(f"{address}{STEP}")
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()
    view = app.session_state["view"]
    assert view.selected != STEP
    view.select(STEP)
    app.run()
    drawn = specs(app)
    assert set(found) == {"candidates", "way"}
    for own in found.values():
        assert json.loads(own["figure"]) in drawn
    assert [one["at"] for one in _offered(app)] == [STEP] * len(where)
    missing = (f"{address}{len(view.steps)}", f"{address}-1", "/step-figures/another/0")
    assert [client.get(one).status_code for one in missing] == [404] * 3


def test_where_a_knob_was_moved_the_page_has_to_say(open_app: Open) -> None:
    client = TestClient(Starlette(routes=step_figures.routes()))
    app = open_app(**AS_RUN)
    address = _offered(app)[0]["address"]
    temperature = app.session_state["view"].trace.config.shaping.temperature
    report(app, temperature=temperature + 0.5)
    assert not _offered(app) and client.get(f"{address}{STEP}").status_code == 404
    report(app.run(), temperature=temperature)
    assert _offered(app)[0]["address"] == address
    assert client.get(f"{address}{STEP}").status_code == 200
