"""The requests that were made, newest last: a bounded list in memory for each key."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from core.decoding.beam.types import BeamStep
from core.decoding.config import MethodConfig
from core.decoding.record.trace import PromptStep, Step, TokenStep, Trace
from core.decoding.speculative.types import DraftRound
from core.server.api.endpoints import Endpoint

if TYPE_CHECKING:
    from core.traces.data_path.types import DataPath

RequestState: TypeAlias = Literal["loading", "waiting", "running", "finished", "stopped", "failed"]
MOST_RECORDS = 100
# Of all keys together: each has an equal part.
MOST_BYTES = 128 * 2**20
# What a record takes without its run, a row of a step's numbers, a call of the data path: measured.
_RECORD_BYTES, _ROW_BYTES, _CALL_BYTES = 4_000, 400, 600


@dataclass(eq=False)
class Record:
    """One request; its run writes it while pages read it.

    Args:
        owner: who made it: an id of the key, empty where none is needed.
        body: the request's JSON, as it came.
        request_id: of its HTTP request, which its answer carries; empty of one from the pages.
        configs: the settings of each choice as they were normalised.
        steps: of the choice at work.
        traces: of the choices that are complete.
        number: counts the owner's requests from 1.
        gaps: seconds from each emission of a run to its next.
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
    state: RequestState = "loading"
    error: str = ""
    draft: str = ""
    prompt_tokens: int = 0
    configs: tuple[MethodConfig, ...] = ()
    steps: list[Step] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    tokens: int = 0
    began: float = field(default_factory=time.perf_counter)
    first_token: float | None = None
    last_token: float | None = None
    gaps: list[float] = field(default_factory=list)
    ended: float | None = None
    stopping: Event = field(default_factory=Event)
    number: int = 0
    watched: bool = False
    path: DataPath | None = None
    _bytes: int = 0
    _emitted: float | None = None

    @property
    def active(self) -> bool:
        return self.ended is None

    @property
    def method(self) -> str:
        return self.configs[0].method if self.configs else ""

    @property
    def seconds(self) -> float:
        """From the request to its end, or to now."""
        return (self.ended or time.perf_counter()) - self.began

    @property
    def seconds_to_first_token(self) -> float | None:
        return None if self.first_token is None else self.first_token - self.began

    @property
    def tokens_per_second(self) -> float | None:
        """Of the tokens behind the first."""
        if self.first_token is None or self.last_token is None or self.tokens < 2:
            return None
        took = self.last_token - self.first_token
        return (self.tokens - 1) / took if took > 0 else None

    def stop(self) -> None:
        """End the run at its next step."""
        self.stopping.set()

    def begin_run(self) -> None:
        """Its next choice is decoded."""
        self.state, self.steps, self._emitted = "running", [], None

    def count(self, tokens: int) -> None:
        """Tokens came out now."""
        if not tokens:
            return
        now = time.perf_counter()
        if self.first_token is None:
            self.first_token = now
        if self._emitted is not None:
            self.gaps.append(now - self._emitted)
        self.last_token = self._emitted = now
        self.tokens += tokens

    def end(self, state: RequestState, error: str = "") -> None:
        """Nothing more comes."""
        self._bytes = self.bytes
        self.state, self.error, self.ended = state, error, time.perf_counter()

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
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
    """The last requests of each owner, which are shown to nobody else.

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
        """The requests of one owner, newest first."""
        with self._lock:
            return [record for record in reversed(self._records) if record.owner == owner]

    def find(self, owner: str, record_id: str) -> Record | None:
        """One of an owner's requests."""
        return next((one for one in self.of(owner) if one.id == record_id), None)

    def bytes_of(self, owner: str) -> int:
        """About what an owner's requests take in memory."""
        return sum(record.bytes for record in self.of(owner))

    def clear(self, owner: str) -> None:
        """Forget an owner's requests that have ended."""
        with self._lock:
            kept = [one for one in self._records if one.owner != owner or one.active]
            self._records = deque(kept)

    def trim(self, owner: str) -> None:
        """Forget an owner's oldest that have ended, until the rest is within its bounds."""
        with self._lock:
            sizes = {id(one): one.bytes for one in self._records if one.owner == owner}
            count, held = len(sizes), sum(sizes.values())
            for record in [one for one in self._records if one.owner == owner and not one.active]:
                if count <= self.most_records and held <= self.most_bytes:
                    return
                self._records.remove(record)
                count -= 1
                held -= sizes[id(record)]
