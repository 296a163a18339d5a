"""Files that look like a trace and are none: every rule of the schema refuses one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from core import Greedy, Sampling, Shaping, Trace, collect, read_trace
from core.decoding.shaping.config import STAGES
from tests.models.builders import random_language_model
from tests.traces.reading import refusal

DRAWS = ("argmax", "inverse_cdf", "gumbel", "multinomial")


@pytest.fixture(scope="module")
def files() -> dict[str, Any]:
    """A trace file for each draw, with every stage switched on."""
    model = random_language_model("llama")
    shaping = Shaping(temperature=0.7, top_k=20, top_p=0.9, repetition_penalty=1.1)
    shared: dict[str, Any] = {"max_new_tokens": 3, "min_new_tokens": 1, "shaping": shaping}
    configs = {draw: Sampling(draw=draw, **shared) for draw in DRAWS[1:]}  # type: ignore[arg-type]
    configs["argmax"] = Greedy(**shared)
    runs = {name: collect(model, "the fox", config) for name, config in configs.items()}
    return {name: json.loads(json.dumps(run.to_dict())) for name, run in runs.items()}


def _set(data: dict[str, Any], path: str, value: object) -> None:
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    target: Any = data
    for part in parents:
        target = target[part]
    target[last] = value


def _step(data: dict[str, Any], at: int = 1) -> dict[str, Any]:
    step: dict[str, Any] = data["steps"][at]
    return step


def _list_a_candidate_twice(data: dict[str, Any]) -> None:
    ids = _step(data)["candidates"]["token_id"]
    ids[-1] = ids[-2]


def _leave_a_score_out(data: dict[str, Any]) -> None:
    _step(data)["draw"]["scores"].pop()


def _leave_argmax_out(data: dict[str, Any]) -> None:
    _step(data)["stages"].pop(-2)


def _begin_late(data: dict[str, Any]) -> None:
    _step(data)["stages"].pop(0)


def _end_early(data: dict[str, Any]) -> None:
    _step(data)["stages"].pop()


def _swap_stages(data: dict[str, Any]) -> None:
    stages = _step(data)["stages"]
    stages[1], stages[2] = stages[2], stages[1]


def _repeat_a_stage(data: dict[str, Any]) -> None:
    stages = _step(data)["stages"]
    stages.insert(1, stages[1])


def _invent_a_stage(data: dict[str, Any]) -> None:
    _step(data)["stages"][1]["name"] = "shaping"


def _remove_by_nothing_known(data: dict[str, Any]) -> None:
    _step(data)["candidates"]["removed_by"][0] = "__class__"


def _pass_argmax(data: dict[str, Any]) -> None:
    _step(data)["stages"][-2]["name"] = "argmax"


def _process_the_prompt_twice(data: dict[str, Any]) -> None:
    data["steps"].append(data["steps"][0])


def _cancel_what_had_ended(data: dict[str, Any]) -> None:
    data["finish_reason"] = "cancelled"


def _know_half_of_the_next_token(data: dict[str, Any]) -> None:
    data["steps"][0]["positions"][0]["next_rank"] = None


@pytest.mark.parametrize(
    ("draw", "damage", "words"),
    [
        ("inverse_cdf", _list_a_candidate_twice, "listed twice"),
        ("gumbel", _leave_a_score_out, "one score for each candidate"),
        ("argmax", _leave_argmax_out, "argmax"),
        ("inverse_cdf", _begin_late, "begin with raw"),
        ("inverse_cdf", _end_early, "end with final"),
        ("inverse_cdf", _swap_stages, "another order"),
        ("inverse_cdf", _repeat_a_stage, "another order"),
        ("inverse_cdf", _invent_a_stage, "stages.1.name"),
        ("inverse_cdf", _remove_by_nothing_known, "removed_by"),
        ("inverse_cdf", _pass_argmax, "argmax belongs to"),
        ("inverse_cdf", _process_the_prompt_twice, "only once"),
        ("inverse_cdf", _cancel_what_had_ended, "cancelled run"),
        ("inverse_cdf", _know_half_of_the_next_token, "next token"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    files: dict[str, Any], draw: str, damage: Callable[[dict[str, Any]], None], words: str
) -> None:
    data = copy.deepcopy(files[draw])
    assert read_trace(json.dumps(data).encode()) == Trace.from_dict(data)
    damage(data)
    assert words in refusal(data)


@pytest.mark.parametrize("method", DRAWS)
@pytest.mark.parametrize("own", DRAWS)
def test_a_draw_has_the_numbers_of_its_method_and_no_others(
    files: dict[str, Any], own: str, method: str
) -> None:
    data = copy.deepcopy(files[own])
    for step in data["steps"][1:]:
        step["draw"]["method"] = method
    if {own, method} <= {"gumbel", "multinomial"} or own == method:
        read_trace(json.dumps(data).encode())
    else:
        assert f"a draw by {method} has" in refusal(data)


@pytest.mark.parametrize("field", ["uniform", "interval"])
def test_an_inverse_cdf_draw_needs_both_of_its_numbers(files: dict[str, Any], field: str) -> None:
    data = copy.deepcopy(files["inverse_cdf"])
    _step(data)["draw"][field] = None
    assert "interval and uniform" in refusal(data)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("steps.0.positions.0.index", (-1, 100_000_001)),
        ("steps.0.positions.0.next_rank", (0, 100_000_001)),
        ("steps.0.positions.0.candidates.rank.0", (0, 100_000_001)),
        ("steps.0.positions.0.entropy", (-1.0, 1e300)),
        ("steps.1.index", (-1, 100_000_001)),
        ("steps.1.candidates.rank.0", (0, 100_000_001)),
        ("steps.1.candidates.logit.0", (-1e300, 1e300)),
        ("steps.1.stages.0.kept", (0, 100_000_001)),
        ("steps.1.entropy", (-1.0, 1e300)),
        ("steps.1.surprisal", (-1.0, 1e300)),
        ("steps.1.seconds.draw", (-1.0, 1e300)),
        ("timings.decode", (-1.0, 1e300)),
    ],
)
def test_every_number_has_a_bound_on_either_side(
    files: dict[str, Any], path: str, values: tuple[float, float]
) -> None:
    for value in values:
        data = copy.deepcopy(files["inverse_cdf"])
        _set(data, path, value)
        assert path.removeprefix("steps.").split(".", 1)[1] in refusal(data).replace(".token", "")


def test_the_schema_knows_every_stage_that_shaping_makes() -> None:
    made = {"raw", "min_new_tokens", "argmax", "final", *(f.name for f in fields(Shaping))}
    assert set(STAGES) == made | {"forced", "server"}


def _flood(count: int) -> dict[str, int]:
    return {f"key{at}": 0 for at in range(count)}


@pytest.mark.parametrize("where", ["", "steps.1.draw", "steps.1.candidates", "versions", "config"])
def test_a_flood_of_unknown_fields_is_refused_at_the_first(
    files: dict[str, Any], where: str
) -> None:
    data = copy.deepcopy(files["inverse_cdf"])
    target: Any = data
    for part in filter(None, where.split(".")):
        target = target[int(part) if part.isdigit() else part]
    target.update(_flood(50_000))
    # A fault for each field would take ten seconds and 2 GB for a file below the limit.
    assert "more)" not in refusal(data)


@pytest.mark.parametrize("column", ["text", "rank", "prob", "removed_by"])
def test_a_flood_of_wrong_values_is_refused_at_the_first(
    files: dict[str, Any], column: str
) -> None:
    data = copy.deepcopy(files["inverse_cdf"])
    _step(data)["candidates"][column] = [{}] * 50_000
    message = refusal(data)
    assert f"candidates.{column}.0" in message
    assert "more)" not in message


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("config.shaping.temperature", 10**400, "must lie in"),
        ("config.shaping.temperature", "x" * 1_000_000, "finite number"),
        ("config.shaping.temperature", 1e-45, "or be 0"),
        ("config.shaping", [1], ": shaping must be an object"),
        ("config.shaping.what", 1, "Shaping has no setting 'what'"),
        ("config.method", "x" * 1_000_000, "must be one of greedy, sampling"),
        ("config.method", ["greedy"], "must be one of greedy, sampling"),
        ("config.draw", "x" * 1_000_000, "must be one of inverse_cdf"),
        ("config.seed", {"a": "x" * 1_000_000}, "whole number, got a value of type dict"),
        ("config.stop_strings", 5, "must be a list or tuple of strings, got 5"),
        ("config.stop_strings", {"a": 1}, "must be a list or tuple of strings"),
        ("config.stop_strings", ["\ud800"], "text that UTF-8 can write"),
        ("config." + "x" * 1_000_000, 1, "Sampling has no setting 'xxx"),
        ("x\n" * 1_000_000, 1, "is no field of it"),
        ("versions", {"x\n" * 500_000: 1}, "versions"),
        ("finish_reason", "x" * 1_000_000, "finish_reason"),
        ("steps.1.kind", "\n" * 1_000_000, "steps.1"),
        ("version", "x" * 1_000_000, "has version 'xxx"),
        ("version", True, "has version True"),
        ("version", 1.0, "has version 1.0"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else type(value).__name__,
)
def test_a_wrong_value_gets_one_short_sentence(
    files: dict[str, Any], path: str, value: Any, words: str
) -> None:
    data = copy.deepcopy(files["inverse_cdf"])
    _set(data, path, value)
    message = refusal(data)
    assert words in message
    assert "__init__" not in message and "Error" not in message
