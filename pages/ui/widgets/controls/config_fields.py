"""Between controls and a method's config: a row's `field` names the field that it sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

from core.decoding.config import MethodConfig
from core.decoding.shaping.config import Shaping
from pages.ui.widgets.controls.control import Control, Read, value
from pages.ui.widgets.controls.slider import Slider

C = TypeVar("C", bound=MethodConfig)
_SHAPING = "shaping."


def arguments(rows: Iterable[Control], read: Read = value) -> dict[str, Any]:
    """The arguments of a config class that the rows set; those that don't act are left out.

    Raises:
        ConfigError: a filter's or the temperature's value outside its interval.
    """
    direct, shaping = _fields(rows, read)
    return {**direct, "shaping": Shaping(**shaping)}


def moved(config: C, rows: Iterable[Control], read: Read) -> C:
    """A config with what these rows set at other values.

    Raises:
        ConfigError: a value outside its interval, or they exclude each other.
    """
    direct, shaping = _fields(rows, read)
    return replace(config, **direct, shaping=replace(config.shaping, **shaping))


def _fields(rows: Iterable[Control], read: Read) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the rows' values for fields of a config, and for those of its shaping."""
    values = {
        row.field: row.to_field(row.cast(read(row.key)))
        for row in rows
        if row.field and row.acts(read)
    }
    inner = [name for name in values if name.startswith(_SHAPING)]
    shaping = {name.removeprefix(_SHAPING): values.pop(name) for name in inner}
    return values, shaping


def reached(
    rows: Iterable[Control], config: MethodConfig, before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the control values that describe a config, by key; omit those out of range.

    Args:
        rows: a row on which others' `acts` depends comes before them.
        before: what further controls say.
    """
    values = dict(before or {})

    def read(key: str) -> Any:
        return values[key] if key in values else value(key)

    for row in rows:
        if not row.field or not (isinstance(row, Slider) or row.acts(read)):
            continue
        held = row.from_field(reduce(getattr, row.field.split("."), config))
        fitting = None if held is None else row.fit(held)
        if fitting is not None:
            values[row.key] = fitting
    return values
