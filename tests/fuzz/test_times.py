"""No reader takes long over the largest text that it reads, whatever stands in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from core.decoding.errors import DecodingError
from core.evaluation.plan import plan_file
from core.evaluation.questions import read as questions
from core.server.api.http import MAX_BODY
from core.traces import foreign
from core.traces.file import read_trace
from tests.fuzz.readers import READERS

# Repeated, each makes some kind of parser go back, nest or make many small values.
UNITS = (
    *("[", "{", "(", "[],", "{},", "[{}],", '{"a":', "0,", "9", '"', ",", '","', "\n", "\r", "\\"),
    *("- ", "? ", "a: ", "&a ", "1:", "#### ", "\\boxed{", "<call>", "x^{", "1 ", "1,", "−", "*a"),
    *("`", "$1", "1/", "1e", "the ", "You are ", "answer is ", "<|", "|", "\u0301", "add 1, "),
)
# Bytes: the readers of whole files at what they may hold, those of texts at a long reply's.
REPLY = 20_000
SIZES = {
    "plan of an evaluation": plan_file.MAX_BYTES,
    "questions, JSON": questions.MAX_BYTES,
    "questions, SQuAD": questions.MAX_BYTES,
    "questions, CSV": questions.MAX_BYTES,
    "chat request": MAX_BODY,
    "response request": MAX_BODY,
    "another server's answer": foreign.MAX_BYTES,
    **dict.fromkeys(("reply", "template text", "answer", "question", "calculator call"), REPLY),
    **dict.fromkeys(("stop strings", "stop strings of a search", "budgets"), REPLY),
}
# Of the processor, about three times what the worst takes on one core of 2026.
SECONDS = 3.0


def _slow(read: Callable[[bytes], Any], size: int) -> Iterator[tuple[str, float]]:
    for unit in UNITS:
        for start in ("", "["):
            data = (start + unit * (size // len(unit.encode())))[: size - 1].encode()[: size - 1]
            began = time.process_time()
            with suppress(DecodingError):
                read(data)
            took = time.process_time() - began
            if took > SECONDS:
                yield start + unit, took


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_no_reader_takes_long_over_its_largest_text(name: str) -> None:
    reader = next(reader for reader in READERS if reader.name == name)
    assert not list(_slow(reader.read, SIZES[name]))


@pytest.mark.parametrize("unit", [b"[", b"[],", b'{"a":', b"[{}],"])
def test_a_trace_of_brackets_is_refused_before_it_is_parsed(unit: bytes) -> None:
    began = time.process_time()
    with pytest.raises(DecodingError):
        read_trace(b"[" + unit * (15_000_000 // len(unit)))
    assert time.process_time() - began < SECONDS
