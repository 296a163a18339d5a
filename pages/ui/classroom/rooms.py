"""Store of the open classes: anonymous pupils and their newest guesses, in memory only."""

from __future__ import annotations

import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

from pages.ui.classroom.limits import EventLimit
from pages.ui.classroom.refusals import (
    ENDED,
    FULL,
    MOST_OF_ADDRESS,
    MOST_PUPILS,
    MOST_ROOMS,
    NO_CLASS,
    NO_ROOM,
    RELEASED,
    TOO_MANY_CODES,
    TOO_MANY_GUESSES,
    TOO_MANY_HERE,
    TOO_MANY_ROOMS,
    ClassError,
)

MOST_QUESTIONS, MOST_CHOICES, MOST_NAME = 100, 12, 80
ROOM_SECONDS, IDLE_SECONDS = 12 * 3600.0, 3600.0
# A pupil without a sign for this long makes room for another in a full class.
AWAY_SECONDS = 1800.0
# A class without pupils that its teacher hasn't looked at for this long makes room for another.
EMPTY_SECONDS = 300.0
_CHOICES = frozenset(range(MOST_CHOICES))
# Without vowels, and without signs that look alike: no code is a word.
_SIGNS = "BCDFGHJKMNPQRSTVWXYZ23456789"
# 28 ** 8 codes: at 10,000 guesses a second, one of 40 classes is found after 11 days on average.
_HALF = 4


@dataclass(frozen=True, slots=True)
class Room:
    """An open class as its teacher knows it.

    Args:
        code: what pupils join by; no secret among them.
        key: secret of the teacher, who alone clears and ends the class.
        opened: the store's clock at its opening, seconds.
    """

    code: str
    key: str = field(repr=False)
    opened: float


@dataclass(frozen=True, slots=True)
class Tally:
    """State of a class at one moment.

    Args:
        pupils: number of pupils in the class.
        asked: number of pupils who answered, by (lesson, question), the newest guess last.
    """

    pupils: int
    asked: dict[tuple[str, str], int]


class _Guess(NamedTuple):
    """The chosen answer, and the right one in the pupil's own run; None before it is known."""

    choice: int
    right: int | None


@dataclass(slots=True)
class _Open:
    """A room with its teacher's address, its pupils' last signs (seconds), their guesses by
    question, and the questions that the teacher has cleared."""

    room: Room
    address: str = field(repr=False)
    used: float
    pupils: dict[str, float] = field(default_factory=dict)
    guesses: OrderedDict[tuple[str, str], dict[str, _Guess]] = field(default_factory=OrderedDict)
    cleared: set[tuple[str, str]] = field(default_factory=set)


def written(code: str) -> str:
    """Return a typed code in the form of a room's: capitals, in two groups."""
    signs = "".join(sign for sign in code[:40].upper() if sign.isalnum())
    return f"{signs[:_HALF]}-{signs[_HALF:]}"


