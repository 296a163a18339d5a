"""Record a run's function calls from outside the engine; without a recording this costs nothing.

Python calls a profile function at every call and return in the thread that set it
(`sys.setprofile`); functions outside this project are ignored.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from inspect import CO_GENERATOR, CO_NEWLOCALS, CO_VARARGS, CO_VARKEYWORDS, unwrap
from opcode import opmap
from pathlib import Path
from threading import get_ident
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import nn

from ...installation import PACKAGE, source_name
from .phases import BEGINS
from .short import short
from .types import DataPath, FunctionCall, PathPhase, ShownValue

if TYPE_CHECKING:
    from ...models.transformers_model import TransformersModel

_OWN = f"{PACKAGE}/"
# Excluded files: the recorder, the installed pages, the job and its queue, in which a run only
# waits, and API keys.
_UNSEEN = (
    f"{Path(__file__).parent}/",
    f"{_OWN}app/",
    *(
        f"{_OWN}server/{name}"
        for name in ("job.py", "queue.py", "shares.py", "settings.py", "worker/")
    ),
    *(f"{_OWN}models/remote/{name}" for name in ("http.py", "keys.py")),
)
MOST_CALLS = 200_000
_RESUME = opmap["RESUME"]


class _Function(NamedTuple):
    """A function of this project."""

    name: str
    file: str
    line: int
    phase: PathPhase | None
    arguments: tuple[str, ...]
    byte_code: bytes

    def goes_on(self, frame: FrameType) -> bool:
        """Return True if a generator resumes after a `yield`, by its RESUME instruction."""
        at = frame.f_lasti
        code = self.byte_code
        return bool(code) and at >= 0 and code[at] == _RESUME and code[at + 1] & 3 != 0


class _Open:
    """A call that has not returned."""

    __slots__ = ("arguments", "calls", "file", "frame", "line", "name", "phase", "resumed", "start")

    def __init__(self, frame: FrameType | None, name: str, file: str, line: int) -> None:
        self.frame, self.name, self.file, self.line = frame, name, file, line
        self.phase: PathPhase = "request"
        self.arguments: tuple[ShownValue, ...] = ()
        self.resumed = False
        self.start = 0.0
        self.calls: list[FunctionCall] = []

    def close(self, result: str, seconds: float) -> FunctionCall:
        return FunctionCall(
            self.name, self.file, self.line, self.phase, self.arguments, result, self.resumed,
            self.start, seconds, tuple(self.calls),
        )  # fmt: skip


class Recorder:
    """The calls recorded so far; `path` is complete after the recording has ended.

    Args:
        most_calls: number of calls to keep; further calls are only counted.
    """

    def __init__(self, most_calls: int = MOST_CALLS) -> None:
        self._most = most_calls
        self._known: dict[CodeType, _Function | None] = {}
        self._open: list[_Open] = [_Open(None, "", "", 0)]
        self._kept = self._left_out = 0
        self._began, self._clock_began = time.time_ns(), time.perf_counter()
        self._seconds = 0.0
        self.watched = ExitStack()

    @property
    def path(self) -> DataPath:
        """The recorded data path."""
        return DataPath(tuple(self._open[0].calls), self._seconds, self._left_out, self._began)

    def profile(self, frame: FrameType, event: str, given: object) -> None:
        """Handle an event of `sys.setprofile`, which also reports library and C functions."""
        if event == "call":
            code = frame.f_code
            function = self._known.get(code, _MISSING)
            if function is _MISSING:
                function = self._known[code] = _function_of(code)
            if function is not None:
                opened = _Open(frame, function.name, function.file, function.line)
                opened.resumed = function.goes_on(frame)
                if not opened.resumed:
                    held = frame.f_locals
                    opened.arguments = tuple(
                        ShownValue(name, short(held[name]))
                        for name in function.arguments
                        if name in held
                    )
                self.enter(opened, function.phase)
        elif event == "return" and self._open[-1].frame is frame:
            self.leave(short(given))

    def enter(self, opened: _Open, phase: PathPhase | None = None) -> None:
        """Record the start of a call."""
        opened.phase = phase or self._open[-1].phase
        self._open.append(opened)
        opened.start = time.perf_counter() - self._clock_began

    def leave(self, result: str) -> None:
        """Record the end of the innermost call."""
        opened = self._open.pop()
        seconds = time.perf_counter() - self._clock_began - opened.start
        if self._kept < self._most:
            self._kept += 1
            self._open[-1].calls.append(opened.close(result, seconds))
        else:
            self._left_out += 1

    def watch(self, model: TransformersModel) -> None:
        """Record the forwards of a model's modules too, in this thread.

        The project's fused step has no modules and is disabled meanwhile.
        """
        self.watched.enter_context(model.plain_forwards())
        for name, module in model.hf_model.named_modules():
            hooks = _Hooks(self, name, module)
            for handle in (
                module.register_forward_pre_hook(hooks.before, with_kwargs=True),
                module.register_forward_hook(hooks.after, with_kwargs=True),
            ):
                self.watched.callback(handle.remove)

    def short(self, value: object) -> str:
        """Return a value's short text, without recording the calls that this makes."""
        sys.setprofile(None)
        try:
            return short(value)
        finally:
            sys.setprofile(self.profile)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the recording and its clock during the block."""
        sys.setprofile(None)
        began = time.perf_counter()
        try:
            yield
        finally:
            self._clock_began += time.perf_counter() - began
            sys.setprofile(self.profile)

    def end(self) -> None:
        """Close the calls that an error left open."""
        self._seconds = time.perf_counter() - self._clock_began
        while len(self._open) > 1:
            self.leave("")


class _Hooks:
    """Hooks that record one module's forwards."""

    def __init__(self, recorder: Recorder, name: str, module: nn.Module) -> None:
        self._recorder = recorder
        self._thread = get_ident()
        self._label = f"{type(module).__name__} {name}".rstrip()
        self._file, self._line = place_of(type(module).forward)

    def before(self, _: nn.Module, positional: Sequence[object], named: dict[str, object]) -> None:
        """Record the start of the forward."""
        if get_ident() != self._thread:
            return
        opened = _Open(None, self._label, self._file, self._line)
        arguments = [*((str(at), value) for at, value in enumerate(positional)), *named.items()]
        opened.arguments = tuple(
            ShownValue(name, self._recorder.short(value))
            for name, value in arguments
            if value is not None
        )
        self._recorder.enter(opened)

    def after(self, _: nn.Module, _given: object, _named: object, out: object) -> None:
        """Record the end of the forward."""
        if get_ident() == self._thread:
            self._recorder.leave(self._recorder.short(out))


