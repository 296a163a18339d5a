"""Files that look like a trace and are none: every rule of the schema refuses one."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import fields
from typing import Any

import pytest

from core import BeamSearch, Greedy, Sampling, Shaping, Trace, collect
from core.decoding.errors import TraceError
from core.decoding.shaping.config import STAGES, parts_of
from core.language import use
from tests.models.builders import random_language_model
from tests.traces.reading import changed, read, refusal, shorter

DRAWS = ("argmax", "inverse_cdf", "gumbel", "multinomial")


@pytest.fixture(scope="module")
def files() -> dict[str, Any]:
    """A trace file for each draw, with every stage switched on, and that of a search."""
    model = random_language_model("llama")
    shaping = Shaping(temperature=0.7, top_k=20, top_p=0.9, repetition_penalty=1.1)
    shared: dict[str, Any] = {"max_new_tokens": 3, "min_new_tokens": 1, "shaping": shaping}
    configs: dict[str, Any] = {draw: Sampling(draw=draw, **shared) for draw in DRAWS[1:]}  # type: ignore[arg-type]
    configs |= {"argmax": Greedy(**shared), "beam": BeamSearch(max_new_tokens=4)}
    runs = {name: collect(model, "the fox", config) for name, config in configs.items()}
    return {name: json.loads(json.dumps(run.to_dict())) for name, run in runs.items()}


@pytest.mark.parametrize(
    ("draw", "path", "value", "words"),
    [
        ("inverse_cdf", "steps.1.candidates.token_id",
         lambda ids: [*ids[:-1], ids[0]], "listed twice"),
        ("gumbel", "steps.1.draw.scores", shorter, "one score for each candidate"),
        ("argmax", "steps.1.stages", lambda stages: stages[:-2] + stages[-1:], "argmax"),
        ("inverse_cdf", "steps.1.stages", lambda stages: stages[1:], "begin with raw"),
        ("inverse_cdf", "steps.1.stages", shorter, "end with final"),
        ("inverse_cdf", "steps.1.stages",
         lambda stages: [stages[0], stages[2], stages[1], *stages[3:]], "another order"),
        ("inverse_cdf", "steps.1.stages",
         lambda stages: [stages[0], stages[1], *stages[1:]], "another order"),
        ("inverse_cdf", "steps.1.stages.1.name", "shaping", "stages.1.name"),
        ("inverse_cdf", "steps.1.candidates.removed_by.0", "__class__", "removed_by"),
        ("inverse_cdf", "steps.1.stages.-2.name", "argmax", "argmax belongs to"),
        ("inverse_cdf", "steps", lambda steps: [*steps, steps[0]], "only once"),
        ("inverse_cdf", "finish_reason", "cancelled", "cancelled run"),
        ("inverse_cdf", "steps.0.positions.0.next_rank", None, "next token"),
        ("inverse_cdf", "steps.1.draw.uniform", None, "interval and uniform"),
        ("inverse_cdf", "steps.1.draw.interval", None, "interval and uniform"),
        ("inverse_cdf", "steps.1.stages.0", lambda stage: {**stage, "state": 3.0}, "has a state"),
        ("inverse_cdf", "steps.1.stages.0",
         lambda stage: {**stage, "second": {"probs": [0.5]}}, "has a second"),
    ],
)  # fmt: skip
def test_a_file_that_contradicts_itself_is_refused(
    files: dict[str, Any], draw: str, path: str, value: object, words: str
) -> None:
    data = files[draw]
    assert read(data) == Trace.from_dict(data)
    assert words in refusal(changed(data, path, value))


@pytest.mark.parametrize(
    ("name", "value"),
    [("state", 3.0), ("second", {"probs": [0.5]})],
)
def test_a_stage_with_a_number_of_another_setting_is_refused_in_a_trusted_file_too(
    files: dict[str, Any], name: str, value: object
) -> None:
    forged = changed(files["inverse_cdf"], "steps.1.stages.0", lambda stage: {**stage, name: value})
    with pytest.raises(TraceError, match=f"has a {name} that is no number of its setting"):
        Trace.from_dict(forged)


@pytest.mark.parametrize("language", ["ja", "ko"])
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("steps.1.token_id", "x"),
        ("steps.1.entropy", -1.0),
        ("finish_reason", "tired"),
        ("steps.1.draw.uniform", None),
        ("prompt", 3),
    ],
)
def test_the_detail_of_a_fault_is_in_the_reader_s_language(
    files: dict[str, Any], path: str, value: object, language: str
) -> None:
    with pytest.raises(TraceError) as error:
        read(changed(files["inverse_cdf"], path, value))
    with use(language):
        shown = error.value.shown
    # Names of fields and of values stay.
    assert not re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", shown), shown


@pytest.mark.parametrize("method", DRAWS)
@pytest.mark.parametrize("own", DRAWS)
def test_a_draw_has_the_numbers_of_its_method_and_no_others(
    files: dict[str, Any], own: str, method: str
) -> None:
    data = copy.deepcopy(files[own])
    for step in data["steps"][1:]:
        step["draw"]["method"] = method
    if {own, method} <= {"gumbel", "multinomial"} or own == method:
        read(data)
    else:
        # Of a recorded run the scores may be unknown; its stages are another draw's all the same.
        unknown = (own, method) == ("argmax", "multinomial")
        assert ("the stage argmax" if unknown else f"a draw by {method} has") in refusal(data)


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
        ("beam.steps.1.candidates.parent.0", (-1, 64)),
        ("beam.steps.1.candidates.rank.0", (0, 100_000_001)),
        ("beam.steps.1.candidates.cum_logprob.0", (-1e300, 1e300)),
        ("beam.steps.1.candidates.token_id.0", (-1, 100_000_001)),
        ("beam.steps.1.entropies.0", (-1.0, 1e300)),
        ("beam.steps.1.groups.0", (-1, 64)),
        ("beam.steps.1.kept_logprobs.0.0", (-1e300, 1e300)),
        ("beam.steps.1.limit", (0, 100_001)),
        ("beam.steps.1.index", (-1, 100_000_001)),
        ("beam.steps.1.seconds.search", (-1.0, 1e300)),
        ("beam.hypotheses.0.score", (-1e300, 1e300)),
        ("beam.hypotheses.0.parents.0", (-1, 64)),
        ("beam.hypotheses.0.group", (-1, 64)),
    ],
)
def test_every_number_has_a_bound_on_either_side(
    files: dict[str, Any], path: str, values: tuple[float, float]
) -> None:
    kind = "beam" if path.startswith("beam") else "inverse_cdf"
    for value in values:
        message = refusal(changed(files[kind], path.removeprefix("beam."), value))
        place = re.sub(r"^(beam\.)?(steps\.)?\w+\.", "", path)
        assert place in re.sub(r"\.(token|beam)\b", "", message)


def test_the_schema_knows_every_stage_that_shaping_makes() -> None:
    made = {"raw", "min_new_tokens", "argmax", "final", *(f.name for f in fields(Shaping))}
    made -= {further for f in fields(Shaping) for further in parts_of(f.name)}
    assert set(STAGES) == made | {"forced", "server"}


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        *(("inverse_cdf", where) for where in ("steps.1.draw", "steps.1.candidates", "config")),
        *(("beam", where) for where in ("steps.1", "steps.1.candidates", "hypotheses.0")),
        ("inverse_cdf", "versions"),
    ],
)
def test_a_flood_of_unknown_fields_is_refused_at_the_first(
    files: dict[str, Any], kind: str, where: str
) -> None:
    data, flood = files[kind], {f"key{at}": 0 for at in range(50_000)}
    # A fault for each field would take ten seconds and 2 GB for a file below the limit.
    assert "more)" not in refusal(changed(data, where, lambda fields: fields | flood))
    assert "more)" not in refusal(data | flood)


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        *(("inverse_cdf", name) for name in ("text", "rank", "prob", "removed_by")),
        *(("beam", name) for name in ("text", "parent", "fate", "row", "logprob")),
    ],
)
def test_a_flood_of_wrong_values_is_refused_at_the_first(
    files: dict[str, Any], kind: str, column: str
) -> None:
    message = refusal(changed(files[kind], f"steps.1.candidates.{column}", [{}] * 50_000))
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
    message = refusal(changed(files["inverse_cdf"], path, value))
    assert words in message and "__init__" not in message
