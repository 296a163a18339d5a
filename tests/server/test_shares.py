"""Sessions share the models' time: nobody waits longer than n + 1 times alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from core.server.shares import QUANTUM_SECONDS, Shares, Ticket

LONG = 0.15


class Simulated:
    """Jobs whose steps take known seconds, on one processor that `Shares` gives away."""

    def __init__(self) -> None:
        self.now = 0.0
        self.shares = Shares(lambda: self.now)
        self._steps: dict[Ticket, Iterator[float]] = {}
        self.ended: dict[Ticket, float] = {}
        self.worked: dict[object, float] = {}

    def add(self, session: object, steps: Sequence[float]) -> Ticket:
        ticket = Ticket(session)
        self._steps[ticket] = iter(steps)
        self.shares.join(ticket)
        return ticket

    def step(self) -> None:
        """The holder makes its next step, and passes its turn on or ends."""
        holder = self.shares.holder
        seconds = next(self._steps[holder], None)
        if seconds is None:
            self.ended[holder] = self.now
            self.shares.leave(holder)
            return
        self.now += seconds
        self.worked[holder.session] = self.worked.get(holder.session, 0.0) + seconds
        if self.shares.is_over():
            self.shares.pass_on()

    def run_until(self, ticket: Ticket) -> float:
        while ticket not in self.ended:
            self.step()
        return self.ended[ticket]


@pytest.mark.parametrize("busy", [1, 5, 20])
@pytest.mark.parametrize("step", [0.001, 0.02, LONG])
def test_with_n_busy_sessions_nobody_waits_longer_than_n_plus_1_times_alone(
    busy: int, step: float
) -> None:
    machine = Simulated()
    for session in range(busy):
        machine.add(session, [step] * 100_000)
    for _ in range(50):
        machine.step()
    began, alone = machine.now, [0.002] * 1000
    ended = machine.run_until(machine.add("visitor", alone))
    # What is under way when it comes is finished first, and each turn may end a step late.
    assert ended - began <= (busy + 1) * sum(alone) + (busy + 1) * (step + QUANTUM_SECONDS)


def test_five_sweeps_of_one_session_take_no_more_than_one_of_another() -> None:
    machine = Simulated()
    for _ in range(5):
        machine.add("greedy", [LONG] * 10_000)
    alone = [0.002] * 1000
    assert machine.run_until(machine.add("visitor", alone)) <= 2 * sum(alone) + 2 * LONG


def test_jobs_of_one_session_take_turns() -> None:
    machine = Simulated()
    jobs = [machine.add("one", [0.03] * 100) for _ in range(3)]
    machine.add("other", [0.03] * 1000)
    for job in jobs:
        machine.run_until(job)
    ends = [machine.ended[job] for job in jobs]
    assert max(ends) - min(ends) < 0.5


def test_who_was_idle_or_busy_alone_before_has_no_credit_and_no_debt() -> None:
    machine = Simulated()
    machine.add("early", [0.01] * 100_000)
    while machine.now < 100:
        machine.step()
    machine.worked.clear()
    machine.add("late", [0.01] * 100_000)
    while machine.now < 110:
        machine.step()
    assert machine.worked["early"] == pytest.approx(machine.worked["late"], abs=0.1)


def test_ending_jobs_and_starting_new_ones_wins_nothing() -> None:
    machine = Simulated()
    machine.add("patient", [0.01] * 100_000)
    eager = machine.add("eager", [0.1])
    while machine.now < 20:
        if eager in machine.ended:
            eager = machine.add("eager", [0.1])
        machine.step()
    assert machine.worked["eager"] <= machine.worked["patient"] + 0.3


def test_jobs_that_end_with_their_only_step_leave_their_session_s_debt() -> None:
    machine = Simulated()
    machine.add("patient", [0.01] * 100_000)
    while machine.now < 20:
        ticket = machine.add("eager", [])
        while machine.shares.holder is not ticket:
            machine.step()
        machine.now += 0.1
        machine.step()
    assert machine.worked["patient"] == pytest.approx(10, abs=0.5)


def test_nothing_is_kept_of_sessions_that_went() -> None:
    machine = Simulated()
    machine.add("stays", [0.01] * 1_000)
    for session in range(100):
        machine.run_until(machine.add(session, [0.03]))
    assert len(machine.shares._used) < 10
    while machine.shares.holder is not None:
        machine.step()
    assert not machine.shares._used
