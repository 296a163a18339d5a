"""The server's own speculation: from its counters and its answer, as a figure and on the page."""

from __future__ import annotations

from typing import Any

import pytest

from core import ByEngine, ModelError, load_model
from core.decoding.by_engine.speculation import ServerRound
from core.figures import server_speculation, server_speculation_data
from core.models.remote.speculation import speculation_in_a_run
from tests.models.remote.servers import Script, local, serving
from tests.models.remote.test_parity import FORMS

CONFIG = ByEngine(max_new_tokens=4)
_COUNTERS = """# TYPE {n}drafts_total counter
{n}drafts_total{{{{engine="0",model_name="target"}}}} {{0}}.0
{n}drafts_created{{{{engine="0",model_name="target"}}}} 1.79e+09
{n}draft_tokens_total{{{{engine="0",model_name="target"}}}} {{1}}.0
{n}accepted_tokens_total{{{{engine="0",model_name="target"}}}} {{2}}.0
{n}accepted_tokens_per_pos_total{{{{model_name="target",position="0"}}}} {{3}}.0
{n}accepted_tokens_per_pos_total{{{{model_name="target",position="1"}}}} {{4}}.0
""".format(n="vllm:spec_decode_num_")


def _counting(script: Script) -> Any:
    """Counters that grow by 3 drafts with each run."""

    def count(*_: Any) -> bool:
        script.counters = _COUNTERS.format(13, 36, 14, 12, 2)
        return False

    return count


def test_counters_are_those_of_the_run_and_rounds_those_of_the_answer() -> None:
    script = Script(counters=_COUNTERS.format(10, 30, 9, 8, 1))
    with serving(script) as (url, _):
        model = load_model(FORMS["vllm"].format(url=url))
        script.fail(_counting(script))
        speculation = speculation_in_a_run(model, "Once upon a time", CONFIG)
        assert speculation is not None and not speculation.rounds and speculation.tokens == 4
        assert (speculation.drafts, speculation.drafted, speculation.accepted) == (3, 6, 5)
        assert speculation.positions == (ServerRound(3, 4), ServerRound(3, 1))
        script.speculation = {"per_step_drafted": [4, 2], "per_step_accepted": [3, 0]}
        rounds = speculation_in_a_run(model, "Once upon a time", CONFIG)
    assert rounds is not None and rounds.rounds == (ServerRound(4, 3), ServerRound(2, 0))
    assert rounds.positions == tuple(ServerRound(*p) for p in ((2, 1), (2, 1), (1, 1), (1, 0)))
    figure = server_speculation(rounds, "a caption")
    assert [list(bar.y) for bar in figure.data[:2]] == [[3, 0], [1, 2]]
    assert server_speculation_data(rounds).query("of == 'round'").accepted.tolist() == [3, 0]
    assert "draft position" in server_speculation(speculation, "a caption").to_json()


@pytest.mark.parametrize(
    ("said", "counters", "sentence"),
    [
        (None, "", "tells of no speculation: start vLLM with"),
        (None, _COUNTERS.format(1, 2, 1, 1, 0), "drafted nothing in this run"),
        ({"num_spec_steps": 0}, "", "drafted nothing in this run"),
        ({"per_step_drafted": [1], "per_step_accepted": [2]}, "", "drafted nothing"),
        ({"per_step_drafted": 3}, "", "drafted nothing"),
    ],
)
def test_a_server_that_tells_nothing_is_a_sentence(said: Any, counters: str, sentence: str) -> None:
    with serving(Script(speculation=said, counters=counters)) as (url, _):
        model = load_model(FORMS["vllm"].format(url=url))
        with pytest.raises(ModelError, match=sentence):
            speculation_in_a_run(model, "Once", CONFIG)
    with pytest.raises(ModelError, match="is on no server"):
        speculation_in_a_run(local(), "Once", CONFIG)