_MISSING: Any = object()


def _function_of(code: CodeType) -> _Function | None:
    """Return a function's record; None for a library, comprehension, lambda or class.

    A class body runs once, when its module is imported, and is no function.
    """
    file = code.co_filename
    is_function = code.co_flags & CO_NEWLOCALS and not code.co_name.startswith("<")
    if not file.startswith(_OWN) or file.startswith(_UNSEEN) or not is_function:
        return None
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    arguments = tuple(name for name in code.co_varnames[:count] if name not in ("self", "cls"))
    name = code.co_qualname.replace("<locals>.", "")
    place = f"core/{file.removeprefix(_OWN)}"
    begins = BEGINS.get((place, name))
    byte_code = code.co_code if code.co_flags & CO_GENERATOR else b""
    return _Function(name, place, code.co_firstlineno, begins, arguments, byte_code)


@contextmanager
def record(most_calls: int = MOST_CALLS) -> Iterator[Recorder]:
    """Record every call of this project's functions in this thread, until the block ends.

    The profile function of a debugger or profiler in this thread is disabled meanwhile.

    Args:
        most_calls: number of calls to keep; further calls are only counted.
    """
    recorder = Recorder(most_calls)
    before = sys.getprofile()
    with recorder.watched:
        sys.setprofile(recorder.profile)
        try:
            yield recorder
        finally:
            sys.setprofile(before)
            recorder.end()


def place_of(function: Callable[..., Any]) -> tuple[str, int]:
    """Return a function's line, and its file relative to the project or to site-packages."""
    code = unwrap(function).__code__
    path = Path(code.co_filename)
    if name := source_name(path):
        return name, code.co_firstlineno
    parts = path.parts
    after = parts.index("site-packages") + 1 if "site-packages" in parts else len(parts) - 1
    return "/".join(parts[after:]), code.co_firstlineno
