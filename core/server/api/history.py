"""History of the requests: a bounded list in memory for each key."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.decoding.beam.types import BeamStep
from core.decoding.config import MethodConfig
from core.decoding.record.steps import PromptStep, Step, TokenStep
from core.decoding.record.trace import Trace
from core.decoding.speculative.types import DraftRound
from core.server.api.endpoints import Endpoint
from core.server.api.job import RequestJob
from core.server.job import JobState

if TYPE_CHECKING:
    from core.traces.data_path.types import DataPath

MOST_RECORDS = 100
# Of all keys together: each has an equal part.
MOST_BYTES = 128 * 2**20
# What a record takes without its run, a row of a step's numbers, a call of the data path: measured.
_RECORD_BYTES, _ROW_BYTES, _CALL_BYTES = 4_000, 400, 600


@dataclass(eq=False, kw_only=True)
class Record(RequestJob):
    """Job of one request; pages read it while it goes on.

    Args:
        owner: who made it: an id of the key, empty where none is needed.
        body: the request's JSON, as it came.
        request_id: of its HTTP request, which its answer carries; empty of one from the pages.
        configs: the settings of each choice as they were normalised.
        traces: of the choices that are complete.
        number: counts the owner's requests from 1.
        gaps: seconds from each emission of a run to its next, where the model computes.
        watched: whether its data path is recorded.
        path: the functions that it went through: those that read it, and once its run has ended
            those of the run.
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
    path: DataPath | None = None
    _bytes: int = 0
    _emitted: float | None = None

    def __post_init__(self) -> None:
        self.session = ("api", self.owner)

    @property
    def method(self) -> str:
        return self.configs[0].method if self.configs else ""

    @property
    def seconds_to_first_token(self) -> float | None:
        return None if self.first_token is None else self.first_token - self.started

    @property
    def tokens_per_second(self) -> float | None:
        """Speed of the tokens behind the first."""
        if self.first_token is None or self.last_token is None or self.tokens < 2:
            return None
        took = self.last_token - self.first_token
        return (self.tokens - 1) / took if took > 0 else None

    def begin_run(self) -> None:
        """Forget the steps and the last emission of the run before."""
        self.steps, self._emitted = [], None

    def count(self, tokens: int, made: float) -> None:
        """Note that tokens have come, which were made at that time of the process that computes."""
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
    assert isinstance(step, TokenStep)
    return len(step.candidates) + 2


class RequestHistory:
    """Last requests of each owner, which are shown to nobody else.

    Args:
        most_records, most_bytes: bounds of one owner's requests; the oldest that have ended go
            first.
    """

    def __init__(self, most_records: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self.most_records, self.most_bytes = most_records, most_bytes
        self._records: deque[Record] = deque()
        self._made: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, record: Record) -> None:
        """Hold a request that begins."""
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
        """Return one of an owner's requests."""
        return next((record for record in self.of(owner) if record.id == record_id), None)

    def bytes_of(self, owner: str) -> int:
        """Return the estimated size of an owner's requests in memory."""
        return sum(record.bytes for record in self.of(owner))

    def clear(self, owner: str) -> None:
        """Forget an owner's requests that have ended."""
        with self._lock:
            self._records = deque(
                record for record in self._records if record.owner != owner or record.active
            )

    def trim(self, owner: str) -> None:
        """Forget an owner's oldest that have ended, until the rest is within its bounds."""
        with self._lock:
            sizes = {record: record.bytes for record in self._records if record.owner == owner}
            for record in [record for record in sizes if not record.active]:
                if len(sizes) <= self.most_records and sum(sizes.values()) <= self.most_bytes:
                    return
                self._records.remove(record)
                del sizes[record]
