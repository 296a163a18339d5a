"""Declaration of a setting of the shaping; torch-free.

Validation, command line, knobs, layout of trace files, captions, checks and the reference are
derived from it; its function in `functions` has the field's name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

from ..validation import Interval, require_inside

Value = TypeVar("Value")
# penalty: changes logits depending on the earlier text; ban: removes tokens depending on it; both
# act in every method. temperature, filter: act where tokens are drawn.
# contrast: acts before all others, watermark: after them; both in every method.
Role = Literal["penalty", "ban", "temperature", "filter", "contrast", "watermark"]


@dataclass(frozen=True, slots=True)
class SliderRange:
    """Range and step of a knob, and the highest number that can be typed.

    Args:
        start: value of the knob on a new page; None if the setting is off.
        typed: highest number that can be typed; None for the slider's upper end.
        decode: whether the Decode page shows it too, not only the sampling lab.
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
    """Text field on the Decode page for a setting that is no number; one item per line.

    Args:
        help, placeholder: texts of the field.
        read: returns the setting's value for a text; its second argument returns the id for a
            token's text. Raises ConfigError for a wrong line.
        write: returns the text for a value.
        several: whether that function returns the ids of a text's tokens instead of one id.
    """

    help: str
    placeholder: str
    read: Callable[[str, Callable[[str], Any]], Any]
    write: Callable[[Any], str]
    several: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StageState:
    """A number that a sampler takes from step to step, moved by what it sees of the chosen token.

    Args:
        name, seen_name: names of the number and of the seen one, for figures.
        unit: unit of both; empty for a probability.
        aim: returns the number that the seen ones are to have on average, for the setting's value.
        start: returns the number at the first step, for the value.
        seen: returns the seen number, given the chosen token's probability before and after the
            sampler; None if the token leaves the state as it is.
        after: returns the number at the next step, for the value, the number and the seen one.
    """

    name: str
    seen_name: str
    unit: str
    aim: Callable[[Any], float]
    start: Callable[[Any], float]
    seen: Callable[[float, float], float | None]
    after: Callable[[Any, float, float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSpec:
    """A setting of the shaping; the field's default is the value at which it is off.

    Args:
        label: label of its knob; in lower case, its short name in figures.
        help: help sentences; the last one names the value for off.
        interval: allowed numbers; None if `read` validates the value.
        name: name in figures and captions; empty for the label in lower case.
        key: key of its control in the address; empty for the field's name.
        sorts: whether its function sorts the row, so that the order of ties depends on the row's
            length.
        reads_each: whether its threshold depends on the unlikely tokens individually, not only on
            their number, mass and entropy.
        source: paper or author, and the code whose formula and rule for ties are taken.
        usual: of a filter, the value at which the figure of all cuts shows it while it is off.
        absent: why libraries lack it, in one sentence; empty if every library has it.
        slider: range of its knob; None without a knob.
        group: its group among the knobs that a rail folds; empty for a knob in view. A further
            number's knob is folded with its setting's.
        stretch: factor by which it may enlarge the error of a logit.
        acts_from: number of earlier tokens from which on it acts.
        part_of: the setting that switches it on, if it is a further number of that setting, whose
            function receives all numbers in a tuple in the order of the fields.
        state: the number that it takes from step to step; None for most.
        per_step: whether its function reads the step (text, position, own noise); penalties always
            do.
        generate: argument of transformers' `generate`; empty for the field's name, None if
            transformers has none.
        passed: converts the value to the argument of `generate`; a tuple if it has further numbers.
        read: validates a value that is no number, also from JSON, and returns its stored form
            (hashable). Takes owner, field and value; raises ConfigError.
        parse: returns the items in one option's text on the command line, if the option can be
            repeated; None for a number.
        lines: its text field; None without one.
        shown: returns the value's text in captions, after the name.
        token_ids: returns the token ids in a value; a model must have them.
        field, off, whole: set from the field.
    """

    role: Role
    label: str
    help: str
    interval: Interval | None = None
    name: str = ""
    key: str = ""
    sorts: bool = False
    reads_each: bool = False
    source: str = ""
    absent: str = ""
    usual: Any = None
    slider: SliderRange | None = None
    group: str = ""
    stretch: Callable[[Any], float] = lambda _: 1.0
    acts_from: Callable[[Any], int] = lambda _: 0
    part_of: str = ""
    state: StageState | None = None
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
        """True if it has a knob on the Decode page."""
        return self.slider is not None and self.slider.decode

    @property
    def penalises(self) -> bool:
        """True if it acts on the earlier text, in every method."""
        return self.role in ("penalty", "ban", "contrast", "watermark")

    def checked(self, owner: str, value: object) -> Any:
        """Return the value as it is stored.

        Raises:
            ConfigError: the value is outside its interval, or of another kind.
        """
        if self.read is not None:
            return self.read(owner, self.field, value)
        assert self.interval is not None
        require_inside(owner, self.field, value, self.interval, whole=self.whole)
        return value


def setting(default: Value, spec: SettingSpec) -> Value:
    """Return a field of a frozen dataclass, with its declaration."""
    declared: Value = field(default=default, metadata={"spec": spec})
    return declared


def specs_of(kind: type[Any]) -> dict[str, SettingSpec]:
    """Return the declarations of a dataclass' fields, by field, in their order."""
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
