"""The settings that are typed as lines of text: their rows, and runs that look up their tokens."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from core.decoding.config import MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.shaping.config import SETTINGS
from core.decoding.validation import brief
from pages.ui.run import shared
from pages.ui.run.request import Request
from pages.ui.widgets.controls.control import Read, Text

_LINES: dict[str, Any] = {name: spec.lines for name, spec in SETTINGS.items() if spec.lines}
# Which token a text is, by model and text, as runs found it out; forgotten when they are so many.
_TOKENS: dict[tuple[str, str], int] = {}
_MOST_TOKENS = 10_000


def _known_token(text: str) -> int:
    """The token of a text that a run has looked up.

    Raises:
        ConfigError: none has.
    """
    token = _TOKENS.get((shared.model(), text))
    if token is None:
        raise ConfigError(
            f"Press Run: only the loaded model can tell which token of its own {brief(text)} is."
        )
    return token


ROWS = tuple(
    Text(
        SETTINGS[name].key,
        SETTINGS[name].label,
        "",
        height=80,
        field=f"shaping.{name}",
        to_field=partial(lines.read, find=_known_token),
        from_field=lines.write,
        placeholder=lines.placeholder,
        help=lines.help,
    )
    for name, lines in _LINES.items()
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

    def _look_up(self, model: Any, setting: str, text: str) -> int:
        from core.decoding.loop.text import single_token

        if len(_TOKENS) >= _MOST_TOKENS:
            _TOKENS.clear()
        name = SETTINGS[setting].name
        token = _TOKENS[self.model, text] = single_token(model, text, name)
        return token


def with_lines(request: Request, read: Read) -> LinesRequest:
    """The request with the settings as they are typed; `read` gives a control's value by its key.

    Raises:
        ConfigError: a line of another form.
    """
    texts = tuple((name, str(read(SETTINGS[name].key))) for name in _LINES)
    for name, text in texts:
        _LINES[name].read(text, lambda _: 0)
    arguments = {field.name: getattr(request, field.name) for field in fields(request)}
    return LinesRequest(**arguments, texts=texts)
