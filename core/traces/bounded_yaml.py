"""Read untrusted YAML: without aliases, bounded before any object is built from it."""

from __future__ import annotations

from typing import Any, NoReturn

import yaml

from ..decoding.errors import DecodingError
from ..decoding.validation import shortened
from ..language import N_, Message

# A plan of 60 ways with every setting is 6 deep and has about 3,000 values.
MAX_DEPTH, MAX_VALUES = 20, 20_000
# Prefer libyaml: PyYAML's own parser takes minutes for 20 KB of brackets.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(data: bytes, what: Message, error: type[DecodingError], longest_plain: int) -> Any:
    """Return the content of a YAML file.

    Args:
        what: the kind of file in messages, such as `plan`.
        longest_plain: maximum characters of a value without quotes.

    Raises:
        error: the first fault, with its line where there is one.
    """
    try:
        _require_bounded(data, what, error, longest_plain)
        return yaml.load(data, _Loader)
    except yaml.MarkedYAMLError as fault:
        mark, last = fault.problem_mark, data.count(b"\n") + 1
        # libyaml counts the end of the text as one more line.
        words, line = N_("The {what} is not YAML: {shown}."), 0
        if mark:
            words = N_("Line {line} of the {what} is not YAML: {shown}.")
            line = min(mark.line + 1, last)
        problem = shortened(str(fault.problem), 100)
        raise error(Message(words, line=line, what=what, shown=problem)) from None
    except DecodingError:
        raise
    except (yaml.YAMLError, ValueError, ArithmeticError):
        raise error(Message("The {what} is not YAML text.", what=what)) from None


def _require_bounded(
    data: bytes, what: Message, error: type[DecodingError], longest_plain: int
) -> None:
    """Refuse YAML that is too large or too deep, before any object is built from it.

    Raises:
        error: it is nested too deep, or holds too many values, a long number, or an alias (which
            could repeat one value a billion times).
        yaml.YAMLError: it is not YAML.
    """

    def refuse(event: Any) -> NoReturn:
        raise error(
            Message(
                "Line {line} of the {what}: lists are nested deeper than {max_depth}, "
                "the {what} holds more than {max_values:,} values, or a value without "
                "quotes has more than {longest_plain:,} characters.",
                line=event.start_mark.line + 1,
                what=what,
                max_depth=MAX_DEPTH,
                max_values=MAX_VALUES,
                longest_plain=longest_plain,
            )
        )

    depth = values = 0
    for event in yaml.parse(data, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        values += isinstance(event, yaml.NodeEvent)
        if isinstance(event, yaml.AliasEvent):
            raise error(
                Message(
                    "The {what} holds an alias (*name): write out what it stands for.", what=what
                )
            )
        # 1:1:1:... is a number in base 60; parsing a long one takes seconds.
        plain = isinstance(event, yaml.ScalarEvent) and event.implicit[0]
        if depth > MAX_DEPTH or values > MAX_VALUES or (plain and len(event.value) > longest_plain):
            refuse(event)
