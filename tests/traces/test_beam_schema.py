"""The file of a beam search: the round trip, and files that look like one and are none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from core import BeamSearch, Greedy, Trace, check, collect, guess_parents, read_trace, rerank
from core.decoding.beam import types as beam
from tests.models.builders import random_language_model
from tests.traces.reading import read, refusal

CONFIGS = {
    "plain": BeamSearch(num_beams=4, max_new_tokens=6, num_return_sequences=2),
    "drawn": BeamSearch(num_beams=3, max_new_tokens=6, do_sample=True, early_stopping="never"),
    "diverse": BeamSearch(
        num_beams=4, num_beam_groups=2, diversity_penalty=0.5, max_new_tokens=6, early_stopping=True
    ),
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Trace]:
    model = random_language_model("llama")
    model.eos_ids = frozenset(range(0, 300, 10))
    runs = {name: collect(model, "the fox", config) for name, config in CONFIGS.items()}
    return {name: run.with_checks(tuple(check(run))) for name, run in runs.items()}


@pytest.fixture
def data(runs: dict[str, Trace]) -> Any:
    return json.loads(json.dumps(runs["plain"].to_dict()))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_search_survives_the_round_trip(name: str, runs: dict[str, Trace], tmp_path) -> None:
    run = runs[name]
    assert run.hypotheses
    assert Trace.from_dict(run.to_dict()) == run
    run.save(tmp_path / "run.json")
    assert Trace.load(tmp_path / "run.json") == run
    again = read_trace(tmp_path / "run.json")
    assert again == run
    assert all(outcome.passed for outcome in check(again))
    assert rerank(again, length_penalty=0.0) == rerank(run, length_penalty=0.0)
    assert guess_parents(again) == guess_parents(run)


def test_other_methods_files_hold_no_hypotheses() -> None:
    trace = collect(random_language_model("llama"), "the fox", Greedy(max_new_tokens=2))
    assert "hypotheses" not in trace.to_dict()
    forged = {**trace.to_dict(), "hypotheses": _hypothesis()}
    assert "only a beam search has hypotheses" in refusal(forged)


def _hypothesis() -> list[dict[str, Any]]:
    found = {"token_ids": [1], "text": "", "score": -1.0, "sum_logprob": -1.0, "parents": [0]}
    return [{**found, "finish_reason": "eos", "group": 0}]


def _columns(data: Any, at: int = 2) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = data["steps"][at]["candidates"]
    return columns


def _place(data: Any, fate: str) -> int:
    return _columns(data)["fate"].index(fate)


def _set(data: Any, path: str, value: object) -> None:
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        data = data[part]
    data[last] = value


def _parent_beyond(data: Any) -> None:
    _columns(data)["parent"][0] = 4


def _row_of_a_pruned(data: Any) -> None:
    _columns(data)["row"][_place(data, "pruned")] = 4


def _kept_without_row(data: Any) -> None:
    _columns(data)["row"][_place(data, "kept")] = None


def _one_row_twice(data: Any) -> None:
    row = _columns(data)["row"]
    row[:] = [0 if value == 1 else value for value in row]


def _finished_without_end(data: Any) -> None:
    columns, at = _columns(data), _place(data, "pruned")
    columns["fate"][at], columns["ended"][at] = "finished", None
    data["steps"][2]["finished_texts"].append("x")


def _one_candidate_twice(data: Any) -> None:
    columns = _columns(data)
    for name in ("parent", "token_id"):
        columns[name][1] = columns[name][0]


def _short_column(data: Any) -> None:
    _columns(data)["rank"].pop()


def _no_entropy(data: Any) -> None:
    data["steps"][2]["entropies"].pop()


def _short_table(data: Any) -> None:
    data["steps"][2]["kept_logprobs"].pop()


def _narrow_table(data: Any) -> None:
    data["steps"][2]["kept_logprobs"][0].pop()


def _text_too_many(data: Any) -> None:
    data["steps"][2]["finished_texts"].append("x")


def _step_left_out(data: Any) -> None:
    del data["steps"][1]


def _wider_beam(data: Any) -> None:
    step = data["steps"][3]
    step["groups"].append(0)
    step["entropies"].append(1.0)
    for row in step["kept_logprobs"]:
        row.append(None)


def _group_that_is_not(data: Any) -> None:
    data["steps"][1]["groups"] = [1]


def _greedy_settings(data: Any) -> None:
    data["config"] = {"method": "greedy"}


def _other_hypothesis(data: Any) -> None:
    data["hypotheses"][0]["token_ids"][0] = 299


def _open_hypothesis(data: Any) -> None:
    found = data["hypotheses"][0]
    found["token_ids"].pop()
    found["parents"].pop()


def _hypothesis_without_parents(data: Any) -> None:
    data["hypotheses"][0]["parents"].pop()


def _long_hypothesis(data: Any) -> None:
    data["hypotheses"][0]["token_ids"] *= 9
    data["hypotheses"][0]["parents"] *= 9


def _cancel_what_had_ended(data: Any) -> None:
    data["finish_reason"] = "cancelled"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_parent_beyond, "no row of its beam"),
        (_row_of_a_pruned, "takes a row"),
        (_kept_without_row, "takes a row"),
        (_one_row_twice, "are not numbered from 0"),
        (_finished_without_end, "nothing ended"),
        (_one_candidate_twice, "listed twice"),
        (_short_column, "columns differ"),
        (_no_entropy, "one number for each row"),
        (_short_table, "one row for each kept"),
        (_narrow_table, "one number for each row"),
        (_text_too_many, "one text for each finished"),
        (_step_left_out, "once for each group"),
        (_wider_beam, "not what the step before it kept"),
        (_group_that_is_not, "a group that the settings don't have"),
        (_greedy_settings, "of another method"),
        (_other_hypothesis, "no path of the tree"),
        (_open_hypothesis, "no path of the tree"),
        (_hypothesis_without_parents, "one parent for each token"),
        (_long_hypothesis, "too long"),
        (_cancel_what_had_ended, "cancelled run"),
    ],
)
def test_a_search_that_contradicts_itself_is_refused(
    data: Any, damage: Callable[[Any], None], words: str
) -> None:
    read(data)
    damage(data)
    assert words in refusal(data)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("steps.1.candidates.parent.0", (-1, 64)),
        ("steps.1.candidates.rank.0", (0, 100_000_001)),
        ("steps.1.candidates.cum_logprob.0", (-1e300, 1e300)),
        ("steps.1.candidates.token_id.0", (-1, 100_000_001)),
        ("steps.1.entropies.0", (-1.0, 1e300)),
        ("steps.1.groups.0", (-1, 64)),
        ("steps.1.kept_logprobs.0.0", (-1e300, 1e300)),
        ("steps.1.limit", (0, 100_001)),
        ("steps.1.index", (-1, 100_000_001)),
        ("steps.1.seconds.search", (-1.0, 1e300)),
        ("hypotheses.0.score", (-1e300, 1e300)),
        ("hypotheses.0.parents.0", (-1, 64)),
        ("hypotheses.0.group", (-1, 64)),
    ],
)
def test_every_number_has_a_bound_on_either_side(data: Any, path: str, values: tuple) -> None:
    for value in values:
        forged = copy.deepcopy(data)
        _set(forged, path, value)
        where = refusal(forged).replace(".beam", "")
        assert path.removeprefix("steps.").split(".", 1)[1] in where


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("steps.1.candidates.fate.0", "x" * 1_000_000, "fate.0"),
        ("steps.1.candidates.fate.0", "lucky", "fate.0"),
        ("steps.1.candidates.ended.0", "bored", "ended.0"),
        ("steps.1.candidates.text.0", "x" * 3_000, "text.0"),
        ("steps.1.origin", "forced", "origin"),
        ("steps.1.candidates.logprob.0", float("nan"), "logprob.0"),
        ("steps.1.finished_texts", ["x" * 3_000_000], "finished_texts"),
        ("steps.1.surprise", 1, "no field"),
        ("hypotheses.0.surprise", 1, "no field"),
        ("hypotheses", [1] * 1_000, "hypotheses"),
        ("config.num_beams", 10**400, "num_beams must lie in"),
        ("config.num_beam_groups", "x" * 1_000_000, "must be a whole number"),
        ("config.num_beam_groups", 10**9, ""),
        ("config.num_beam_groups", 10**400, ""),
        ("config.early_stopping", ["never"], "True, False or 'never'"),
        ("config.length_penalty", 1e300, "length_penalty must lie in"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else type(value).__name__,
)
def test_a_wrong_value_gets_one_short_sentence(
    data: Any, path: str, value: object, words: str
) -> None:
    _set(data, path, value)
    assert words in refusal(data)


@pytest.mark.parametrize("column", ["text", "parent", "fate", "row", "logprob"])
def test_a_flood_of_wrong_values_is_refused_at_the_first(data: Any, column: str) -> None:
    _columns(data)[column] = [{}] * 50_000
    message = refusal(data)
    assert f"candidates.{column}.0" in message
    assert "more)" not in message


@pytest.mark.parametrize("where", ["steps.1", "steps.1.candidates", "hypotheses.0"])
def test_a_flood_of_unknown_fields_is_refused_at_the_first(data: Any, where: str) -> None:
    target = data
    for part in where.split("."):
        target = target[int(part) if part.isdigit() else part]
    target.update({f"key{at}": 0 for at in range(50_000)})
    assert "more)" not in refusal(data)


def test_more_candidates_than_any_beam_has_are_refused(data: Any) -> None:
    columns = _columns(data)
    for name, column in columns.items():
        columns[name] = column[:1] * (beam.MAX_BEAM_CANDIDATES + 1)
    assert "candidates" in refusal(data)


def test_a_long_search_with_many_beams_stays_small() -> None:
    model = random_language_model("llama")
    model.eos_ids = frozenset()
    trace = collect(model, "the fox", BeamSearch(num_beams=16, max_new_tokens=60))
    assert len(json.dumps(trace.to_dict(), separators=(",", ":"))) < 1_000_000
