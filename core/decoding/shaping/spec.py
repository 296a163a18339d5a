"""Declaration of a setting of the shaping; nothing here needs torch.

Validation, command line, knobs, the layout of trace files, captions, proofs and the reference are
derived from it; its function stands in `filters`, under the field's name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

from core.decoding.validation import Interval, require_inside

Value = TypeVar("Value")
# penalty: changes logits by what was written before; ban: removes tokens for that; both act in
# every method. temperature, filter: act where something is drawn.
Role = Literal["penalty", "ban", "temperature", "filter"]


@dataclass(frozen=True, slots=True)
class SliderRange:
    """Range and step of a knob, and the highest number that can be typed.

    Args:
        start: the knob's value on a new page; None where the setting is off.
        typed: the highest number that can be typed; None for the slider's own end.
        decode: shown on Decode too, else in the sampling lab alone.
    """

    low: float
    high: float
    step: float
    typed: float | None = None
    start: float | None = None
    digits: int = 2
    decode: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """The text field on Decode of a setting that is no number; one item a line.

    Args:
        help, placeholder: of the field.
        read: the setting's value in a text; gets what finds the id of a token's text. Raises
            ConfigError at a line of another form.
        write: the text of a value.
    """

    help: str
    placeholder: str
    read: Callable[[str, Callable[[str], int]], Any]
    write: Callable[[Any], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSpec:
    """A setting of the shaping; the field's default is the value at which it is off.

    Args:
        label: as its knob is called; in lower case its short name in figures.
        help: sentences, the last one says which value is off.
        interval: the numbers that are allowed; None where `read` says what is allowed.
        name: as figures and captions call it; empty where that is the label in lower case.
        key: of its control in the address; empty where that is the field's name.
        sorts: whether its function sorts the row, so that ties fall by the row's length.
        reads_each: whether its cut depends on more of the unlikely tokens than how many are in and
            what mass and entropy they have together.
        slider: its knob; None where it has none.
        stretch: how many times as far off a logit may be after it as before.
        acts_from: the number of tokens before the step from which on it acts.
        part_of: the setting that switches it on, where it is a further number of that one; the
            function of that one gets all of them in a tuple, in the order of the fields.
        per_step: whether its function reads the step (text, place, noise of its own); what
            penalises always does.
        generate: the argument of transformers' `generate`; empty where that is the field's name,
            None where transformers has none.
        passed: the value as `generate` takes it.
        read: of a value that is no number: checks it and returns it as it is kept (hashable),
            what JSON made of it too. Gets owner, field and value; raises ConfigError.
        parse: the items in one text of the command line, where the option may be given several
            times; None for a number.
        lines: its text field; None where it has none.
        shown: the value as captions say it, after the name.
        token_ids: the tokens that a value names, which a model must have.
        field, off, whole: are set from the field.
    """

    role: Role
    label: str
    help: str
    interval: Interval | None = None
    name: str = ""
    key: str = ""
    sorts: bool = False
    reads_each: bool = False
    slider: SliderRange | None = None
    stretch: Callable[[Any], float] = lambda _: 1.0
    acts_from: Callable[[Any], int] = lambda _: 0
    part_of: str = ""
    per_step: bool = False
    generate: str | None = ""
    passed: Callable[[Any], Any] = lambda value: value if isinstance(value, int) else float(value)
    read: Callable[[str, str, object], Any] | None = None
    parse: Callable[[str], list[Any]] | None = None
    lines: Lines | None = None
    shown: Callable[[Any], str] = "{:g}".format
    token_ids: Callable[[Any], Collection[int]] = lambda _: ()
    field: str = ""
    off: Any = None
    whole: bool = False

    @property
    def reads_step(self) -> bool:
        """True if its function needs the step's context, and so one row at a time."""
        return self.per_step or self.penalises

    @property
    def on_decode(self) -> bool:
        """True if it has a knob on Decode."""
        return self.slider is not None and self.slider.decode

    @property
    def penalises(self) -> bool:
        """True if it acts for what was written before, in every method."""
        return self.role in ("penalty", "ban")

    def checked(self, owner: str, value: object) -> Any:
        """The value as it is kept.

        Raises:
            ConfigError: it is outside its interval, or of another kind.
        """
        if self.read is not None:
            return self.read(owner, self.field, value)
        assert self.interval is not None
        require_inside(owner, self.field, value, self.interval, whole=self.whole)
        return value


def setting(default: Value, spec: SettingSpec) -> Value:
    """A field of a frozen dataclass, with its declaration."""
    declared: Value = field(default=default, metadata={"spec": spec})
    return declared


def specs_of(kind: type[Any]) -> dict[str, SettingSpec]:
    """The declarations of a dataclass' fields, by field, in their order."""
    return {
        declared.name: replace(
            spec := declared.metadata["spec"],
            field=declared.name,
            off=declared.default,
            whole=isinstance(declared.default, int),
            name=spec.name or spec.label.lower(),
            key=spec.key or declared.name,
            generate=declared.name if spec.generate == "" else spec.generate,
        )
        for declared in fields(kind)
    }
