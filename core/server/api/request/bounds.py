"""Bounds of a call's arguments: a model without tools may never close a string or a list."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from ....decoding.constraints.value import Constraint
from ....decoding.errors import ConfigError

# Limit on items of a list, and on properties with free names.
_MOST_ITEMS = 8
# Limit on the size of a number, and digits after its decimal point.
_MOST = 10**9 - 1
_DECIMALS = 4
# The largest integer of llguidance.
_LARGEST = 2**63 - 1
# Patterns of a schema that are looked at; those after them stay as they are.
_MOST_PATTERNS = 32
_NAMES = "^.{1,16}$"
_FIXED = {"enum", "const"}
_COMBINED = ("anyOf", "oneOf", "allOf")
_LISTS = (*_COMBINED, "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_SCALARS = ("string", "number", "boolean", "null")
_ANY = (*_SCALARS, "array", "object")
# Keywords that say the type of a schema that names none.
_TELLING = {
    "string": {"minLength", "maxLength", "pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "array": {"items", "prefixItems", "minItems", "maxItems"},
    "object": {*_MAPS, "additionalProperties", "required", "minProperties", "maxProperties"},
}


def bounded(schema: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return a stricter schema whose values end within a number of tokens, where they can: bounds
    for strings, numbers and lists without one, and no properties beside those that are named.

    A schema that refers to itself, names by a pattern, and a pattern that llguidance can't
    intersect with a length keep their own bounds.
    """
    strings = max(json.dumps(schema).count('"string"'), 1)
    for closed in (True, False):
        # An object that `allOf` makes of several ones may not be closed.
        made: dict[str, Any] = _Bounds(max(limit // (4 * strings), 8), closed).of(schema)
        if _is_kept(made):
            return made
    return dict(schema)


def _is_kept(schema: Mapping[str, Any]) -> bool:
    try:
        Constraint("json", json.dumps(schema))
    except ConfigError:
        return False
    return True


class _Bounds:
    """Bounds for the parts of one schema.

    Args:
        length: characters of a string.
        closed: whether an object has no properties beside those that are named.
    """

    def __init__(self, length: int, closed: bool) -> None:
        self._length, self._closed, self._patterns = length, closed, 0

    def of(self, schema: Any, kinds: Iterable[str] = (), inner: bool = False) -> Any:
        """Return the stricter schema.

        Args:
            kinds: types of a schema that names none.
            inner: True for a part of `anyOf`, `oneOf` or `allOf`, which may have any type.
        """
        if schema is True:
            schema = {}
        if not isinstance(schema, dict):
            return schema
        kept = dict(schema)
        named = schema.get("type")
        if isinstance(named, str):
            kinds = (named,)
        elif isinstance(named, list):
            kinds = [kind for kind in named if isinstance(kind, str)]
        elif not (schema.keys() & {"$ref", *_COMBINED, *_FIXED} or inner):
            kinds = [kind for kind, words in _TELLING.items() if words & schema.keys()] or _ANY
            kept["type"] = list(kinds)
        for name in _MAPS:
            if isinstance(parts := schema.get(name), dict):
                kept[name] = {key: self.of(part) for key, part in parts.items()}
        plain = [kind for kind in kinds if kind not in ("object", "array")]
        for name in _LISTS:
            if isinstance(parts := schema.get(name), list):
                combined = name in _COMBINED
                kept[name] = [self.of(part, plain if combined else (), combined) for part in parts]
        for name in ("items", "additionalProperties"):
            if isinstance(schema.get(name), dict):
                kept[name] = self.of(schema[name])
        if not schema.keys() & _FIXED:
            for kind in {"number" if kind == "integer" else kind for kind in kinds}:
                if bound := getattr(self, f"_{kind}", None):
                    bound(kept, set(kinds))
        return kept

    def _string(self, kept: dict[str, Any], _kinds: set[str]) -> None:
        if "maxLength" in kept or kept.keys() & {"$ref", *_COMBINED}:
            return
        length = max(self._length, _number(kept.get("minLength"), 0))
        if rule := {name: kept[name] for name in ("pattern", "format") if name in kept}:
            self._patterns += 1
            if self._patterns > _MOST_PATTERNS:
                return
            least = {"minLength": kept["minLength"]} if "minLength" in kept else {}
            length = _room(json.dumps({"type": "string", **rule, **least}), length)
        if length:
            kept["maxLength"] = length

    def _number(self, kept: dict[str, Any], kinds: set[str]) -> None:
        if kept.keys() & {"$ref", *_COMBINED}:
            return
        low = max(_number(kept.get(name), -math.inf) for name in ("minimum", "exclusiveMinimum"))
        high = min(_number(kept.get(name), math.inf) for name in ("maximum", "exclusiveMaximum"))
        if high == math.inf:
            above = max(math.ceil(low), 0) if low > -math.inf else 0
            kept["maximum"] = high = min(_MOST + above, _LARGEST)
        if low == -math.inf:
            kept["minimum"] = low = max(min(math.floor(high), 0) - _MOST, -_LARGEST)
        if "number" in kinds and "multipleOf" not in kept and high > low:
            digits = max(_DECIMALS, 2 - math.floor(math.log10(min(high - low, 1))))
            kept["multipleOf"] = float(f"1e-{digits}")

    def _array(self, kept: dict[str, Any], _kinds: set[str]) -> None:
        if kept.keys() & {"$ref", *_COMBINED}:
            return
        first = kept.get("prefixItems")
        least = max(_number(kept.get("minItems"), 0), len(first) if isinstance(first, list) else 0)
        kept.setdefault("maxItems", max(_MOST_ITEMS, least))
        if kept.get("items", True) is True:
            kept["items"] = self.of({"type": list(_SCALARS)})

    def _object(self, kept: dict[str, Any], _kinds: set[str]) -> None:
        if kept.keys() & {"$ref", *_COMBINED} or "patternProperties" in kept:
            return
        more, required = kept.get("additionalProperties", True), kept.get("required")
        required = required if isinstance(required, list) else ()
        if more is True:
            more = {"type": "string", "maxLength": max(self._length // 4, 8)}
        properties = kept.get("properties", {})
        if not self._closed or not isinstance(properties, dict) or not isinstance(more, dict):
            return
        unnamed = [name for name in map(str, required) if name not in properties]
        if unnamed or "properties" in kept:
            kept["properties"] = {**properties, **dict.fromkeys(unnamed, more)}
        else:
            # Names have no bound but that of a pattern.
            kept["patternProperties"] = {_NAMES: more}
            most = min(_MOST_ITEMS, max(self._length // 8, 1))
            kept.setdefault("maxProperties", max(most, _number(kept.get("minProperties"), 0)))
        kept["additionalProperties"] = False


def _number(value: Any, otherwise: float) -> Any:
    """Return a bound; another one for a wrong one, as llguidance reads only what arguments use."""
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return value if right and math.isfinite(value) else otherwise


@lru_cache(maxsize=256)
def _room(rule: str, length: int) -> int:
    """Return a length in which a string with a pattern has room; 0 if llguidance finds none."""
    for times in (1, 4, 16, 64):
        if _is_kept({**json.loads(rule), "maxLength": length * times}):
            return length * times
    return 0
