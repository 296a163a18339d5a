"""Notes of a run: sentences for the user, each with a key that code can compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...language import N_, Message
from ..counting import counted
from .bounds import MAX_TEXT

TEMPERATURE_0, DOUBLED_START, RECOMPUTED = "temperature_0", "doubled_start", "cache_recomputed"
CONSTRAINT_LEFT, CONSTRAINT_OPEN = "constraint_left", "constraint_open"
GAVE_WAY = "gave_way"
RANKED_ANEW, NOT_LOSSLESS, BROKEN_OFF = "ranked_anew", "not_lossless", "broken_off"
# Of a run among many: how it was computed, in these words.
ROWS, THREADS = "rows", "threads"
_COMPUTED = {
    ROWS: re.compile(r"alone|in a batch of [1-9][0-9]{0,2} rows"),
    THREADS: re.compile(r"[1-9][0-9]{0,3} threads?"),
}
# Beginnings of notes in old files, which hold no keys.
_OLD_WORDS = {
    "Temperature 0 means": TEMPERATURE_0,
    "Typical acceptance changes the output": NOT_LOSSLESS,
    "The key-value cache was computed anew": RECOMPUTED,
    "The model reads ": DOUBLED_START,
}


class Note(NamedTuple):
    """A sentence that explains a choice made for the user, such as that temperature 0 is greedy."""

    key: str
    words: str

    def __str__(self) -> str:
        return self.words


FROM_GENERATE = Note(
    "from_generate",
    N_(
        "Recorded from a run of transformers' generate: tokens and logits are that "
        "run's; a forward of its own read the prompt."
    ),
)
DRAWS_UNKNOWN = Note(
    "draws_unknown",
    N_("The seed of this run is not known, so the numbers that its tokens were drawn by are not."),
)
# Notes of a run that was recorded, and not decoded here.
RECORDED = (FROM_GENERATE, DRAWS_UNKNOWN)
FOREIGN_ANSWER = "foreign_answer"
# Keys of notes on what is unknown of a run that another program made.
MADE_ELSEWHERE = {*(note.key for note in RECORDED), FOREIGN_ANSWER}


def computed(rows: int, threads: int | None) -> Iterator[Note]:
    """Yield the notes on a run's batch and on its number of threads, if that was set."""
    yield Note(
        ROWS,
        Message("alone")
        if rows == 1
        else Message("in a batch of {rows}", rows=counted(rows, "row")),
    )
    if threads:
        yield Note(THREADS, counted(threads, "thread"))


def tells_making(note: Note) -> bool:
    """Return whether a note is one that `computed` gives, or one of a recording."""
    if note in RECORDED:
        return True
    return note.key in _COMPUTED and bool(_COMPUTED[note.key].fullmatch(note.words))


def write_note(note: Note) -> dict[str, str]:
    """Return the note as it is stored."""
    return note._asdict()


def read_note(data: Any) -> Note:
    """Return a stored note, the inverse of `write_note`; old files hold only the words.

    Raises:
        ValueError: the value is no note, or too long.
    """
    if isinstance(data, str):
        key = next((key for words, key in _OLD_WORDS.items() if data.startswith(words)), BROKEN_OFF)
        data = {"key": key, "words": data}
    if not isinstance(data, dict) or data.keys() != {"key", "words"}:
        raise ValueError(N_("a note has a key and words"))
    note = Note(**data)
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in note):
        raise ValueError(N_("a note is text of a bounded length"))
    return note
