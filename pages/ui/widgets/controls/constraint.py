"""Controls of a constraint: a menu of its kinds, and a text field for each kind."""

from __future__ import annotations

from functools import partial
from typing import Any

from core.decoding.constraints.value import MAX_LENGTH, Constraint
from core.decoding.errors import ConfigError
from core.language import N_, Message
from pages.ui.widgets.controls.control import Control, Text, declare, draw, value
from pages.ui.widgets.controls.options import Menu

_NONE = "none"
_FIELD = "shaping.constraint"
_RULE = N_("Rule")
_KINDS = {
    _NONE: N_("None"),
    "choice": N_("Choices"),
    "regex": N_("Regular expression"),
    "json": N_("JSON schema"),
    "lark": N_("Lark grammar"),
}
# Of the text of each kind: its placeholder and its help.
_TEXTS = {
    "choice": ("yes\nno", N_("The texts that may be generated, one a line; \\n is a line break.")),
    "regex": ("[0-9]{4}-[0-9]{2}-[0-9]{2}", N_("The whole generated text matches it.")),
    "json": (
        '{"type": "object",\n "properties": {"name": {"type": "string"}},\n "required": ["name"]}',
        N_("The generated text is JSON that is valid under this schema, in one line."),
    ),
    "lark": (
        'start: "[" word ("," word)* "]"\nword: /[a-z]+/',
        N_("A grammar in llguidance's Lark; its first rule is start."),
    ),
}


def _value(kind: str, text: str) -> Constraint | None:
    if not text.strip():
        raise ConfigError(
            Message(
                "Write the rule of the constraint ({kind}), or choose None.",
                kind=Message(_KINDS[kind]),
            )
        )
    try:
        return Constraint(kind, text)  # type: ignore[arg-type]
    except ConfigError as error:
        raise ConfigError(error.sentence(Message(_RULE))) from None


def _text_of(kind: str, constraint: Constraint | None) -> str | None:
    return constraint.text if constraint is not None and constraint.kind == kind else None


def _is_kind(kind: str, read: Any) -> bool:
    return bool(read("constraint") == kind)


# The field of the chosen kind comes after the menu, so it sets the config's field.
ROWS: tuple[Control, ...] = declare(
    Menu("constraint", N_("Constraint"), _NONE, _KINDS, field=_FIELD, to_field=lambda _: None,
        from_field=lambda held: held.kind if held else _NONE,
        help=N_("Allow only tokens that keep to a rule: choices (one a line), a regular "
        "expression, a JSON schema or a Lark grammar. It acts first, on the answer alone, in "
        "greedy too. A ban that would remove all allowed tokens doesn't act.")),
    *(
        Text(f"rule_{kind}", _RULE, "", height=110, max_chars=MAX_LENGTH, field=_FIELD,
            to_field=partial(_value, kind), from_field=partial(_text_of, kind),
            acts=partial(_is_kind, kind), placeholder=placeholder, help=text)
        for kind, (placeholder, text) in _TEXTS.items()
    ),
)  # fmt: skip
KEYS = tuple(row.key for row in ROWS)


def draw_constraint(**more: Any) -> None:
    """Draw the menu, and the text field of the chosen kind.

    Args:
        more: arguments of Streamlit's functions.
    """
    draw("constraint", **more)
    if (kind := value("constraint")) != _NONE:
        draw(f"rule_{kind}", **more)
