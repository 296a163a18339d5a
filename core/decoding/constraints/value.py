"""Value of the setting `constraint`: reading, validation, and its texts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from ...installation import require_extra
from ...language import N_, Message
from ..errors import ConfigError
from ..validation import brief, require_choice, shortened
from .references import has_finite_text

if TYPE_CHECKING:
    from llguidance import LLParserLimits
    from llguidance._lib import JsonCompileOptions

ConstraintKind: TypeAlias = Literal["choice", "regex", "json", "lark"]
KINDS: tuple[ConstraintKind, ...] = get_args(ConstraintKind)
KIND_WORDS: dict[str, str] = {
    "choice": N_("choices"),
    "regex": N_("a regular expression"),
    "json": N_("a JSON schema"),
    "lark": N_("a Lark grammar"),
}
MAX_LENGTH = 100_000
MAX_CHOICES = 1_000
# llguidance doesn't bound the automaton of `multipleOf`: it has a state for each remainder.
MAX_MULTIPLE = 10_000
_SHOWN = 24
_TOO_DEEP = N_("it is nested too deeply")
# With llguidance's own default, any white space, small models never leave it.
_ONE_LINE: JsonCompileOptions = {
    "whitespace_flexible": False,
    "item_separator": ", ?",
    "key_separator": ": ?",
}
_ENDLESS = N_("no finite text is valid")
_ONE_OF = N_("oneOf constraints are not supported")
_AT_CHARACTER = N_("{fault} at character {character}")
_AT_LINE = N_("{fault} at line {line}, column {column}")
# Beginnings of llguidance's words for a schema that is one.
_NOT_KEPT = ("Unimplemented keys", "Unable to determine if regex is empty", _ONE_OF, _ENDLESS)
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\\": "\\\\"}
_CHARACTERS = {escape: character for character, escape in _ESCAPES.items()}


@dataclass(frozen=True, slots=True)
class Constraint:
    r"""A rule that the generated text follows.

    Args:
        kind: `choice`, `regex`, `json` or `lark`.
        text: the choices, one a line, with `\n`, `\t` and `\\` as escapes; a regular expression
            that the whole text matches; a JSON schema; or a grammar in llguidance's Lark, whose
            first rule is `start`. JSON has one line, with at most a space after a comma or colon,
            unless the schema's `x-guidance` says otherwise (`{"whitespace_flexible": true}`).

    Raises:
        ConfigError: a text that llguidance refuses, or one that is too long.
    """

    kind: ConstraintKind
    text: str

    def __post_init__(self) -> None:
        require_choice("Constraint", "kind", self.kind, KINDS)
        if not isinstance(self.text, str):
            raise ConfigError(
                Message("must be a string, got {given}.", given=brief(self.text)),
                "text",
                "Constraint",
            )
        if len(self.text) > MAX_LENGTH:
            raise ConfigError(
                Message(
                    "must hold at most {max_length:,} characters, got {text:,}.",
                    max_length=MAX_LENGTH,
                    text=len(self.text),
                ),
                "text",
                "Constraint",
            )
        if fault := _fault(self.kind, self.text):
            words = N_("is not {kind}: {fault}.")
            if fault.startswith(_NOT_KEPT):
                words = N_("is a JSON schema that llguidance can't keep to: {fault}.")
            kind = Message(KIND_WORDS[self.kind])
            raise ConfigError(Message(words, kind=kind, fault=fault), "text", "Constraint")

    @classmethod
    def of_choices(cls, choices: Iterable[str]) -> Constraint:
        """Return the constraint whose text is one of the choices."""
        lines = (re.sub(r"[\n\t\\]", lambda one: _ESCAPES[one[0]], text) for text in choices)
        return cls("choice", "\n".join(lines))

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts of a choice; empty for another kind."""
        return _choices(self.text) if self.kind == "choice" else ()

    def grammar(self, forcing: bool = True) -> str:
        """Return the grammar in llguidance's own form.

        Args:
            forcing: whether a fixed stretch of text has the tokenizer's own spelling alone.
        """
        made = _grammar(self.kind, self.text)
        if forcing:
            return made
        if self.kind in ("regex", "json"):
            parts = json.loads(made)["grammars"][0]
            made = parts["lark_grammar"] or f"start: %json {json.dumps(parts['json_schema'])}"
        return f'%llguidance {{"no_forcing": true}}\n{made}'


def _choices(text: str) -> tuple[str, ...]:
    lines = [line for line in text.split("\n") if line]
    return tuple(re.sub(r"\\[nt\\]", lambda one: _CHARACTERS[one[0]], line) for line in lines)


def _grammar(kind: ConstraintKind, text: str) -> str:
    from llguidance import LLMatcher

    if kind == "choice":
        # A string of Lark has the escapes of JSON, and doesn't hold U+007F itself.
        quoted = (
            json.dumps(choice, ensure_ascii=False).replace("\x7f", "\\u007f")
            for choice in _choices(text)
        )
        return LLMatcher.grammar_from_lark(f"start: {' | '.join(quoted)}")
    if kind == "json":
        return LLMatcher.grammar_from_json_schema(text, defaults=_ONE_LINE)
    if kind == "regex":
        return LLMatcher.grammar_from_regex(text)
    return LLMatcher.grammar_from_lark(text)


@cache
def limits() -> LLParserLimits:
    """Return the bounds of a grammar from an untrusted text; its text stays out of errors.

    They suffice for all but `multipleOf` (`MAX_MULTIPLE`): of hostile grammars of 100,000
    characters, the slowest took 0.6 s to compile, and the slowest step 0.7 s
    (`tests/decoding/constraints/test_value.py`).
    """
    from llguidance import LLParserLimits

    return LLParserLimits(verbose_errors=False)