class Rooms:
    """Store of classes; safe for threads.

    A class ends 12 hours after its opening, or an hour after its teacher or a pupil used it last.

    Args:
        clock: seconds, never falling.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._by_code: dict[str, _Open] = {}
        self._openings, self._codes = EventLimit(3, 60.0), EventLimit(8, 60.0)
        self._answers = EventLimit(20, 10.0)

    def open_room(self, client: str = "", address: str = "") -> Room:
        """Open a class.

        Args:
            client: the browser session, whose openings are limited.
            address: its network address, whose open classes are limited; empty for this machine.

        Raises:
            ClassError: the session, its address or all of the server have opened too many.
        """
        with self._lock:
            now = self._swept()
            if not self._openings.allows(client, now):
                raise ClassError(TOO_MANY_ROOMS)
            local = [each for each in self._by_code.values() if address and each.address == address]
            if len(local) >= MOST_OF_ADDRESS and not self._release_empty(now, local):
                raise ClassError(TOO_MANY_HERE)
            if len(self._by_code) >= MOST_ROOMS and not self._release_empty(now):
                raise ClassError(NO_ROOM)
            self._openings.note(client, now)
            code = _new_code()
            while code in self._by_code:
                code = _new_code()
            room = Room(code, secrets.token_urlsafe(24), now)
            self._by_code[code] = _Open(room, address, now)
            return room

    def room(self, key: str) -> Room | None:
        """Return the class of a teacher's key, which counts as used now; None if it has ended."""
        with self._lock:
            opened = self._of_key(key)
            return opened.room if opened else None

    def join(self, code: str, client: str = "") -> str:
        """Join a class and return the pupil's random id.

        Args:
            client: the browser session, whose attempts are limited.

        Raises:
            ClassError: the session tries too many codes, none has this code, or it is full.
        """
        with self._lock:
            now = self._swept()
            if not self._codes.allows(client, now):
                raise ClassError(TOO_MANY_CODES)
            self._codes.note(client, now)
            opened = self._by_code.get(written(code))
            if opened is None:
                raise ClassError(NO_CLASS)
            if len(opened.pupils) >= MOST_PUPILS:
                _release_longest_away(opened, now)
            pupil = secrets.token_urlsafe(12)
            opened.pupils[pupil] = opened.used = now
            return pupil

    def is_open(self, code: str) -> bool:
        """Return whether there is such a class."""
        with self._lock:
            self._swept()
            return code in self._by_code

    def is_in(self, code: str, pupil: str) -> bool:
        """Return whether the pupil is in the class, which counts as a sign of the pupil."""
        with self._lock:
            now, opened = self._swept(), self._by_code.get(code)
            if opened is None or pupil not in opened.pupils:
                return False
            opened.pupils[pupil] = now
            return True

    def leave(self, code: str, pupil: str) -> None:
        """Remove the pupil and the pupil's guesses."""
        with self._lock:
            opened = self._by_code.get(code)
            if opened is not None:
                _remove(opened, pupil)

    def answer(
        self,
        code: str,
        pupil: str,
        lesson: str,
        question: str,
        choice: int,
        right: int | None = None,
    ) -> None:
        """Count a pupil's guess in place of the pupil's former one for the question.

        Args:
            choice: number of the chosen answer, from 0.
            right: number of the right answer in the pupil's own run, which is added to a guess
                that is counted still; None before it is known.

        Raises:
            ClassError: the class has ended, the pupil isn't in it or answers too often.
            ValueError: no lesson has such a question.
        """
        names = (lesson, question)
        _require_question(names, {choice, choice if right is None else right})
        with self._lock:
            opened = self._answering(code, pupil)
            if right is None or pupil in opened.guesses.get(names, {}):
                _count(opened, names, pupil, _Guess(choice, right))

    def recall(self, code: str, pupil: str, lesson: str, choices: Mapping[str, int]) -> None:
        """Count a pupil's guesses from before the joining, apart from those that are counted or
        that the teacher has cleared.

        Args:
            choices: numbers of the chosen answers, by the name of the question.

        Raises:
            ClassError: the class has ended, the pupil isn't in it or answers too often.
            ValueError: no lesson has such a question.
        """
        asked = {(lesson, question): choice for question, choice in choices.items()}
        for names, choice in asked.items():
            _require_question(names, {choice})
        with self._lock:
            opened = self._answering(code, pupil)
            for names, choice in asked.items():
                if names not in opened.cleared and pupil not in opened.guesses.get(names, {}):
                    _count(opened, names, pupil, _Guess(choice, None))

    def _answering(self, code: str, pupil: str) -> _Open:
        """Return the class of a pupil who answers now."""
        now, opened = self._swept(), self._by_code.get(code)
        if opened is None or pupil not in opened.pupils:
            raise ClassError(ENDED if opened is None else RELEASED)
        if not self._answers.allows(pupil, now):
            raise ClassError(TOO_MANY_GUESSES)
        self._answers.note(pupil, now)
        opened.pupils[pupil] = opened.used = now
        return opened

    def counts(self, code: str, lesson: str, question: str) -> Counter[int]:
        """Return how many pupils chose each answer, by its number; empty without a guess."""
        return Counter(guess.choice for guess in self._guesses(code, lesson, question))

    def right(self, code: str, lesson: str, question: str) -> Counter[int]:
        """Return in how many pupils' own runs each answer was right, by its number."""
        found = [guess.right for guess in self._guesses(code, lesson, question)]
        return Counter(right for right in found if right is not None)

    def _guesses(self, code: str, lesson: str, question: str) -> list[_Guess]:
        with self._lock:
            self._swept()
            opened = self._by_code.get(code)
            return list((opened.guesses.get((lesson, question)) or {}).values() if opened else ())

    def tally(self, code: str) -> Tally:
        """Return the number of pupils, and of guesses for each question."""
        with self._lock:
            self._swept()
            opened = self._by_code.get(code)
            if opened is None:
                return Tally(0, {})
            asked = {names: len(guesses) for names, guesses in opened.guesses.items() if guesses}
            return Tally(len(opened.pupils), asked)

    def clear(self, key: str, lesson: str, question: str) -> None:
        """Forget the guesses for a question of the teacher's class."""
        with self._lock:
            opened = self._of_key(key)
            if opened is not None and opened.guesses.pop((lesson, question), None) is not None:
                opened.cleared.add((lesson, question))

    def end(self, key: str) -> None:
        """End the teacher's class and forget all of it."""
        with self._lock:
            opened = self._of_key(key)
            if opened is not None:
                del self._by_code[opened.room.code]

    def _release_empty(self, now: float, among: Iterable[_Open] = ()) -> bool:
        """End the class without pupils that was used longest ago; return whether there is one."""
        empty = [each for each in among or self._by_code.values() if not each.pupils]
        oldest = min(empty, key=lambda each: each.used, default=None)
        if oldest is None or now - oldest.used < EMPTY_SECONDS:
            return False
        del self._by_code[oldest.room.code]
        return True

    def _of_key(self, key: str) -> _Open | None:
        now = self._swept()
        for opened in self._by_code.values():
            if secrets.compare_digest(opened.room.key.encode(), key.encode("utf-8", "replace")):
                opened.used = now
                return opened
        return None

    def _swept(self) -> float:
        """Forget the classes that have ended; return the time."""
        now = self._clock()
        over = [
            code
            for code, opened in self._by_code.items()
            if now - opened.room.opened >= ROOM_SECONDS or now - opened.used >= IDLE_SECONDS
        ]
        for code in over:
            del self._by_code[code]
        return now


