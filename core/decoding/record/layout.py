"""Conversion of records to plain JSON values and back, by the types of their fields.

A record is a dataclass or a NamedTuple. It is stored as an object of its fields in order, preceded
by its class variables `schema`, `version` and `kind` if it has them. The annotations of `bounds`
limit the fields' values. Reading is strict: it refuses unknown fields, missing fields, other types
and NaN, and stops at a list's first fault, so that long lists cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic_core import CoreConfig, CoreSchema, SchemaValidator, ValidationError
from pydantic_core import core_schema as cs

from ...language import N_, Message
from ..errors import TraceError
from ..validation import brief
from .bounds import Bounds, ByColumn, LeftOut, OneOf, Spread
from .faults import first_fault

_CONSTANTS = ("schema", "version", "kind")
_STRICT = CoreConfig(strict=True, allow_inf_nan=False)
_SCALARS: dict[Any, Callable[..., CoreSchema]] = {
    int: cs.int_schema,
    float: cs.float_schema,
    str: cs.str_schema,
    bool: cs.bool_schema,
}

_Record = TypeVar("_Record")
Plain = Callable[[Any], Any]
# Validation rules beyond the fields' types: by a record's class, or by `tuple[Record, ...]` for a
# tuple that is stored by column. A rule raises ValueError.
Rules = Mapping[Any, Sequence[Callable[[Any], None]]]


class Codec(NamedTuple):
    """Layout of a single type; `read` raises ValueError for a wrong value."""

    plain: Plain
    read: Plain


Codecs = Mapping[type, Codec]
# Concrete classes, by the abstract class with which fields are declared.
Kinds = Mapping[Any, Sequence[Any]]


class _Part(NamedTuple):
    """Schema that reads a type, and a function that makes its values plain; None if they are
    plain.
    """

    schema: CoreSchema
    plain: Plain | None = None


class RecordLayout(Generic[_Record]):
    """Layout of a record in a file.

    Args:
        record: class of the record.
        codecs: layouts of single types.
        rules: extra validation rules.
        kinds: concrete classes of abstract field types, distinguished by `kind`; for a `Spread`
            field, by the present fields.
    """

    def __init__(
        self,
        record: type[_Record],
        codecs: Codecs | None = None,
        rules: Rules | None = None,
        kinds: Kinds | None = None,
    ) -> None:
        self._codecs, self._rules, self._kinds = codecs or {}, rules or {}, kinds or {}
        self.schema, self._plain = self._record(record)

    @cached_property
    def _validator(self) -> SchemaValidator:
        return SchemaValidator(self.schema, _STRICT)

    def plain(self, value: _Record) -> dict[str, Any]:
        """Return dicts, lists, strings and numbers, ready for `json.dump`."""
        assert self._plain
        return cast(dict[str, Any], self._plain(value))

    def read(self, data: Any) -> _Record:
        """Return the record from plain values, the inverse of `plain`.

        Raises:
            TraceError: one sentence about the first wrong field.
        """
        try:
            return cast(_Record, self._validator.validate_python(data))
        except ValidationError as error:
            raise TraceError(first_fault(error)) from None

    def _of(self, hint: Any, marks: Sequence[Any] = ()) -> _Part:
        if get_origin(hint) is Annotated:
            hint, marks = hint.__origin__, hint.__metadata__
        if isinstance(hint, TypeVar):
            hint = hint.__bound__
        if hint in self._codecs:
            codec = self._codecs[hint]
            read = cs.no_info_plain_validator_function(codec.read, metadata={"record": hint})
            return _Part(read, codec.plain)
        if hint in self._kinds:
            return self._union(self._kinds[hint], marks)
        for mark in marks:
            if isinstance(mark, OneOf):
                return _Part(cs.literal_schema(list(mark.names)))
        if hint in _SCALARS:
            return _Part(_SCALARS[hint](**_bounds(marks)))
        origin, args = get_origin(hint), get_args(hint)
        if origin is Literal:
            return _Part(cs.literal_schema(list(args)))
        if origin in (Union, UnionType):
            return self._union(args, marks)
        if origin is dict:
            keys, values = (self._of(arg).schema for arg in args)
            return _Part(cs.dict_schema(keys, values, fail_fast=True, **_bounds(marks)), dict)
        if origin is tuple:
            by_column = any(isinstance(mark, ByColumn) for mark in marks)
            return self._table(args[0], marks) if by_column else self._tuple(args, marks)
        return self._record(hint)

    def _union(self, members: Sequence[Any], marks: Sequence[Any]) -> _Part:
        """Return the part of a union: an optional type, several Literals, numbers, or records by
        `kind`.
        """
        if NoneType in members:
            others = tuple(member for member in members if member is not NoneType)
            schema, plain = (
                self._of(others[0], marks) if len(others) == 1 else self._union(others, marks)
            )
            return _Part(cs.nullable_schema(schema), plain and _unless_none(plain))
        if all(get_origin(member) is Literal for member in members):
            return _Part(
                cs.literal_schema([name for member in members for name in get_args(member)])
            )
        if all(member in _SCALARS for member in members):
            return _Part(cs.union_schema([self._of(member, marks).schema for member in members]))
        parts = {member: self._record(member) for member in members}
        choices = {member.kind: part.schema for member, part in parts.items()}
        plains: dict[Any, Any] = {member: part.plain for member, part in parts.items()}
        return _Part(
            cs.tagged_union_schema(choices, "kind"), lambda value: plains[type(value)](value)
        )

    def _tuple(self, args: Sequence[Any], marks: Sequence[Any]) -> _Part:
        """Return the part of a tuple: one type at any length, or numbers by position."""
        endless = args[-1] is Ellipsis
        items = [self._of(arg) for arg in (args[:1] if endless else args)]
        # Not strict for the tuple itself: JSON has only lists.
        schema = cs.tuple_schema(
            [item.schema for item in items],
            variadic_item_index=0 if endless else None,
            strict=False,
            fail_fast=True,
            **_bounds(marks),
        )
        item = items[0].plain
        return _Part(
            schema, list if item is None else lambda value: [item(element) for element in value]
        )

    def _table(self, record: Any, marks: Sequence[Any]) -> _Part:
        """Return the part of records stored by column; all their fields are scalars."""
        names, hints = record._fields, get_type_hints(record, include_extras=True)
        columns = {name: self._tuple((hints[name], ...), marks).schema for name in names}
        known, rules = frozenset(names), self._rules.get(tuple[record, ...], ())

        def read(data: Any, inside: Plain) -> Any:
            _require_known(data, known)
            values = inside(data).values()
            if len(set(map(len, values))) != 1:
                raise ValueError(N_("the candidates' columns differ in length"))
            rows = tuple(map(record._make, zip(*values, strict=True)))
            for rule in rules:
                rule(rows)
            return rows

        def plain(rows: Sequence[Any]) -> dict[str, list[Any]]:
            values = zip(*rows, strict=True) if rows else ((),) * len(names)
            return dict(zip(names, map(list, values), strict=True))

        return _Part(cs.no_info_wrap_validator_function(read, _object(columns)), plain)

    def _record(self, record: Any) -> _Part:
        """Return the part of a dataclass or NamedTuple, by field names."""
        names, hints = _fields_of(record), get_type_hints(record, include_extras=True)
        spread = next((name for name in names if _marks(hints[name], Spread)), None)
        names = tuple(name for name in names if name != spread)
        parts = {name: self._of(hints[name]) for name in names}
        left_out = {name: mark.when for name in names for mark in _marks(hints[name], LeftOut)}
        constants = {
            name: getattr(record, name)
            for name in _CONSTANTS
            if get_origin(hints.get(name)) is ClassVar
        }
        spread_parts = self._spread_parts(hints[spread]) if spread else {}
        optional = {**left_out, **spread_parts}
        known = frozenset((*constants, *names, *spread_parts))
        rules = self._rules.get(record, ())

        def read(data: Any, inside: Plain) -> Any:
            _require_known(data, known)
            fields = inside(data)
            for name, value in constants.items():
                if data.get(name) != value:
                    raise ValueError(Message("its {name} is not {value}", name=name, value=value))
            if spread:
                values = {name: fields.pop(name) for name in spread_parts if name in fields}
                fields |= self._gathered(spread, hints[spread].__origin__, values)
            instance = record(**fields)
            for rule in rules:
                rule(instance)
            return instance

        schema = _object(
            {n: part.schema for n, part in {**parts, **spread_parts}.items()}, optional
        )
        plain = _plain_record(record, (*constants, *names), parts, left_out)
        if spread:
            plain = _plain_spread(plain, spread, spread_parts)
        metadata = {"record": record, "constants": constants}
        return _Part(cs.no_info_wrap_validator_function(read, schema, metadata=metadata), plain)

    def _spread_parts(self, hint: Any) -> dict[str, _Part]:
        """Return the fields of all kinds of a `Spread` record; no two kinds share a field name."""
        hints = [get_type_hints(kind, include_extras=True) for kind in self._kinds[hint.__origin__]]
        return {name: self._of(fields[name]) for fields in hints for name in fields}

    def _gathered(self, name: str, base: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `Spread` record with these fields; the default if there are none."""
        # An older file may have empty fields of other kinds.
        present = {field for field, value in values.items() if value} or values.keys()
        for kind in self._kinds[base]:
            fields = {field: values[field] for field in _fields_of(kind) if field in values}
            if present & fields.keys():
                if foreign := present - fields.keys():
                    raise ValueError(Message("{name} belongs to another method", name=min(foreign)))
                return {name: kind(**fields)}
        return {}


