"""The store of classes under a given clock: joining, guessing, its bounds, its end."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from pages.ui.classroom import rooms
from pages.ui.classroom.rooms import ClassError, Rooms, written

ASKED = ("dice", "next")


@dataclass
class Clock:
    """Seconds that a test sets."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> Rooms:
    return Rooms(clock)


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(ClassError) as caught:
        act()
    return str(caught.value)


def test_guesses_are_counted_by_question_and_a_pupil_counts_once(store: Rooms) -> None:
    room = store.open_room()
    pupils = [store.join(room.code, f"session {at}") for at in range(5)]
    for pupil, choice in zip(pupils, (0, 2, 2, 1, 2), strict=True):
        store.answer(room.code, pupil, *ASKED, choice)
    assert store.counts(room.code, *ASKED) == {0: 1, 1: 1, 2: 3}
    store.answer(room.code, pupils[0], *ASKED, 1)
    assert store.counts(room.code, *ASKED) == {1: 2, 2: 3}
    store.answer(room.code, pupils[0], "dice", "second", 0)
    store.answer(room.code, pupils[1], "dice", "second", 0)
    tally = store.tally(room.code)
    assert tally.pupils == 5 and list(tally.asked.items()) == [(ASKED, 5), (("dice", "second"), 2)]
    assert store.counts(room.code, "another lesson", "next") == {}


def test_the_right_answer_is_that_of_the_pupils_own_runs(store: Rooms) -> None:
    room = store.open_room()
    pupils = [store.join(room.code, str(at)) for at in range(4)]
    for pupil in pupils:
        store.answer(room.code, pupil, *ASKED, 0)
    assert store.right(room.code, *ASKED) == {}
    for pupil, right in zip(pupils, (2, 2, 1, None), strict=True):
        store.answer(room.code, pupil, *ASKED, 0, right)
    assert store.right(room.code, *ASKED) == {2: 2, 1: 1}
    assert store.counts(room.code, *ASKED) == {0: 4}


def test_a_cleared_guess_comes_back_neither_with_the_run_nor_with_a_reload(store: Rooms) -> None:
    room = store.open_room()
    pupil = store.join(room.code)
    store.answer(room.code, pupil, *ASKED, 1)
    store.clear(room.key, *ASKED)
    store.answer(room.code, pupil, *ASKED, 1, right=0)
    store.recall(room.code, pupil, ASKED[0], {ASKED[1]: 1, "earlier": 2})
    assert store.counts(room.code, *ASKED) == store.right(room.code, *ASKED) == {}
    assert store.counts(room.code, ASKED[0], "earlier") == {2: 1}
    store.answer(room.code, pupil, *ASKED, 2)
    assert store.counts(room.code, *ASKED) == {2: 1}


def test_a_code_is_typed_as_people_type(store: Rooms) -> None:
    room = store.open_room()
    assert re.fullmatch(r"[B-DF-HJ-NP-TV-Z2-9]{4}-[B-DF-HJ-NP-TV-Z2-9]{4}", room.code)
    for typed in (
        room.code.lower(),
        room.code.replace("-", ""),
        f" {room.code[:4]} {room.code[5:]}",
    ):
        assert written(typed) == room.code and store.join(typed)
    assert store.tally(room.code).pupils == 3
    assert refused(lambda: store.join("")) == refused(lambda: store.join("x" * 10_000))


def test_only_the_teacher_s_key_clears_and_ends(store: Rooms) -> None:
    room, other = store.open_room(), store.open_room()
    pupil = store.join(room.code)
    store.answer(room.code, pupil, *ASKED, 1)
    for key in (room.code, pupil, other.key, "", "\ud800"):
        store.clear(key, *ASKED)
        assert store.room(key) in (None, other)
    assert store.counts(room.code, *ASKED) == {1: 1}
    assert room.key not in repr(room) and len(room.key) >= 32 and room.key != other.key
    store.clear(room.key, *ASKED)
    assert store.counts(room.code, *ASKED) == {} and store.is_in(room.code, pupil)
    store.end(room.key)
    assert store.room(room.key) is None and not store.is_in(room.code, pupil)
    assert refused(lambda: store.answer(room.code, pupil, *ASKED, 0)) == rooms.ENDED
    assert refused(lambda: store.join(room.code)) == rooms.NO_CLASS
    assert store.room(other.key) == other


def test_who_leaves_takes_the_guesses_along(store: Rooms) -> None:
    room = store.open_room()
    stays, goes = store.join(room.code), store.join(room.code)
    for pupil in (stays, goes):
        store.answer(room.code, pupil, *ASKED, 0)
    store.leave(room.code, goes)
    assert store.counts(room.code, *ASKED) == {0: 1} and store.tally(room.code).pupils == 1
    store.leave(room.code, stays)
    assert store.tally(room.code).asked == {}
    store.leave("no-code", stays)


def test_a_class_ends_after_twelve_hours_or_an_idle_one(store: Rooms, clock: Clock) -> None:
    room = store.open_room()
    for _ in range(23):
        clock.now += 1800
        assert store.room(room.key) == room
    clock.now += 1799.9
    assert store.room(room.key) == room
    clock.now += 0.1
    assert store.room(room.key) is None
    left = store.open_room()
    clock.now += rooms.IDLE_SECONDS - 1
    pupil = store.join(left.code)
    clock.now += rooms.IDLE_SECONDS - 1
    assert store.tally(left.code).pupils == 1
    clock.now += 1
    assert store.tally(left.code).pupils == 0 and not store.is_in(left.code, pupil)