@lru_cache(maxsize=256)
def _fault(kind: ConstraintKind, text: str) -> str:
    """Return the reason why a text is no constraint of this kind; empty if it is one."""
    if not text.strip():
        return Message("it is empty")
    if any("\ud800" <= char <= "\udfff" for char in text):
        return Message("UTF-8 can't write it")
    if kind == "choice" and len(_choices(text)) > MAX_CHOICES:
        return Message("it has more than {most:,} lines", most=MAX_CHOICES)
    if kind == "json" and (fault := _json_fault(text)):
        return fault
    if kind == "json" and not has_finite_text(json.loads(text)):
        return Message("{fault}: a required part refers to itself", fault=Message(_ENDLESS))
    if kind in ("json", "lark") and _multiple(kind, text) > MAX_MULTIPLE:
        return Message(
            "the least common multiple of all its multipleOf, without their decimal points, is "
            "above {most:,}",
            most=MAX_MULTIPLE,
        )
    require_extra("llguidance", "constraints", ConfigError)
    from llguidance import LLMatcher

    try:
        wrong, messages = LLMatcher.validate_grammar_with_warnings(
            _grammar(kind, text), None, limits=limits()
        )
    except ValueError as error:
        return _reason(kind, str(error))
    return _reason(kind, messages[0]) if wrong else ""


def _json_fault(text: str) -> str:
    """Return the place of an error in JSON: llguidance counts characters of its own around it."""
    try:
        if not isinstance(json.loads(text), dict):
            return Message("it is no object")
    except json.JSONDecodeError as error:
        return Message(_AT_LINE, fault=error.msg, line=error.lineno, column=error.colno)
    except (RecursionError, ValueError):
        return Message("{fault}, or has too long a number", fault=Message(_TOO_DEEP))
    return ""


def _multiple(kind: ConstraintKind, text: str) -> int:
    """Return the least common multiple of all `multipleOf` without their decimal points.

    Schemas that hold together, by `allOf`, `anyOf` or `$ref`, share one automaton.
    """
    multiples: list[int] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        for key, value in pairs:
            if key == "multipleOf" and isinstance(value, int | float) and value < math.inf:
                parts = Fraction(str(value))
                while parts.denominator > 1:
                    parts *= 10
                multiples.append(abs(parts.numerator) or 1)

    decoder = json.JSONDecoder(object_pairs_hook=note)
    starts = [0] if kind == "json" else [one.end() for one in re.finditer(r"%json\s*", text)]
    for start in starts:
        with suppress(ValueError, RecursionError):
            decoder.raw_decode(text.lstrip() if kind == "json" else text, start)
    return math.lcm(*multiples)


def _reason(kind: ConstraintKind, message: str) -> str:
    """Return llguidance's message as a part of a sentence, with the place in the user's text."""
    if "recursion limit exceeded" in message:
        return Message(_TOO_DEEP)
    where: dict[str, object]
    first, place = message.split("\n")[0], re.match(r"(?:at )?(\d+)\((\d+)\): ", message)
    if parsed := re.search(r"\n    ( *)\^+\nerror: (.+)", message):
        # Of a regular expression: the caret stands below the wrong character.
        reason, where = parsed[2], {}
        if kind == "regex":
            where = {"character": len(parsed[1]) + 1}
    elif place:
        reason, where = first[place.end() :], {}
        if kind == "lark":
            where = {"line": place[1], "column": place[2]}
        elif kind == "regex":
            reason = reason.rpartition("): ")[2]
    else:
        reason, where = first, {}
        if first.startswith("Failed to generate regex for integer range"):
            return Message("no integer of 64 bits lies between its minimum and maximum")
        if first.startswith(_ONE_OF):
            return Message(
                '{fault}; take anyOf, or add "x-guidance": {{"coerce_one_of": true}}',
                fault=Message(_ONE_OF),
            )
    fault = shortened(reason.rstrip("."), 300)
    place_words = _AT_CHARACTER if "character" in where else _AT_LINE
    return Message(place_words, fault=fault, **where) if where else fault


def read_constraint(owner: str, name: str, value: object) -> Constraint | None:
    """Return a constraint; None for none.

    Args:
        value: a constraint, a mapping with `kind` and `text`, or a pair of both.

    Raises:
        ConfigError: a value of another kind, or a text that llguidance refuses.
    """
    if value is None or isinstance(value, Constraint):
        return value
    parts: object = value
    if isinstance(value, Mapping):
        parts = [value["kind"], value["text"]] if value.keys() == {"kind", "text"} else None
    if isinstance(parts, str) or not isinstance(parts, Sequence):
        parts = ()
    if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
        shown = brief(value)
        if isinstance(value, Mapping):
            shown = Message("the keys {keys}", keys=shortened(", ".join(map(brief, value)), 71))
        raise ConfigError(
            Message(
                'must be a kind and a text, such as {{"kind": "regex", "text": '
                '"[0-9]+"}} (on the command line regex=[0-9]+), got {shown}.',
                shown=shown,
            ),
            name,
            owner,
        )
    try:
        return Constraint(cast(Any, parts[0]), parts[1])
    except ConfigError as error:
        raise ConfigError(error.sentence(""), name, owner) from None


def constraint_in(text: str) -> Any:
    """Return kind and text of `KIND=TEXT`; a text of another form stays whole, which
    `read_constraint` refuses.
    """
    kind, equals, rest = text.partition("=")
    return [kind.strip(), rest] if equals else text


def constraint_words(value: Constraint | None) -> str:
    """Return a constraint as captions show it: `regex [0-9]+`, or `json`."""
    if value is None or value.kind in ("json", "lark"):
        return value.kind if value else Message("none")
    lines = (line for line in value.text.split("\n") if line)
    return f"{value.kind} {shortened(' | '.join(lines), _SHOWN)}"