def _plain_record(
    record: Any,
    names: Sequence[str],
    parts: Mapping[str, _Part],
    left_out: Mapping[str, Callable[[Any], bool]],
) -> Plain:
    """Return a function from a record to a dict of these attributes, without those left out."""
    converting = [(name, part.plain) for name, part in parts.items() if part.plain]

    def attributes(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in names}

    fields_of: Plain = attributes if is_dataclass(record) else record._asdict

    def plain(value: Any) -> dict[str, Any]:
        data: dict[str, Any] = fields_of(value)
        for name, convert in converting:
            data[name] = convert(data[name])
        for name, when in left_out.items():
            if when(value):
                del data[name]
        return data

    return plain


def _plain_spread(plain: Plain, spread: str, parts: Mapping[str, _Part]) -> Plain:
    """Return `plain` extended by the fields of the `Spread` record that have a value."""

    def with_spread(value: Any) -> dict[str, Any]:
        data: dict[str, Any] = plain(value)
        inner = getattr(value, spread)
        for name in _fields_of(type(inner)):
            content, convert = getattr(inner, name), parts[name].plain
            data[name] = convert(content) if convert else content
        return data

    return with_spread


def _object(parts: Mapping[str, CoreSchema], optional: Container[str] = ()) -> CoreSchema:
    fields = {
        name: cs.typed_dict_field(schema, required=name not in optional)
        for name, schema in parts.items()
    }
    return cs.typed_dict_schema(fields, extra_behavior="ignore", config=_STRICT)


def _require_known(data: Any, known: frozenset[str]) -> None:
    """Report one unknown field, where pydantic would collect an error for each."""
    if isinstance(data, dict) and not known.issuperset(data):
        unknown = next(name for name in data if name not in known)
        raise ValueError(Message("{name} is no field of it", name=brief(unknown)))


def _fields_of(record: Any) -> tuple[str, ...]:
    if is_dataclass(record):
        return tuple(field.name for field in fields(record))
    names: tuple[str, ...] = record._fields
    return names


def _marks(hint: Any, kind: type) -> list[Any]:
    return [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, kind)]


def _bounds(marks: Sequence[Any]) -> dict[str, Any]:
    bounds = (mark._asdict() for mark in marks if isinstance(mark, Bounds))
    return {name: value for bound in bounds for name, value in bound.items() if value is not None}


def _unless_none(plain: Plain) -> Plain:
    return lambda value: None if value is None else plain(value)
