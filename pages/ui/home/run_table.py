"""Table of the runs of Home with their costs; a press on a row opens the run on its page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import figures
from core.decoding.many.methods import Cost, cost_of, whole_text
from core.decoding.record.trace import Trace
from core.figures.base.labels import nats, plain_name
from core.language import N_, tr
from pages.ui import registry
from pages.ui.home.state import HomeRuns, open_run
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_KEY = "home-runs"
_COLUMNS = (
    (N_("Log-probability"),
        N_("Of the whole text under the model, in nats; the nearer to 0, the likelier.")),
    (N_("Tokens"), N_("Number of tokens that the run wrote.")),
    (N_("Forward passes"), N_("Calls of the model, the one that reads the prompt included. Beam "
        "search computes a row for each beam in a call.")),
    (N_("Seconds"), N_("Time of the run on this server, with the prompt.")),
)  # fmt: skip
_table = component(
    "home_runs",
    html='<div class="runs"><table aria-label="Runs"><thead></thead><tbody></tbody></table></div>',
    css=source("home/run_table.css"),
    js=source("home/run_table.js"),
)


def draw(runs: HomeRuns) -> None:
    """Draw the table."""

    def opened() -> None:
        place = (st.session_state.get(_KEY) or {}).get("opened")
        if isinstance(place, int | float) and 0 <= place < runs.many.count:
            open_run(runs, int(place))

    costs = [cost_of(trace) for trace in runs.many.traces]
    data = {
        "heads": [tr("Decoder"), tr("Its text")],
        "columns": [tuple(map(tr, column)) for column in _COLUMNS],
        "rows": [
            _row(trace, cost, costs) for trace, cost in zip(runs.many.traces, costs, strict=True)
        ],
        "drawn": drawn_at(),
    }
    _table(key=_KEY, data=data, on_opened_change=opened)


def _row(trace: Trace, cost: Cost, costs: list[Cost]) -> dict[str, Any]:
    name, page = figures.run_name(trace), registry.page_of(trace.config.method)
    likeliest = max(other.logprob for other in costs)
    fewest = min(other.forwards for other in costs)
    return {
        "name": name,
        "label": tr("{name}: open this run on {title}", name=name, title=tr(page.title)),
        "text": plain_name(whole_text(trace), 300),
        "numbers": [
            (nats(cost.logprob, 1), likeliest - cost.logprob < 5e-3),
            (f"{cost.tokens}", False),
            (figures.forwards_words(cost), cost.forwards == fewest),
            (f"{cost.seconds:.2f}", False),
        ],
    }