def test_a_class_holds_two_hundred_pupils_and_those_who_went_make_room(
    store: Rooms, clock: Clock
) -> None:
    room = store.open_room()
    pupils = [store.join(room.code, str(at)) for at in range(rooms.MOST_PUPILS)]
    assert refused(lambda: store.join(room.code, "late")) == rooms.FULL
    store.leave(room.code, pupils[3])
    assert store.join(room.code, "late")
    clock.now += rooms.AWAY_SECONDS
    store.answer(room.code, pupils[0], *ASKED, 0)
    assert store.join(room.code, "later") and store.is_in(room.code, pupils[0])
    assert not store.is_in(room.code, pupils[1])
    assert refused(lambda: store.answer(room.code, pupils[1], *ASKED, 0)) == rooms.RELEASED
    assert store.tally(room.code).pupils == rooms.MOST_PUPILS


def test_a_server_holds_so_many_classes(store: Rooms, clock: Clock) -> None:
    opened = [store.open_room(str(at), f"10.0.0.{at % 4}") for at in range(rooms.MOST_ROOMS)]
    assert len({room.code for room in opened}) == rooms.MOST_ROOMS
    assert refused(lambda: store.open_room("one more")) == rooms.NO_ROOM
    store.end(opened[0].key)
    assert store.open_room("one more")
    clock.now += rooms.IDLE_SECONDS
    assert store.open_room("later") and store.room(opened[1].key) is None


def test_an_address_holds_a_part_of_the_classes(store: Rooms, clock: Clock) -> None:
    home = [store.open_room(str(at), "10.0.0.1") for at in range(rooms.MOST_OF_ADDRESS)]
    assert refused(lambda: store.open_room("new session", "10.0.0.1")) == rooms.TOO_MANY_HERE
    assert store.open_room("a", "10.0.0.2") and store.open_room("the machine's own user")
    store.end(home[0].key)
    assert store.open_room("new session", "10.0.0.1")
    assert refused(lambda: store.open_room("another", "10.0.0.1")) == rooms.TOO_MANY_HERE
    assert "10.0.0.1" not in repr(vars(store))
    # Its own class without pupils and without a teacher makes room, no other one.
    clock.now += rooms.EMPTY_SECONDS
    assert store.open_room("another", "10.0.0.1")
    assert sum(store.room(each.key) is None for each in home) == 2


def test_an_empty_class_without_a_teacher_makes_room(store: Rooms, clock: Clock) -> None:
    taken = [store.open_room(str(at)) for at in range(rooms.MOST_ROOMS)]
    store.join(taken[0].code)
    clock.now += rooms.EMPTY_SECONDS
    assert store.room(taken[1].key)
    assert store.open_room("a teacher")
    assert store.room(taken[2].key) is None and all(map(store.room, (taken[0].key, taken[1].key)))


def test_a_session_that_tries_codes_waits(store: Rooms, clock: Clock) -> None:
    room = store.open_room()
    for _ in range(8):
        assert refused(lambda: store.join("BCDF-2345", "guesser")) == rooms.NO_CLASS
    assert refused(lambda: store.join(room.code, "guesser")) == rooms.TOO_MANY_CODES
    assert store.join(room.code, "somebody else")
    clock.now += 60
    assert store.join(room.code, "guesser")


def test_a_session_that_opens_many_classes_waits(store: Rooms, clock: Clock) -> None:
    for _ in range(3):
        store.open_room("one")
    assert refused(lambda: store.open_room("one")) == rooms.TOO_MANY_ROOMS
    assert store.open_room("two")
    clock.now += 60
    assert store.open_room("one")


def test_a_pupil_who_answers_too_often_waits(store: Rooms, clock: Clock) -> None:
    room = store.open_room()
    pupil, other = store.join(room.code, "a"), store.join(room.code, "b")
    for at in range(20):
        store.answer(room.code, pupil, *ASKED, at % 4)
    assert refused(lambda: store.answer(room.code, pupil, *ASKED, 0)) == rooms.TOO_MANY_GUESSES
    store.answer(room.code, other, *ASKED, 0)
    assert store.counts(room.code, *ASKED) == {3: 1, 0: 1}
    clock.now += 10
    store.answer(room.code, pupil, *ASKED, 0)
    assert store.counts(room.code, *ASKED) == {0: 2}


def test_questions_are_bounded_and_the_oldest_is_forgotten(store: Rooms, clock: Clock) -> None:
    room = store.open_room()
    pupil = store.join(room.code)
    for at in range(rooms.MOST_QUESTIONS + 1):
        clock.now += 1
        store.answer(room.code, pupil, "long", str(at), 0)
    assert store.counts(room.code, "long", "0") == {} and store.counts(room.code, "long", "1")
    assert len(store.tally(room.code).asked) == rooms.MOST_QUESTIONS
    for names, choice in (
        (("", "x"), 0),
        (("x", "y" * 81), 0),
        (ASKED, -1),
        (ASKED, rooms.MOST_CHOICES),
    ):
        with pytest.raises(ValueError, match="no question"):
            store.answer(room.code, pupil, *names, choice)


def test_two_hundred_pupils_answer_at_the_same_time() -> None:
    store = Rooms()
    room = store.open_room()

    def answered(at: int) -> None:
        pupil = store.join(room.code, str(at))
        store.answer(room.code, pupil, *ASKED, at % 3)
        store.counts(room.code, *ASKED)

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(answered, range(rooms.MOST_PUPILS)))
    assert store.counts(room.code, *ASKED) == {0: 67, 1: 67, 2: 66}


def test_the_clients_that_are_limited_are_bounded(store: Rooms) -> None:
    for at in range(store._codes.MOST_CLIENTS + 10):
        refused(lambda at=at: store.join("BCDF-2345", str(at)))  # type: ignore[misc]
    assert len(store._codes._events) == store._codes.MOST_CLIENTS
