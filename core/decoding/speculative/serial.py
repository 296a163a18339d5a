"""A round of speculative decoding as plain JSON values and back; candidates by column."""

from __future__ import annotations

from typing import Any

from core.decoding.columnar import to_columns, to_rows
from core.decoding.speculative.types import (
    CacheSizes,
    DraftRound,
    DraftToken,
    ExtraToken,
    PairCandidate,
    RoundSeconds,
)


def round_to_dict(step: DraftRound) -> dict[str, Any]:
    """Plain dicts, lists, strings and numbers."""
    fields = {name: getattr(step, name) for name in DraftRound.__dataclass_fields__}
    draft_cache = step.draft_cache
    return {
        "kind": "round",
        **fields,
        "drafted": [_token_to_dict(token) for token in step.drafted],
        "recovered": None if step.recovered is None else _token_to_dict(step.recovered),
        "bonus": None if step.bonus is None else _token_to_dict(step.bonus),
        "texts": list(step.texts),
        "target_cache": step.target_cache._asdict(),
        "draft_cache": None if draft_cache is None else draft_cache._asdict(),
        "seconds": step.seconds._asdict(),
    }


def _token_to_dict(token: DraftToken | ExtraToken) -> dict[str, Any]:
    fields = token._asdict()
    fields["candidates"] = to_columns(PairCandidate._fields, token.candidates)
    for name in _INTERVALS & fields.keys():
        fields[name] = None if fields[name] is None else list(fields[name])
    return fields


_INTERVALS = {"interval", "draft_interval"}


def round_from_dict(data: dict[str, Any]) -> DraftRound:
    """The inverse of `round_to_dict`, `kind` left out."""
    draft_cache = data["draft_cache"]
    return DraftRound(
        **{
            **data,
            "drafted": tuple(DraftToken(**_fields_of(token)) for token in data["drafted"]),
            "recovered": _extra_from(data["recovered"]),
            "bonus": _extra_from(data["bonus"]),
            "texts": tuple(data["texts"]),
            "target_cache": CacheSizes(**data["target_cache"]),
            "draft_cache": None if draft_cache is None else CacheSizes(**draft_cache),
            "seconds": RoundSeconds(**data["seconds"]),
        }
    )


def _extra_from(data: dict[str, Any] | None) -> ExtraToken | None:
    return None if data is None else ExtraToken(**_fields_of(data))


def _fields_of(data: dict[str, Any]) -> dict[str, Any]:
    fields = dict(data)
    rows = to_rows(PairCandidate._fields, fields["candidates"])
    fields["candidates"] = tuple(PairCandidate(*row) for row in rows)
    for name in _INTERVALS & fields.keys():
        interval = fields[name]
        fields[name] = None if interval is None else (interval[0], interval[1])
    return fields
