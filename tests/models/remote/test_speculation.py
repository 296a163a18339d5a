"""The server's own speculation: from its counters and its answer, as a figure and on the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from core import ByEngine, Greedy, ModelError, Shaping, check, collect, load_model
from core.decoding.by_engine.speculation import ServerRound
from core.decoding.errors import LostModelError
from core.figures import server_speculation, server_speculation_data
from core.models.remote.speculation import speculation_in_a_run
from tests.models.remote.servers import Script, local, serving
from tests.models.remote.test_parity import FORMS

CONFIG = ByEngine(max_new_tokens=4)
# Answers of vLLM 0.32 with `ngram` and of llama.cpp (xllamacpp 2026.10) with the embedded draft, on
# the embedded target at temperature 0; /metrics before and after each.
ANSWERS = Path(__file__).parent / "answers"
QUESTION = [{"role": "user", "content": "What is 17 + 25?"}]
ANSWERED = "17 + 25 = 42."
GREEDY = Shaping(temperature=0.0)


def _stored(name: str) -> str:
    return (ANSWERS / f"{name}.txt").read_text("utf-8")


def _counting(script: Script, after: str) -> Any:
    """Counters that have grown when a run is answered."""

    def count(*_: Any) -> bool:
        script.counters = after
        return False

    return count


@pytest.mark.parametrize(
    ("name", "rounds", "totals", "positions"),
    [
        ("vllm-ngram", ((4, 3), (4, 1)), (2, 8, 4), ((2, 2), (2, 1), (2, 1), (2, 0))),
        ("llamacpp-draft", (), (7, 28, 13), ((7, 5), (7, 4), (7, 3), (7, 1))),
    ],
)
def test_a_real_answer_gives_all_tokens_and_its_speculation(
    name: str, rounds: Any, totals: Any, positions: Any
) -> None:
    before, after = (_stored(f"{name}.{when}.metrics") for when in ("before", "after"))
    with serving(Script(counters=before, streamed=_stored(name))) as (url, script):
        model = load_model(FORMS[name.partition("-")[0]].format(url=url))
        script.fail(_counting(script, after))
        prompt = model.encode_chat(QUESTION)
        config = ByEngine(max_new_tokens=40, top_candidates=5, shaping=GREEDY)
        speculation = speculation_in_a_run(model, prompt, config)
        trace = collect(model, prompt, config)
        assert [outcome for outcome in check(trace, model) if not outcome.passed] == []
    expected = collect(local(), prompt, Greedy(max_new_tokens=40))
    assert trace.token_ids == expected.token_ids and trace.text.startswith(ANSWERED)
    assert speculation is not None and speculation.tokens == len(trace.token_ids)
    assert speculation.rounds == tuple(ServerRound(*pair) for pair in rounds)
    assert (speculation.drafts, speculation.drafted, speculation.accepted) == totals
    assert speculation.positions == tuple(ServerRound(*pair) for pair in positions)
    figure = server_speculation(speculation, "a caption")
    assert [list(bar.y) for bar in figure.data[:2]] == [
        [bar[1] for bar in rounds or positions],
        [bar[0] - bar[1] for bar in rounds or positions],
    ]
    assert ("draft position" in figure.to_json()) != bool(rounds)
    table = server_speculation_data(speculation)
    assert table.query("of == 'round'").accepted.tolist() == [pair[1] for pair in rounds]


def test_counters_alone_are_those_of_the_run() -> None:
    before, after = (_stored(f"vllm-ngram.{when}.metrics") for when in ("before", "after"))
    with serving(Script(counters=before)) as (url, script):
        model = load_model(FORMS["vllm"].format(url=url))
        script.fail(_counting(script, after))
        speculation = speculation_in_a_run(model, "Once upon a time", CONFIG)
    assert speculation is not None and not speculation.rounds and speculation.tokens == 4
    assert (speculation.drafts, speculation.drafted, speculation.accepted) == (2, 8, 4)
    assert speculation.positions == tuple(ServerRound(2, n) for n in (2, 1, 1, 0))


def test_an_answer_tells_totals_where_there_are_no_counters() -> None:
    """llama.cpp without --metrics."""
    with serving(Script(streamed=_stored("llamacpp-draft"))) as (url, _):
        model = load_model(FORMS["llamacpp"].format(url=url))
        config = ByEngine(max_new_tokens=40, shaping=GREEDY)
        speculation = speculation_in_a_run(model, model.encode_chat(QUESTION), config)
    assert speculation is not None
    assert (speculation.drafts, speculation.drafted, speculation.accepted) == (0, 28, 13)
    drawn = server_speculation(speculation, "a caption").to_json()
    assert "13 of 28 drafted tokens were accepted" in drawn and "--metrics" in drawn


def test_an_answers_numbers_are_taken_before_those_that_others_count_in() -> None:
    before, after = (_stored(f"llamacpp-draft.{when}.metrics") for when in ("before", "after"))
    grown = after.replace("draft_tokens_total ", "draft_tokens_total 9")
    assert grown != after
    with serving(Script(counters=before, streamed=_stored("llamacpp-draft"))) as (url, script):
        model = load_model(FORMS["llamacpp"].format(url=url))
        script.fail(_counting(script, grown))
        config = ByEngine(max_new_tokens=40, shaping=GREEDY)
        speculation = speculation_in_a_run(model, model.encode_chat(QUESTION), config)
    assert speculation is not None and speculation.drafted == 28


def test_a_llama_cpp_that_counts_no_drafts_is_not_said_to_speculate() -> None:
    counters = re.sub(r" \d+$", " 0", _stored("llamacpp-draft.before.metrics"), flags=re.MULTILINE)
    with serving(Script(counters=counters)) as (url, _):
        model = load_model(FORMS["llamacpp"].format(url=url))
        with pytest.raises(ModelError, match="tells of no speculation: start it with a draft"):
            speculation_in_a_run(model, "Once", CONFIG)


def test_tokens_of_a_character_that_a_stream_leaves_out_are_found() -> None:
    """llama.cpp sends one event for the three tokens of a dash, and names the last."""
    whole = "\N{EM DASH}a\N{GRINNING FACE}"
    with serving(Script(streamed=_stored("llamacpp-characters"))) as (url, script):
        model = load_model(FORMS["llamacpp"].format(url=url))
        config = ByEngine(max_new_tokens=8, top_candidates=5, shaping=GREEDY)
        trace = collect(model, "Once upon a time", config)
        assert trace.token_ids == tuple(local().encode(whole)) and trace.text == whole
        assert [outcome for outcome in check(trace, model) if not outcome.passed] == []
        script.streamed = script.streamed.replace('"content":"\N{EM DASH}"', '"content":"--"')
        with pytest.raises(LostModelError, match="leaves tokens of a character out"):
            collect(model, "Once upon a time", config)


@pytest.mark.parametrize(
    ("said", "counters", "sentence"),
    [
        (None, "", "tells of no speculation: start vLLM with"),
        (None, _stored("vllm-ngram.before.metrics"), "drafted nothing in this run"),
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
