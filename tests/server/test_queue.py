"""The fair queue: turns go round, and whoever gives up waiting leaves no gap."""

from __future__ import annotations

from threading import Event, Thread
from time import perf_counter, sleep

from core.server.queue import FairQueue

SECONDS = 60


def test_two_sessions_take_turns_step_by_step() -> None:
    queue, order, both_in = FairQueue(quantum=0), [], Event()

    def work(name: str, first: bool) -> None:
        with queue.turn() as turn:
            if first:
                both_in.wait(SECONDS)
            for _ in range(3):
                order.append(name)
                turn.pass_on()

    one = Thread(target=work, args=("one", True))
    two = Thread(target=work, args=("two", False))
    one.start()
    while queue.waiting < 1:
        sleep(0.001)
    two.start()
    while queue.waiting < 2:
        sleep(0.001)
    both_in.set()
    one.join(SECONDS)
    two.join(SECONDS)
    assert order[:2] == ["one", "two"] and sorted(order) == ["one"] * 3 + ["two"] * 3


def test_beside_three_busy_sessions_a_visitor_has_a_quarter_of_the_time() -> None:
    queue, here, over = FairQueue(), Event(), Event()
    worked, longest = dict.fromkeys(range(3), 0.0), dict.fromkeys(range(3), 0.0)

    def work_until_over(session: int) -> None:
        with queue.turn(session=session) as turn:
            while not over.is_set():
                seconds = compute(0.005)
                worked[session] += seconds if here.is_set() else 0.0
                longest[session] = max(longest[session], seconds)
                turn.pass_on()

    others = [Thread(target=work_until_over, args=(session,)) for session in worked]
    for other in others:
        other.start()
    while queue.sessions < len(others):
        sleep(0.001)
    here.set()
    own = 0.0
    with queue.turn(session="visitor") as turn:
        for _ in range(50):
            own += compute(0.002)
            turn.pass_on()
    over.set()
    for other in others:
        other.join(SECONDS)
    # So it waits four times as long as alone; a busy machine may make a single turn a long one.
    assert max(worked.values()) <= 1.5 * own + 0.3 + 2 * max(longest.values())


def compute(seconds: float) -> float:
    """Keep the processor busy; the seconds that it really took."""
    began = perf_counter()
    while perf_counter() < began + seconds:
        pass
    return perf_counter() - began


def test_alone_in_the_queue_nobody_waits() -> None:
    queue = FairQueue()
    with queue.turn() as turn:
        turn.pass_on()
        assert turn.held
    assert queue.waiting == 0


def test_a_cancelled_wait_ends_without_the_turn_and_leaves_the_line() -> None:
    queue = FairQueue()
    with queue.turn():
        with queue.turn(lambda: True) as second:
            assert not second.held
        assert queue.waiting == 1
    with queue.turn() as third:
        assert third.held


def test_an_error_gives_the_turn_back() -> None:
    queue = FairQueue()
    try:
        with queue.turn():
            raise ValueError
    except ValueError:
        pass
    assert queue.waiting == 0
