"""Exceptions: every error that the project raises on purpose is a `DecodingError`.

Each message is one sentence: the fault, the given value, and the remedy.
"""

from __future__ import annotations

import errno
from typing import Any

from ..language import N_, Message, tr

# A sentence that begins with the name of a setting.
_SPACED, _GLUED = N_("{setting} {rest}"), "{setting}{rest}"
_NO_MEMORY_WORDS = (
    "can't allocate memory",
    "annot allocate memory",
    "can't start new thread",
    "failed to map segment",
    "bad_alloc",
    "out of memory",
)


class DecodingError(Exception):
    """Base of every error raised on purpose; its text can be shown to users unchanged.

    Args:
        setting: name of the setting that the error is about; empty if it is about none.

    Example:
        >>> try:
        ...     load_model("embedded:nothing")
        ... except DecodingError as error:
        ...     print(type(error).__name__)
        ModelError
    """

    setting = ""

    @property
    def shown(self) -> str:
        """The sentence in the reader's language."""
        return tr(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Without __init__, whose parameters are not the args.
        return Exception.__new__, (type(self), *self.args), self.__dict__


class ConfigError(DecodingError, ValueError):
    """A setting lies outside its allowed interval.

    Args:
        text: the sentence; with an `owner`, the part of it after the name of the setting.
        setting: name of the wrong field; empty if no single field is wrong.
        owner: class that the setting belongs to, which precedes the name; empty for none.

    Example:
        >>> Shaping(top_p=2.0)
        Traceback (most recent call last):
            ...
        ConfigError: Shaping.top_p must lie in [0, 1], got 2.0.
    """

    def __init__(self, text: str, setting: str = "", owner: str | None = None) -> None:
        self.setting = setting
        self._rest = "" if owner is None else text if text[0] in ",:" else f" {text}"
        name = f"{owner}.{setting}" if owner else setting
        self._text = text
        super().__init__(self.sentence(name))

    @property
    def begins_with_setting(self) -> bool:
        """Return whether the sentence begins with the name of the setting."""
        return bool(self._rest)

    @property
    def plain(self) -> Message:
        """The sentence without the class of the setting."""
        return self.sentence(self.setting)

    def sentence(self, name: str) -> Message:
        """Return the sentence with another name of the setting, if it begins with that name.

        Args:
            name: the new name; empty for the sentence's rest alone.
        """
        rest = Message(self._text)
        glued = _GLUED if self._rest[:1] in ",:" else _SPACED
        return _OfSetting(glued, setting=name, rest=rest) if self._rest and name else rest


class _OfSetting(Message):
    """Sentence of a setting's name and a rest; a rest without a translation keeps the order and
    the space of English.
    """

    def translated(self, language: str) -> str:
        name, rest = self.values["setting"], self.values["rest"]
        if rest.translated(language) != rest:
            return super().translated(language)
        shown = name.translated(language) if isinstance(name, Message) else name
        return self.template.format(setting=shown, rest=rest)


class PromptError(DecodingError, ValueError):
    """The prompt is empty, holds unknown token ids, or does not fit into the context window.

    Example:
        >>> model = load_model("embedded:target")
        >>> collect(model, "", Greedy())
        Traceback (most recent call last):
            ...
        PromptError: The prompt is empty: write at least one word.
    """


class ContextLengthError(PromptError):
    """The prompt fills the context window: no new token fits.

    Args:
        tokens: of the prompt.
        window: tokens that the context window holds.
    """

    def __init__(self, text: str, tokens: int, window: int) -> None:
        super().__init__(text)
        self.tokens, self.window = tokens, window


class ModelError(DecodingError):
    """A model can't be found, loaded or used for decoding.

    Example:
        >>> load_model("embedded:nothing")
        Traceback (most recent call last):
            ...
        ModelError: There is no embedded model 'nothing'; embedded models: ...
    """


class LoadingStoppedError(ModelError):
    """Loading of a model was stopped, as nobody needs it any more."""

    def __init__(self, text: str = N_("The loading of the model was stopped.")) -> None:
        super().__init__(text)


class LostModelError(ModelError):
    """A model's server stopped answering; the steps so far are kept."""


class UnknownTokensError(DecodingError):
    """The next token depends on tokens that the server doesn't name; the steps so far are kept."""

    def __init__(self, text: str, setting: str = "") -> None:
        super().__init__(text)
        self.setting = setting


class TraceError(DecodingError, ValueError):
    """A trace file can't be read.

    Example:
        >>> read_trace(b"{}")
        Traceback (most recent call last):
            ...
        TraceError: This JSON is no trace file of Decoding Explorer: its schema differs.
    """


class ProblemError(DecodingError, ValueError):
    """A file of problems can't be read."""


class LessonError(DecodingError, ValueError):
    """A file of a lesson can't be read."""


class SweepError(DecodingError, ValueError):
    """A stored sweep can't be read or continued."""


class EvaluationError(DecodingError, ValueError):
    """An evaluation's plan or rows can't be read or continued."""


class FigureError(DecodingError, ValueError):
    """A figure can't be drawn as requested."""


def is_of_memory(error: BaseException) -> bool:
    """Return whether an error means a lack of memory; libraries phrase it differently."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    causes = (error, error.__cause__, error.__context__)
    return any(word in str(one) for one in causes if one for word in _NO_MEMORY_WORDS)
