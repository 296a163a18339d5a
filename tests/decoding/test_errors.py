"""Errors on their way from a process to another."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Iterator
from copy import copy
from importlib import import_module
from pathlib import Path

import pytest

from core.decoding.errors import ContextLengthError, DecodingError
from core.language import Message
from core.server.worker.process import _sendable

ROOT = Path(__file__).parents[2]


def _kinds(base: type[DecodingError]) -> Iterator[type[DecodingError]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds(kind)


def _all_kinds() -> list[type[DecodingError]]:
    """Return every error class, of the pages too."""
    for file in [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py")]:
        if re.search(r"^class \w+Error\(", file.read_text(encoding="utf-8"), re.MULTILINE):
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    return [kind for kind in _kinds(DecodingError) if kind.__module__.startswith(("core", "pages"))]


def _made(kind: type[DecodingError]) -> DecodingError:
    """Return an error with a value for every parameter."""
    text = Message("kept {tokens}", tokens=3)
    if not inspect.isfunction(kind.__init__):
        return kind(text)
    named = list(inspect.signature(kind).parameters.values())
    values = {one.name: text if "str" in one.annotation else 7 for one in named}
    return kind(**values)


@pytest.mark.parametrize("kind", _all_kinds(), ids=lambda kind: kind.__name__)
def test_every_error_comes_back_whole(kind: type[DecodingError]) -> None:
    error = _made(kind)
    for again in (pickle.loads(pickle.dumps(error)), copy(error)):
        assert type(again) is kind and str(again) == str(error)
        assert vars(again) == vars(error)
        assert [type(arg) for arg in again.args] == [type(arg) for arg in error.args]


def test_a_worker_sends_the_lengths_of_a_prompt_that_is_too_long() -> None:
    sent = _sendable(ContextLengthError(Message("{tokens} tokens", tokens=9), 9, 8))
    assert isinstance(sent, ContextLengthError) and (sent.tokens, sent.window) == (9, 8)
    assert isinstance(sent.args[0], Message)
