"""A step of the lab as plain JSON values and back.

Reading a file from a stranger goes through `core.traces.lab_file`, which validates it first.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from core.decoding.autoregressive.config import Sampling
from core.decoding.errors import ConfigError, TraceError
from core.decoding.lab.types import (
    Continuation,
    Continuations,
    Crossing,
    KnobFlips,
    LabExample,
    LabStep,
    Piece,
    RollBin,
    Rolls,
    RowToken,
    Sweep,
)
from core.decoding.methods import config_from_dict, config_to_dict
from core.decoding.shaping.orders import ORDERS, Order
from core.decoding.trace import Candidate, Trace

SCHEMA = "decoding-explorer/lab"
VERSION = 1
_DIGITS = 9


def example_to_dict(example: LabExample) -> dict[str, Any]:
    """Plain dicts, lists, strings and numbers; ready for `json.dump`."""
    return {"schema": SCHEMA, "version": VERSION, **_plain(example)}


def _plain(value: Any) -> Any:
    """Values by field name; an order by its key, a trace and a config in their own layout."""
    if isinstance(value, Trace):
        return value.to_dict()
    if isinstance(value, Sampling):
        return config_to_dict(value)
    if isinstance(value, Order):
        return value.key
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "_asdict"):
        return {name: _plain(item) for name, item in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def example_from_dict(data: Any) -> LabExample:
    """The example that `example_to_dict` wrote, its numbers to nine digits.

    Raises:
        TraceError: something else, another version, or a field missing or of the wrong kind.
    """
    if not isinstance(data, dict) or (data.get("schema"), data.get("version")) != (SCHEMA, VERSION):
        raise TraceError(f"This is no step of the sampling lab in version {VERSION}.")
    try:
        return LabExample(
            index=data["index"],
            step=_step(data["step"]),
            flips=tuple(_flips(item) for item in data["flips"]),
            rolls=None if data["rolls"] is None else _rolls(data["rolls"]),
            sweep=None if data["sweep"] is None else _sweep(data["sweep"]),
            continuations=None
            if data["continuations"] is None
            else _continuations(data["continuations"]),
        )
    except (ConfigError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise TraceError(
            f"The step of the lab is damaged: {type(error).__name__}: {error}."
        ) from error


def _step(data: dict[str, Any]) -> LabStep:
    crossing = data["crossing"]
    return LabStep(
        trace=Trace.from_dict(data["trace"]),
        text_before=data["text_before"],
        order=ORDERS[data["order"]],
        throw=data["throw"],
        raw_pick=Candidate(**data["raw_pick"]),
        crossing=None if crossing is None else _crossing(crossing),
        skipped=tuple(data["skipped"]),
    )


def _crossing(data: dict[str, Any]) -> Crossing:
    return Crossing(
        Candidate(**data["candidate"]), data["before"], data["after"], tuple(data["probs"])
    )


def _flips(data: dict[str, Any]) -> KnobFlips:
    return KnobFlips(**{**data, "pieces": tuple(Piece(**piece) for piece in data["pieces"])})


def _rolls(data: dict[str, Any]) -> Rolls:
    return Rolls(**{**data, "bins": tuple(RollBin(**item) for item in data["bins"])})


def _sweep(data: dict[str, Any]) -> Sweep:
    return Sweep(
        temperatures=tuple(data["temperatures"]),
        candidates=tuple(Candidate(**item) for item in data["candidates"]),
        probs=tuple(tuple(row) for row in data["probs"]),
        entropies=tuple(data["entropies"]),
        kept=tuple(data["kept"]),
    )


def _continuations(data: dict[str, Any]) -> Continuations:
    rows = tuple(
        Continuation(**{**row, "tokens": tuple(RowToken(**token) for token in row["tokens"])})
        for row in data["rows"]
    )
    config = config_from_dict(data["config"])
    if not isinstance(config, Sampling):
        raise TypeError("the continuations' config is not sampling")
    return Continuations(**{**data, "rows": rows, "config": config})
