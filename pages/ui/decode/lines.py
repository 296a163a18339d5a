"""The settings that are typed as lines of text: their rows, and runs that look up their tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from core.decoding.config import MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.shaping.config import SETTINGS
from core.decoding.validation import brief
from core.language import N_, Message
from pages.ui.run import shared
from pages.ui.run.request import Request
from pages.ui.widgets.controls.control import Read, Text, always, declare

_LINES: dict[str, Any] = {name: spec.lines for name, spec in SETTINGS.items() if spec.lines}
# Tokens of texts, by model and text, as runs found them out; forgotten when they are so many.
_TOKENS: dict[tuple[str, str], int] = {}
_SEQUENCES: dict[tuple[str, str], list[int]] = {}
_MOST_TOKENS = 10_000


def _known(text: str, *, several: bool) -> Any:
    """The token of a text, or its tokens, that a run has looked up.

    Raises:
        ConfigError: none has.
    """
    held: dict[tuple[str, str], Any] = _SEQUENCES if several else _TOKENS
    found = held.get((shared.model(), text))
    if found is None:
        one = N_(
            "Press Run on Decode, or name it as #id: only the loaded model can tell which token of "
            "its own is {text}."
        )
        many = N_(
            "Press Run on Decode, or name it as #id: only the loaded model can tell which tokens "
            "of its own spell {text}."
        )
        raise ConfigError(Message(many if several else one, text=brief(text)))
    return found


def _acts(name: str) -> Callable[[Read], bool]:
    """Return whether a run uses a setting: a further number of another one only where that is
    on.
    """
    first = SETTINGS[name].part_of
    if not first:
        return always
    return lambda read: bool(read(SETTINGS[first].key) != SETTINGS[first].off)


ROWS = declare(
    *(
        Text(
            SETTINGS[name].key,
            SETTINGS[name].label,
            lines.write(SETTINGS[name].off),
            height=80,
            field=f"shaping.{name}",
            acts=_acts(name),
            to_field=partial(lines.read, find=partial(_known, several=lines.several)),
            from_field=lines.write,
            placeholder=lines.placeholder,
            help=lines.help,
        )
        for name, lines in _LINES.items()
    )
)
KEYS = tuple(row.key for row in ROWS)


@dataclass(frozen=True, slots=True)
class LinesRequest(Request):
    """A run whose settings name tokens by their text, which takes the model to look up.

    Args:
        texts: of each setting, with its name.
    """

    texts: tuple[tuple[str, str], ...] = ()

    def config_for(self, model: Any) -> MethodConfig:
        """The settings with the tokens' ids."""
        values = {
            name: _LINES[name].read(text, partial(self._look_up, model, name))
            for name, text in self.texts
        }
        return replace(self.config, shaping=replace(self.config.shaping, **values))

    def _look_up(self, model: Any, setting: str, text: str) -> Any:
        from core.decoding.loop.text import single_token, tokens_of_text

        several = _LINES[setting].several
        held: dict[tuple[str, str], Any] = _SEQUENCES if several else _TOKENS
        if len(held) >= _MOST_TOKENS:
            held.clear()
        look_up: Callable[..., Any] = tokens_of_text if several else single_token
        held[self.model, text] = found = look_up(model, text, SETTINGS[setting].name)
        return found


def with_lines(request: Request, read: Read) -> LinesRequest:
    """The request with the settings as they are typed; `read` gives a control's value by its key.

    Raises:
        ConfigError: a line of another form.
    """
    acting = (name for name, row in zip(_LINES, ROWS, strict=True) if row.acts(read))
    texts = tuple((name, str(read(SETTINGS[name].key))) for name in acting)
    for name, text in texts:
        _LINES[name].read(text, lambda _, several=_LINES[name].several: [0] if several else 0)
    arguments = {field.name: getattr(request, field.name) for field in fields(request)}
    return LinesRequest(**arguments, texts=texts)
