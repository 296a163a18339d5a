"""Report of a server on the speculative decoding of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from ...language import Message
from ..counting import counted
from ..record.bounds import MAX_COUNT, Bounds, Index, LeftOut
from ..record.steps import NO_RECORD, MethodRecord
from .speculation import ServerRound

MAX_ROUNDS = 100_000


class ToldSpeculation(NamedTuple):
    """Numbers of drafted and accepted tokens of a run.

    Args:
        rounds: number of verifications; None if the server doesn't tell it (llama.cpp).
        each: the rounds in order, if the server tells them (vLLM's
            `--per-request-spec-decode-metrics detailed`).
    """

    drafted: Index
    accepted: Index
    rounds: Index | None = None
    each: Annotated[tuple[ServerRound, ...], Bounds(max_length=MAX_ROUNDS)] = ()

    @property
    def words(self) -> Message:
        """The numbers as a clause."""
        drafts = counted(self.drafted, "drafted token")
        if not self.drafted:
            return drafts
        accepted = Message(
            "{accepted} of {drafted} accepted ({share:.1f} %)",
            accepted=self.accepted,
            drafted=drafts,
            share=100 * self.accepted / self.drafted,
        )
        if not self.rounds:
            return accepted
        return Message(
            "{accepted} in {rounds}, {tokens:.2f} tokens a round",
            accepted=accepted,
            rounds=counted(self.rounds, "round"),
            tokens=1 + self.accepted / self.rounds,
        )


@dataclass(frozen=True, slots=True)
class EngineRecord(MethodRecord):
    """The server's report of its own speculative decoding; None if it sent none."""

    told: Annotated[ToldSpeculation | None, LeftOut(lambda record: record.told is None)] = None


def told_of(record: MethodRecord) -> ToldSpeculation | None:
    """Return the report of a run's server; None if there is none."""
    return record.told if isinstance(record, EngineRecord) else None


def record_of(told: ToldSpeculation | None) -> MethodRecord:
    """Return the own data of a run of a server."""
    return NO_RECORD if told is None else EngineRecord(told)


def told_in(answer: Any) -> ToldSpeculation | None:
    """Return the report in an answer or an event of a stream; None if it has no whole one.

    It reads vLLM's `metrics.speculative_decoding` (of `LLM.generate`: `spec_decode_metrics` of an
    output) and llama.cpp's `timings`.
    """
    outputs = _part(answer, "outputs")
    first = outputs[0] if isinstance(outputs, Sequence) and outputs else None
    reports = (
        _part(_part(answer, "metrics"), "speculative_decoding"),
        _part(first, "spec_decode_metrics"),
        _part(answer, "timings"),
    )
    return next((told for report in reports if (told := told_by(report)) is not None), None)


def told_by(report: Any) -> ToldSpeculation | None:
    """Return the numbers of a server's report on one run; None for any other value."""
    for drafted, accepted in (
        ("num_draft_tokens", "num_accepted_draft_tokens"),
        ("draft_n", "draft_n_accepted"),
    ):
        pair = _part(report, drafted), _part(report, accepted)
        if _possible(*pair):
            rounds = _part(report, "num_spec_steps")
            return ToldSpeculation(*pair, rounds if _possible(rounds, 0) else None, _each(report))
    each = _each(report)
    if not each:
        return None
    totals = [sum(numbers) for numbers in zip(*each, strict=True)]
    return ToldSpeculation(totals[0], totals[1], len(each), each)


def _each(report: Any) -> tuple[ServerRound, ...]:
    drafted, accepted = _part(report, "per_step_drafted"), _part(report, "per_step_accepted")
    whole = isinstance(drafted, list) and isinstance(accepted, list)
    if not whole or len(drafted) != len(accepted) or len(drafted) > MAX_ROUNDS:
        return ()
    pairs = list(zip(drafted, accepted, strict=True))
    return tuple(ServerRound(*pair) for pair in pairs) if all(_possible(*p) for p in pairs) else ()


def _possible(drafted: Any, accepted: Any) -> bool:
    """Return whether both are counts, and no more was accepted than drafted."""
    return type(drafted) is type(accepted) is int and 0 <= accepted <= drafted <= MAX_COUNT


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
