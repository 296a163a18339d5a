"""Files of other tools and recorded runs of `generate`, opened on Decode like any file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core import Draw, Sampling, Trace, from_answer
from core.decoding.record.notes import DRAWS_UNKNOWN, FROM_GENERATE
from tests.figures.traces import make_trace
from tests.ui.conftest import Open
from tests.ui.seen import texts

ANSWERS = Path(__file__).parents[2] / "traces/data/foreign"
NAMES = sorted(path.name for path in ANSWERS.glob("*.json*"))


@pytest.mark.parametrize("name", NAMES)
def test_another_tool_s_answer_opens_and_says_what_it_lacks(open_app: Open, name: str) -> None:
    data = (ANSWERS / name).read_bytes()
    app = open_app()
    app.file_uploader(key="trace_file").upload(name, data, "application/json").run()
    trace = from_answer(data)
    assert not app.exception and app.session_state["view"].failure == trace.notes[0].words
    assert app.session_state["view"].trace.token_ids == trace.token_ids
    assert trace.notes[0].words in texts(app)


def _recorded() -> Trace:
    """A run whose draws aren't known, as `from_generate` leaves it without a seed."""
    trace = make_trace(6)
    steps = tuple(replace(step, draw=Draw("multinomial")) for step in trace.token_steps)
    return replace(
        trace,
        config=Sampling(draw="multinomial", shaping=trace.config.shaping, max_new_tokens=6),
        steps=(*(step for step in trace.steps if step not in trace.token_steps), *steps),
        notes=(FROM_GENERATE, DRAWS_UNKNOWN),
    )


def test_a_recorded_run_without_its_seed_opens_with_its_notes(open_app: Open) -> None:
    trace = _recorded()
    app = open_app()
    app.file_uploader(key="trace_file").upload("run.json", trace.to_json().encode()).run()
    assert not app.exception
    assert app.session_state["view"].trace.with_checks(()) == trace
    assert FROM_GENERATE.words in texts(app) and DRAWS_UNKNOWN.words in texts(app)
