"""The file of a speculative run: the round trip, and files that look like one and are none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from core import Greedy, Speculative, Trace, check, collect, read_trace
from tests.models.builders import random_language_model
from tests.traces.reading import refusal

CONFIGS = {
    "speculative": Speculative(max_new_tokens=8, seed=3),
    "exact": Speculative(max_new_tokens=8, acceptance="exact", scoring="batch_expansion"),
    "typical": Speculative(max_new_tokens=8, acceptance="typical", adaptive=True),
    "lookup": Speculative(max_new_tokens=8, drafter="prompt_lookup"),
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Trace]:
    model, draft = random_language_model("llama"), random_language_model("llama", seed=1)
    model.eos_ids = frozenset()
    found = {}
    for name, config in CONFIGS.items():
        second = draft if config.drafter == "model" else None
        run = collect(model, "the fox, the hat", config, draft=second)
        found[name] = run.with_checks(tuple(check(run)))
    return found


@pytest.fixture
def data(runs: dict[str, Trace]) -> Any:
    return json.loads(json.dumps(runs["speculative"].to_dict()))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_run_survives_the_round_trip(name: str, runs: dict[str, Trace], tmp_path) -> None:
    run = runs[name]
    assert run.rounds
    assert Trace.from_dict(run.to_dict()) == run
    run.save(tmp_path / "run.json")
    assert Trace.load(tmp_path / "run.json") == run
    again = read_trace(tmp_path / "run.json")
    assert again == run
    assert again.draft_id == ("" if name == "lookup" else "random llama")
    assert all(outcome.passed for outcome in check(again))


def test_other_methods_files_hold_no_draft() -> None:
    trace = collect(random_language_model("llama"), "the fox", Greedy(max_new_tokens=2))
    assert "draft_id" not in trace.to_dict()
    assert "only speculative decoding has a draft" in refusal({**trace.to_dict(), "draft_id": "x"})


def _first(data: Any) -> dict[str, Any]:
    step: dict[str, Any] = data["steps"][1]
    return step


def _spoil_columns(data: Any) -> None:
    _first(data)["drafted"][0]["candidates"]["text"].pop()


def _list_twice(data: Any) -> None:
    ids = _first(data)["drafted"][0]["candidates"]["token_id"]
    ids[0] = ids[1]


def _hide_the_token(data: Any) -> None:
    _first(data)["drafted"][0]["token_id"] = 299_999


def _drop_recovered(data: Any) -> None:
    step = next(s for s in data["steps"][1:] if s["recovered"])
    step["recovered"] = None


def _reorder(data: Any) -> None:
    step = next(s for s in data["steps"][1:] if len(s["drafted"]) > 1)
    step["drafted"][0]["outcome"] = "not_reached"
    step["drafted"][1]["outcome"] = "accepted"


def _number_again(data: Any) -> None:
    _first(data)["index"] = 5


def _other_tokens(data: Any) -> None:
    data["token_ids"][0] += 1


def _too_long(data: Any) -> None:
    step = _first(data)
    step["drafted"] = step["drafted"] * 65


def _end_twice(data: Any) -> None:
    _first(data)["finish_reason"] = "stop"


SPOILED: dict[str, tuple[Callable[[Any], None], str]] = {
    "columns of two lengths": (_spoil_columns, "differ in length"),
    "a candidate twice": (_list_twice, "listed twice"),
    "a token that is no candidate": (_hide_the_token, "not among the candidates"),
    "no recovered token": (_drop_recovered, "followed by a recovered one"),
    "outcomes out of order": (_reorder, "accepted tokens come first"),
    "rounds out of order": (_number_again, "numbered from 0"),
    "other tokens": (_other_tokens, "not the trace's"),
    "a draft that is too long": (_too_long, "64"),
    "two ends": (_end_twice, "before the last one"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_file_gets_one_sentence(name: str, data: Any) -> None:
    spoil, expected = SPOILED[name]
    spoiled = copy.deepcopy(data)
    spoil(spoiled)
    assert expected in refusal(spoiled)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("draft_length",), 65),
        (("draft_length",), -1),
        (("draft_end",), "boredom"),
        (("drafted", 0, "draft_prob"), 0.0),
        (("drafted", 0, "draft_prob"), 1.5),
        (("drafted", 0, "uniform"), 1.0),
        (("drafted", 0, "passed"), 1),
        (("drafted", 0, "outcome"), "maybe"),
        (("drafted", 0, "residual_mass"), -0.1),
        (("drafted", 0, "draft_interval"), [0.1]),
        (("drafted", 0, "draft_uniform"), None),
        (("drafted", 0, "candidates", "draft_prob"), None),
        (("target_cache", "after"), -1),
        (("seconds", "score"), float("inf")),
        (("texts",), []),
        (("surprise",), "<script>"),
    ],
)
def test_a_value_that_can_not_be_is_refused(path: tuple[Any, ...], value: Any, data: Any) -> None:
    place = _first(data)
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert "invalid" in refusal(data)


def test_steps_of_another_method_are_refused(data: Any) -> None:
    data["config"] = {"method": "greedy"}
    assert "another method" in refusal(data)


def test_settings_are_checked_by_their_own_class(data: Any) -> None:
    data["config"]["draft_length"] = 100
    assert " draft_length must lie in [1, 64]" in refusal(data)
    data["config"]["draft_length"] = 4
    data["config"]["unknown"] = 1
    assert "has no setting" in refusal(data)
