"""Counters of a server's own speculation, and the rounds of one request."""

from __future__ import annotations

from typing import NamedTuple


class ServerRound(NamedTuple):
    """A round of the server's: how many tokens were drafted, and how many of them accepted."""

    drafted: int
    accepted: int


class ServerSpeculation(NamedTuple):
    """The server's speculation in one run.

    Args:
        rounds: in order, where the server tells of each (vLLM's
            `--per-request-spec-decode-metrics detailed`); else none.
        drafts: rounds, by the difference of the server's counters, as the other numbers; whatever
            else it served meanwhile counts too.
        accepted_at: accepted tokens by draft position.
        tokens: that the run emitted.
    """

    rounds: tuple[ServerRound, ...]
    drafts: int
    drafted: int
    accepted: int
    accepted_at: tuple[int, ...]
    tokens: int

    @property
    def positions(self) -> tuple[ServerRound, ...]:
        """For each draft position how often it was drafted and accepted, of the rounds if known."""
        if not self.rounds:
            return tuple(ServerRound(self.drafts, accepted) for accepted in self.accepted_at)
        last = max(entry.drafted for entry in self.rounds)
        return tuple(
            ServerRound(
                sum(entry.drafted > at for entry in self.rounds),
                sum(entry.accepted > at for entry in self.rounds),
            )
            for at in range(last)
        )
