"""The fair queue: turns go round, and whoever gives up waiting leaves no gap."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from time import sleep

from core.server.queue import FairQueue

SECONDS = 20


def test_two_sessions_take_turns_step_by_step() -> None:
    queue, order, both_in = FairQueue(quantum=0), [], Event()

    def work(name: str, first: bool) -> None:
        with queue.turn() as turn:
            if first:
                both_in.wait(SECONDS)
            for _ in range(3):
                order.append(name)
                turn.pass_on()

    first_thread = Thread(target=work, args=("one", True), daemon=True)
    two = Thread(target=work, args=("two", False), daemon=True)
    first_thread.start()
    while queue.waiting < 1:
        sleep(0.001)
    two.start()
    while queue.waiting < 2:
        sleep(0.001)
    both_in.set()
    first_thread.join(SECONDS)
    two.join(SECONDS)
    assert order[:2] == ["one", "two"] and sorted(order) == ["one"] * 3 + ["two"] * 3


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
    with queue.turn(lambda: True) as third:
        assert third.held


def test_an_error_and_a_stop_give_the_turn_back() -> None:
    queue = FairQueue()
    with suppress(ValueError), queue.turn(lambda: True):
        raise ValueError
    assert queue.waiting == 0
