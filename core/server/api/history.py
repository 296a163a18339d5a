"""History of requests: a bounded list in memory for each key."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...decoding.beam.types import BeamStep
from ...decoding.config import MethodConfig
from ...decoding.diffusion.types import CanvasStep
from ...decoding.record.steps import PromptStep, Step, TokenStep
from ...decoding.record.trace import Trace
from ...decoding.speculative.types import DraftRound
from ..job import JobState
from .endpoints import Endpoint
from .job import RequestJob

if TYPE_CHECKING:
    from ...traces.data_path.types import DataPath
    from .run.call_reader import CallText

MOST_RECORDS = 100
# Limit for all keys together; each key gets an equal part.
MOST_BYTES = 128 * 2**20
# Measured bytes of a record without its run, of a row of a step, and of a call in the data path.
_RECORD_BYTES, _ROW_BYTES, _CALL_BYTES = 4_000, 400, 600


@dataclass(eq=False, kw_only=True)
class Record(RequestJob):
    """Job of one request; pages can read it while it runs.

    Args:
        owner: id of the key that made the request; empty if no key is needed.
        body: JSON of the request, unchanged.
        request_id: id of the HTTP request, also in its answer; empty for a request from the pages.
        configs: normalised settings of each choice.
        traces: traces of the complete choices.
        number: running number of the owner's requests, from 1.
        gaps: seconds between consecutive emissions of a run, in the process that computes.
        watched: True if its data path is recorded.
        calls: calls of tools so far, by choice and number: name and arguments.
        path: recorded function calls: of reading the request, and after its run has ended also
            of the run.
    """

    id: str
    endpoint: Endpoint
    model: str
    owner: str = ""
    prompt: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = ""
    created: float = field(default_factory=time.time)
    draft: str = ""
    prompt_tokens: int = 0
    configs: tuple[MethodConfig, ...] = ()
    traces: list[Trace] = field(default_factory=list)
    tokens: int = 0
    first_token: float | None = None
    last_token: float | None = None
    gaps: list[float] = field(default_factory=list)
    number: int = 0
    watched: bool = False
    calls: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    path: DataPath | None = None
    _bytes: int = 0
    _emitted: float | None = None

    def __post_init__(self) -> None:
        self.session = ("api", self.owner)

    @property
    def method(self) -> str:
        return self.configs[0].method if self.configs else ""

    @property
    def rule(self) -> str:
        """Kind of the constraint on the answer, or `tools`; empty if nothing constrains it."""
        constraint = self.configs[0].shaping.constraint if self.configs else None
        if constraint is None:
            return ""
        return "tools" if self.body.get("tools") and constraint.kind == "lark" else constraint.kind

    @property
    def seconds_to_first_token(self) -> float | None:
        return None if self.first_token is None else self.first_token - self.started

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens per second after the first token."""
        if self.first_token is None or self.last_token is None or self.tokens < 2:
            return None
        took = self.last_token - self.first_token
        return (self.tokens - 1) / took if took > 0 else None

    def begin_run(self) -> None:
        """Reset the steps and the last emission of the previous run."""
        self.steps, self._emitted = [], None

    def add_call(self, choice: int, call: CallText) -> None:
        """Append a part of a call of a tool."""
        _, written = self.calls.get((choice, call.number), ("", ""))
        self.calls[choice, call.number] = call.name, written + call.arguments

    def count(self, tokens: int, made: float) -> None:
        """Count tokens of a step.

        Args:
            made: time of the step by the clock of the process that computes.
        """
        if not tokens:
            return
        now = time.perf_counter()
        if self.first_token is None:
            self.first_token = now
        if self._emitted is not None:
            self.gaps.append(made - self._emitted)
        self.last_token, self._emitted = now, made
        self.tokens += tokens

    def end(self, state: JobState, error: str = "") -> None:
        self._bytes = self.bytes
        super().end(state, error)

    @property
    def bytes(self) -> int:
        """Estimated size in memory."""
        if not self.active:
            return self._bytes
        steps = [step for trace in self.traces for step in trace.steps] or self.steps[:]
        calls = sum(1 for _ in self.path.walk()) if self.path else 0
        rows = _ROW_BYTES * sum(map(_rows, steps)) + _CALL_BYTES * calls
        return _RECORD_BYTES + len(str(self.body)) + rows


def _rows(step: Step) -> int:
    if isinstance(step, PromptStep):
        return sum(1 + len(position.candidates) for position in step.positions)
    if isinstance(step, DraftRound):
        return sum(1 + len(token.candidates) for token in step.drafted)
    if isinstance(step, BeamStep):
        return len(step.candidates)
    if isinstance(step, CanvasStep):
        return len(step.open) + len(step.candidates) + sum(map(_rows, step.filled))
    assert isinstance(step, TokenStep)
    return len(step.candidates) + 2


class RequestHistory:
    """Latest requests of each owner, visible to this owner only.

    Args:
        most_records, most_bytes: limits for one owner; the oldest finished requests are
            dropped first.
    """

    def __init__(self, most_records: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self.most_records, self.most_bytes = most_records, most_bytes
        self._records: deque[Record] = deque()
        self._made: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, record: Record) -> None:
        """Add a request that starts."""
        with self._lock:
            self._made[record.owner] += 1
            record.number = self._made[record.owner]
            self._records.append(record)
        self.trim(record.owner)

    def of(self, owner: str) -> list[Record]:
        """Return the requests of one owner, newest first."""
        with self._lock:
            return [record for record in reversed(self._records) if record.owner == owner]

    def find(self, owner: str, record_id: str) -> Record | None:
        """Return the owner's request with this id; None if there is none."""
        return next((record for record in self.of(owner) if record.id == record_id), None)

    def bytes_of(self, owner: str) -> int:
        """Return the estimated size of an owner's requests in memory."""
        return sum(record.bytes for record in self.of(owner))

    def clear(self, owner: str) -> None:
        """Drop an owner's finished requests."""
        with self._lock:
            self._records = deque(
                record for record in self._records if record.owner != owner or record.active
            )

    def trim(self, owner: str) -> None:
        """Drop an owner's oldest finished requests until the rest is within the limits."""
        with self._lock:
            sizes = {record: record.bytes for record in self._records if record.owner == owner}
            for record in [record for record in sizes if not record.active]:
                if len(sizes) <= self.most_records and sum(sizes.values()) <= self.most_bytes:
                    return
                self._records.remove(record)
                del sizes[record]
