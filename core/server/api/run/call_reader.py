"""Read the calls in an answer's text while it arrives."""

from __future__ import annotations

import json
import re
from typing import NamedTuple, Protocol

from ....decoding.loop.text import Cutter
from ....decoding.reasoning.calculator import CALL, RESULT
from ..request.calls import OPEN, CallSyntax

_HEAD = re.compile(r'\s*\{"name": "([\w-]+)", "arguments": ')


class CallText(NamedTuple):
    """Next part of the arguments of a call.

    Args:
        number: number of the call in the answer, from 0.
        arguments: a part of the JSON; empty where the call begins.
    """

    number: int
    name: str
    arguments: str


class CallReader(Protocol):
    """Reader of an answer's text; `calls` holds the parts of calls that nobody took yet."""

    calls: list[CallText]
    count: int

    @property
    def open(self) -> bool:
        """True inside the arguments of a call."""
        ...

    def push(self, text: str, special: str = "") -> str:
        """Return the text outside of calls that a token adds.

        Args:
            special: name of a special token, which adds no text.
        """
        ...

    def flush(self) -> str:
        """Return the text that was held back as the possible beginning of a call."""
        ...


def reader_of(syntax: CallSyntax) -> CallReader:
    """Return the reader for a syntax."""
    if syntax.calculator:
        return CalculatorReader(*syntax.calculator)
    return JsonReader(tags=syntax.tags)


class JsonReader:
    """Reader of calls that are JSON objects, in tags or alone on their lines."""

    def __init__(self, *, tags: bool) -> None:
        self.calls: list[CallText] = []
        self.count = 0
        self._before = Cutter([OPEN]) if tags else None
        self._head, self._name = "", ""
        # Open braces and brackets of the arguments; in a string, and behind a backslash of one.
        self._depth, self._quoted, self._escaped = 0, False, False

    @property
    def open(self) -> bool:
        return bool(self._name)

    def push(self, text: str, special: str = "") -> str:
        if self._before is None or self._before.cut:
            self._read(text)
            return ""
        content = self._before.push(special if special == OPEN else text)
        if self._before.cut:
            self._read(self._before.rest)
        return content

    def flush(self) -> str:
        return self._before.flush() if self._before else ""

    def _read(self, text: str) -> None:
        while text:
            text = self._read_arguments(text) if self._name else self._read_head(text)

    def _read_head(self, text: str) -> str:
        """Read up to the arguments of a call, and return the rest."""
        self._head += text
        begin = self._head.find("{")
        match = _HEAD.match(self._head[begin:]) if begin >= 0 else None
        if match is None:
            return ""
        rest = self._head[begin + match.end() :]
        self._name, self._head = match[1], ""
        self.count += 1
        self.calls.append(CallText(self.count - 1, self._name, ""))
        return rest

    def _read_arguments(self, text: str) -> str:
        """Read the arguments up to their end, and return the rest without the closing brace."""
        end = next((at for at, char in enumerate(text, 1) if self._ends(char)), None)
        if end is None:
            self.calls.append(CallText(self.count - 1, self._name, text))
            return ""
        self.calls.append(CallText(self.count - 1, self._name, text[:end]))
        self._name = ""
        return text[end:]

    def _ends(self, char: str) -> bool:
        """Return True if a character closes the arguments."""
        if self._quoted:
            self._quoted = self._escaped or char != '"'
            self._escaped = char == "\\" and not self._escaped
            return False
        self._quoted = char == '"'
        self._depth += (char in "{[") - (char in "}]")
        return char in "}]" and self._depth == 0


class CalculatorReader:
    """Reader of an expression between the marks of the embedded models."""

    def __init__(self, name: str, parameter: str) -> None:
        self.calls: list[CallText] = []
        self.count = 0
        self._name, self._parameter = name, parameter
        self.open = False

    def push(self, text: str, special: str = "") -> str:
        if special == CALL:
            self.calls.append(CallText(self.count, self._name, ""))
            self.count += 1
            self._write(f'{{{json.dumps(self._parameter)}: "')
        elif special == RESULT and self.open:
            self._write('"}')
        if special in (CALL, RESULT):
            self.open = special == CALL
        elif self.open:
            self._write(json.dumps(text)[1:-1])
        return "" if self.open or special else text

    def flush(self) -> str:
        return ""

    def _write(self, text: str) -> None:
        if text:
            self.calls.append(CallText(self.count - 1, self._name, text))