def _require_question(names: tuple[str, str], numbers: set[int]) -> None:
    if not all(0 < len(name) <= MOST_NAME for name in names) or numbers - _CHOICES:
        raise ValueError(f"no question of a lesson: {names[0][:MOST_NAME]!r}, {sorted(numbers)}")


def _count(opened: _Open, names: tuple[str, str], pupil: str, guess: _Guess) -> None:
    opened.guesses.setdefault(names, {})[pupil] = guess
    opened.guesses.move_to_end(names)
    if len(opened.guesses) > MOST_QUESTIONS:
        opened.guesses.popitem(last=False)


def _new_code() -> str:
    signs = [secrets.choice(_SIGNS) for _ in range(2 * _HALF)]
    return written("".join(signs))


def _release_longest_away(opened: _Open, now: float) -> None:
    """Make room for a pupil in a full class; raises ClassError if all have given a sign lately."""
    pupil, last = min(opened.pupils.items(), key=lambda item: item[1])
    if now - last < AWAY_SECONDS:
        raise ClassError(FULL)
    _remove(opened, pupil)


def _remove(opened: _Open, pupil: str) -> None:
    opened.pupils.pop(pupil, None)
    for guesses in opened.guesses.values():
        guesses.pop(pupil, None)


# The open classes of this process.
ROOMS: Final = Rooms()
