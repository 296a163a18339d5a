"""Measured shares of texts that a watermark's detector finds, by length."""

from __future__ import annotations

import json
from typing import NamedTuple

from ..decoding.errors import EvaluationError
from ..installation import ASSETS
from ..language import N_, Message

FILE = ASSETS / "evaluation" / "watermarks.json"


class FoundTexts(NamedTuple):
    """Texts above the detector's threshold, by their length in tokens.

    Args:
        unmarked, marked: number of texts.
        unmarked_above, marked_above: number of them above the threshold, for each length.
    """

    lengths: tuple[int, ...]
    unmarked: int
    unmarked_above: tuple[int, ...]
    marked: int
    marked_above: tuple[int, ...]


def found_texts(data: bytes, name: str) -> FoundTexts:
    """Return the numbers of a watermark, by its setting, from the file of `benchmarks.watermarks`.

    Raises:
        EvaluationError: not such a file.
    """
    try:
        content = json.loads(data)
        counts = content["counts"][name]
        return FoundTexts(
            tuple(map(int, content["lengths"])),
            int(counts["unmarked"][0]),
            tuple(map(int, counts["unmarked_above"])),
            int(counts["marked"][0]),
            tuple(map(int, counts["marked_above"])),
        )
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise EvaluationError(N_("This is no file of measured watermarks.")) from error


def false_positive_words(name: str) -> str:
    """Return a sentence on unmarked texts of `embedded:target` that the detector finds."""
    found = found_texts(FILE.read_bytes(), name)
    pairs = zip(found.lengths, found.unmarked_above, strict=True)
    shares = ", ".join(f"{100 * above / found.unmarked:.1f} % at {n}" for n, above in pairs)
    return Message(
        "Of {texts:,} unmarked texts of embedded:target, z exceeds 3 in {shares} tokens.",
        texts=found.unmarked,
        shares=shares,
    )
