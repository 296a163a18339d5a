"""A trace as plain JSON values and back; `trace_from_dict(trace_to_dict(t)) == t`.

Candidates are stored by column, which keeps a 500-token trace below 3 MB. Reading a file from a
stranger goes through `core.traces.read_trace`, which validates it first.
"""

from __future__ import annotations

from typing import Any

from core.decoding.beam.types import BeamCandidate, BeamSeconds, BeamStep, Hypothesis
from core.decoding.columnar import to_columns, to_rows
from core.decoding.errors import ConfigError, TraceError
from core.decoding.methods import config_from_dict, config_to_dict
from core.decoding.speculative.serial import round_from_dict, round_to_dict
from core.decoding.speculative.types import DraftRound
from core.decoding.trace import (
    Candidate,
    Check,
    Draw,
    PromptPosition,
    PromptStep,
    Stage,
    Step,
    StepSeconds,
    Timings,
    TokenStep,
    Trace,
)

SCHEMA = "decoding-explorer/trace"
VERSION = 1
_OF_THE_DRAFT = ("draft_id", "draft_revision", "draft_dtype")


def trace_to_dict(trace: Trace) -> dict[str, Any]:
    """Plain dicts, lists, strings and numbers; ready for `json.dump`."""
    data = _trace_to_dict(trace)
    if trace.config.method == "beam":
        data["hypotheses"] = [_hypothesis_to_dict(found) for found in trace.hypotheses]
    if trace.config.method == "speculative":
        data.update({name: getattr(trace, name) for name in _OF_THE_DRAFT})
    return data


def _trace_to_dict(trace: Trace) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "model_id": trace.model_id,
        "model_revision": trace.model_revision,
        "dtype": trace.dtype,
        "versions": dict(trace.versions),
        "created": trace.created,
        "prompt": trace.prompt,
        "rendered_prompt": trace.rendered_prompt,
        "prompt_ids": list(trace.prompt_ids),
        "config": config_to_dict(trace.config),
        "steps": [_step_to_dict(step) for step in trace.steps],
        "token_ids": list(trace.token_ids),
        "text": trace.text,
        "finish_reason": trace.finish_reason,
        "timings": trace.timings._asdict(),
        "notes": list(trace.notes),
        "checks": [check._asdict() for check in trace.checks],
    }


