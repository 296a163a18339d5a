"""References of a JSON schema to its own parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

# Passes over a schema; a hostile one may need more, and counts as finite then.
_PASSES = 20


def has_finite_text(schema: Mapping[str, Any]) -> bool:
    """Return False if every text of a JSON schema is endless, as a required part refers to itself.

    Only local references are followed; a part that is not understood counts as finite.
    """
    finite: dict[str, bool] = {}
    try:
        for _ in range(_PASSES):
            before = sum(finite.values())
            # References that are being followed count as endless in this pass.
            finite = {reference: True for reference, ends in finite.items() if ends}
            if _is_finite(schema, schema, finite):
                return True
            if sum(finite.values()) == before:
                return False
    except RecursionError:
        pass
    return True


def _is_finite(part: Any, root: Mapping[str, Any], finite: dict[str, bool]) -> bool:
    if not isinstance(part, Mapping):
        return True
    reference = part.get("$ref")
    if isinstance(reference, str):
        if reference not in finite:
            finite[reference] = False
            finite[reference] = _is_finite(_target(reference, root), root, finite)
        if not finite[reference]:
            return False
    choices = (part.get("anyOf"), part.get("oneOf"))
    return all(_is_finite(each, root, finite) for each in _needed(part)) and all(
        not isinstance(some, list) or any(_is_finite(each, root, finite) for each in some)
        for some in choices
    )


def _needed(part: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the schemas of the parts that every value holds; one of several types may lack them."""
    whole, properties, required = part.get("allOf"), part.get("properties"), part.get("required")
    yield from whole if isinstance(whole, list) else ()
    kind, least = part.get("type"), part.get("minItems")
    if kind == "object" and isinstance(properties, Mapping) and isinstance(required, list):
        yield from (held for name, held in properties.items() if name in required)
    if kind == "array" and isinstance(least, int) and least > 0:
        first = part.get("prefixItems")
        yield from first[:least] if isinstance(first, list) else [part.get("items")]


def _target(reference: str, root: Any) -> Any:
    """Return the part that a local reference names; None for another one."""
    found: Any = root if reference.startswith("#") else None
    for step in filter(None, reference.removeprefix("#").split("/")):
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
