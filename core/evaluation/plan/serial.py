"""Plans and rows of an evaluation as plain JSON values and back; what is read is validated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from core.decoding.errors import ConfigError, DecodingError, EvaluationError
from core.decoding.methods import config_from_dict, config_to_dict
from core.decoding.validation import brief
from core.evaluation.plan.derived import derived
from core.evaluation.plan.types import EvaluationPlan, EvaluationRow, Way
from core.evaluation.questions.types import QuestionSet
from core.evaluation.strict_json import adapter, read_as, require_runs, rounded

WAY_FIELDS = tuple(field.name for field in fields(Way))
_KINDS = {
    "name": (str,),
    "model": (str,),
    "draft": (str,),
    "use_chat_template": (bool,),
    "draft_use_chat_template": (bool, type(None)),
    "system": (str,),
    "samples": (int,),
}


def way_to_dict(way: Way) -> dict[str, Any]:
    """A way with its config as `config_to_dict` writes it."""
    return {name: getattr(way, name) for name in WAY_FIELDS} | {
        "config": config_to_dict(way.config)
    }


def way_from_dict(data: Any) -> Way:
    """The inverse of `way_to_dict`; settings that are left out have their defaults.

    Raises:
        EvaluationError: no object, an unknown or wrong setting.
    """
    if not isinstance(data, dict):
        raise EvaluationError(f"A way must be an object with settings, got {brief(data)}.")
    unknown = next((name for name in data if name not in WAY_FIELDS), None)
    if unknown is not None:
        known = ", ".join(WAY_FIELDS)
        raise EvaluationError(f"A way has no setting {brief(unknown)}; there are {known}.")
    for name, kinds in _KINDS.items():
        if name in data and type(data[name]) not in kinds:
            wanted = " or ".join(kind.__name__ for kind in kinds).replace("NoneType", "null")
            raise EvaluationError(f"A way's {name} must be {wanted}, got {brief(data[name])}.")
    try:
        config = config_from_dict(data.get("config", {"method": "greedy"}))
        return Way(**{**data, "name": data.get("name", ""), "config": config})
    except ConfigError as error:
        raise EvaluationError(str(error)) from None


def plan_to_json(plan: EvaluationPlan) -> dict[str, Any]:
    """The plan as plain JSON values, its questions in full."""
    return {
        "questions": adapter(QuestionSet).dump_python(plan.questions, mode="json"),
        "ways": [way_to_dict(way) for way in plan.ways],
        "metrics": list(plan.metrics),
        "revisions": [list(pair) for pair in plan.revisions],
        "reward": plan.reward,
    }


def plan_from_json(data: Any) -> EvaluationPlan:
    """The inverse of `plan_to_json`; raises EvaluationError for anything else."""
    if not isinstance(data, dict) or not isinstance(data.get("ways"), list):
        raise EvaluationError("The evaluation's plan must hold questions and a list of ways.")
    try:
        return EvaluationPlan(
            questions=_read(QuestionSet, data.get("questions")),
            ways=tuple(way_from_dict(way) for way in data["ways"]),
            metrics=_read(tuple[str, ...], data.get("metrics")),
            revisions=_read(tuple[tuple[str, str], ...], data.get("revisions")),
            reward=_read(str, data.get("reward", "")),
        )
    except EvaluationError:
        raise
    except DecodingError as error:
        raise EvaluationError(f"The evaluation's plan is invalid: {error}") from None


def row_to_json(row: EvaluationRow) -> dict[str, Any]:
    """The row's fields by name, numbers to 1e-6."""
    values: dict[str, Any] = adapter(EvaluationRow).dump_python(row, mode="json")
    return {name: rounded(value) for name, value in values.items()}


def row_from_json(data: Any) -> EvaluationRow:
    """The inverse of `row_to_json`, but for the digits that it drops; raises EvaluationError."""
    row: EvaluationRow = read_as(EvaluationRow, data, EvaluationError)
    return row


def _read(kind: Any, data: Any) -> Any:
    return read_as(kind, data, EvaluationError)


def settled_rows(plan: EvaluationPlan, rows: Sequence[EvaluationRow]) -> tuple[EvaluationRow, ...]:
    """The rows with what follows from their texts; a run that failed and was done later, once.

    Raises:
        EvaluationError: with its line in a file, a row that isn't the plan's, is there twice, or
            whose reply is not of its text.
    """
    ways = {way.name: way for way in plan.ways}
    asked = {question.key: question for question in plan.questions.questions}
    runs = (
        (
            (row.question, row.way, row.sample, at if row.failure else -1),
            row.question in asked and row.way in ways and 0 <= row.sample < ways[row.way].samples,
        )
        for at, row in enumerate(rows)
    )
    require_runs(runs, "evaluation", EvaluationError)
    settled: dict[tuple[str, str, int], EvaluationRow] = {}
    for line, row in enumerate(rows, start=2):
        place = (row.question, row.way, row.sample)
        if row.failure and place in settled and not settled[place].failure:
            continue
        settled.pop(place, None)
        try:
            settled[place] = derived(row, ways[row.way], asked[row.question], plan.metrics)
        except EvaluationError as error:
            raise EvaluationError(f"Line {line} of the evaluation is invalid: {error}.") from None
    return tuple(settled.values())