def trace_from_dict(data: Any) -> Trace:
    """The trace that `trace_to_dict` wrote.

    Raises:
        TraceError: not a trace, another version, or a field missing or of the wrong kind.
    """
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise TraceError(
            "This is not a trace file of Decoding Explorer: its schema field is missing or wrong."
        )
    if data.get("version") != VERSION:
        raise TraceError(
            f"This trace file has version {data.get('version')!r}, this program reads {VERSION}."
        )
    try:
        return _trace_from_dict(data)
    except ConfigError as error:
        raise TraceError(f"The trace file's settings are invalid: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TraceError(f"The trace file is damaged: {type(error).__name__}: {error}.") from error


def _trace_from_dict(data: dict[str, Any]) -> Trace:
    return Trace(
        model_id=data["model_id"],
        model_revision=data["model_revision"],
        dtype=data["dtype"],
        versions=dict(data["versions"]),
        created=data["created"],
        prompt=data["prompt"],
        rendered_prompt=data["rendered_prompt"],
        prompt_ids=tuple(data["prompt_ids"]),
        config=config_from_dict(data["config"]),
        steps=tuple(_step_from_dict(step) for step in data["steps"]),
        token_ids=tuple(data["token_ids"]),
        text=data["text"],
        finish_reason=data["finish_reason"],
        timings=Timings(**data["timings"]),
        notes=tuple(data["notes"]),
        checks=tuple(Check(**check) for check in data["checks"]),
        hypotheses=tuple(_hypothesis_from_dict(found) for found in data.get("hypotheses", ())),
        **{name: data.get(name, "") for name in _OF_THE_DRAFT},
    )


def _candidates_to_dict(candidates: tuple[Candidate, ...]) -> dict[str, list[Any]]:
    return to_columns(Candidate._fields, candidates)


def _candidates_from_dict(columns: dict[str, list[Any]]) -> tuple[Candidate, ...]:
    return tuple(Candidate(*row) for row in to_rows(Candidate._fields, columns))


def _position_to_dict(position: PromptPosition) -> dict[str, Any]:
    fields = {name: getattr(position, name) for name in PromptPosition.__dataclass_fields__}
    return {**fields, "candidates": _candidates_to_dict(position.candidates)}


def _step_to_dict(step: Step) -> dict[str, Any]:
    if isinstance(step, PromptStep):
        positions = [_position_to_dict(position) for position in step.positions]
        return {"kind": "prompt", "seconds": step.seconds, "positions": positions}
    if isinstance(step, DraftRound):
        return round_to_dict(step)
    return _beam_step_to_dict(step) if isinstance(step, BeamStep) else _token_step_to_dict(step)


def _token_step_to_dict(step: TokenStep) -> dict[str, Any]:
    forced = {"forced_as": step.forced_as, "instead_of": step.instead_of}
    return {
        "kind": "token",
        "index": step.index,
        "token_id": step.token_id,
        "text": step.text,
        "candidates": _candidates_to_dict(step.candidates),
        "entropy": step.entropy,
        "tail_mass": step.tail_mass,
        "surprisal": step.surprisal,
        "origin": step.origin,
        "phase": step.phase,
        **({} if step.forced_as is None else forced),
        "draw": step.draw._asdict(),
        "stages": [{**stage._asdict(), "probs": list(stage.probs)} for stage in step.stages],
        "seconds": step.seconds._asdict(),
        "finish_reason": step.finish_reason,
    }


def _step_from_dict(data: dict[str, Any]) -> Step:
    fields = dict(data)
    kind = fields.pop("kind")
    if kind == "prompt":
        positions = tuple(
            PromptPosition(
                **{**position, "candidates": _candidates_from_dict(position["candidates"])}
            )
            for position in fields["positions"]
        )
        return PromptStep(positions, fields["seconds"])
    if kind == "beam":
        return _beam_step_from_dict(fields)
    if kind == "round":
        return round_from_dict(fields)
    if kind != "token":
        raise TraceError(f"The trace file holds a step of unknown kind {kind!r}.")
    fields["candidates"] = _candidates_from_dict(fields["candidates"])
    fields["stages"] = tuple(
        Stage(**{**stage, "probs": tuple(stage["probs"])}) for stage in fields["stages"]
    )
    fields["draw"] = _draw_from_dict(fields["draw"])
    fields["seconds"] = StepSeconds(**fields["seconds"])
    return TokenStep(**fields)


def _draw_from_dict(data: dict[str, Any]) -> Draw:
    interval, scores = data["interval"], data["scores"]
    return Draw(
        method=data["method"],
        uniform=data["uniform"],
        interval=None if interval is None else (interval[0], interval[1]),
        scores=None if scores is None else tuple(scores),
    )


def _beam_step_to_dict(step: BeamStep) -> dict[str, Any]:
    return {
        "kind": "beam",
        "index": step.index,
        "candidates": to_columns(BeamCandidate._fields, step.candidates),
        "groups": list(step.groups),
        "entropies": list(step.entropies),
        "kept_logprobs": [list(row) for row in step.kept_logprobs],
        "finished_texts": list(step.finished_texts),
        "limit": step.limit,
        "origin": step.origin,
        "seconds": step.seconds._asdict(),
        "finish_reason": step.finish_reason,
    }


def _beam_step_from_dict(fields: dict[str, Any]) -> BeamStep:
    rows = to_rows(BeamCandidate._fields, fields["candidates"])
    fields["candidates"] = tuple(BeamCandidate(*row) for row in rows)
    fields["kept_logprobs"] = tuple(tuple(row) for row in fields["kept_logprobs"])
    for name in ("groups", "entropies", "finished_texts"):
        fields[name] = tuple(fields[name])
    fields["seconds"] = BeamSeconds(**fields["seconds"])
    return BeamStep(**fields)


def _hypothesis_to_dict(found: Hypothesis) -> dict[str, Any]:
    return {
        **found._asdict(),
        "token_ids": list(found.token_ids),
        "parents": list(found.parents),
    }


def _hypothesis_from_dict(data: dict[str, Any]) -> Hypothesis:
    lists = {name: tuple(data[name]) for name in ("token_ids", "parents")}
    return Hypothesis(**{**data, **lists})
