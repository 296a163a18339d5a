"""Counters of a server's own speculative decoding, and the rounds of one request."""

from __future__ import annotations

from typing import NamedTuple

from ..record.bounds import Index


class ServerRound(NamedTuple):
    """A round of the server: the numbers of drafted and accepted tokens."""

    drafted: Index
    accepted: Index


class ServerSpeculation(NamedTuple):
    """Speculative decoding by the server in one run.

    Args:
        rounds: rounds in order, if the server reports them (vLLM's
            `--per-request-spec-decode-metrics detailed`); otherwise empty.
        drafts: number of rounds; 0 if unknown. It and `accepted_at` come from the difference of the
            server's counters if the answer doesn't tell them; requests of other clients at the same
            time count too.
        accepted_at: accepted tokens by draft position.
        tokens: number of tokens that the run emitted.
    """

    rounds: tuple[ServerRound, ...]
    drafts: int
    drafted: int
    accepted: int
    accepted_at: tuple[int, ...]
    tokens: int

    @property
    def positions(self) -> tuple[ServerRound, ...]:
        """For each draft position, how often it was drafted and accepted; from the rounds if
        known.
        """
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
