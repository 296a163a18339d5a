"""State of the endpoint: keys, running requests, and finished requests."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...decoding.errors import LoadingStoppedError, LostModelError, ModelError
from ..queue import FairQueue
from ..worker.workers import IN_PROCESS, Workers
from . import history, store
from .answer.parts import AnswerPart, Failed
from .errors import ApiError, as_api_error, stopped
from .history import Record, RequestHistory
from .metrics import Metrics
from .store import ResponseStore

if TYPE_CHECKING:
    from .request.plan import Plan
    from .run.runner import Load

# Limit on unfinished requests; each may wait for its turn.
MOST_REQUESTS = 64
RETRY_SECONDS = 2
NO_KEY = (
    "The endpoint is closed: this server can be reached from other machines and has no key; set "
    "DECODING_EXPLORER_API_KEYS."
)


class Feed:
    """Queue of parts from a run's thread to the event loop; must be created in the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parts: asyncio.Queue[AnswerPart] = asyncio.Queue()

    def put(self, part: AnswerPart) -> None:
        """Add a part, from any thread; after the server's end it is dropped."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._parts.put_nowait, part)

    async def get(self) -> AnswerPart:
        """Wait for the next part and return it."""
        return await self._parts.get()


class RequestPlace:
    """A request's place among the unfinished ones; free after its run and its answer have ended."""

    def __init__(self, free: Callable[[], None]) -> None:
        self._free, self._left, self._lock = free, 2, Lock()

    def leave(self) -> None:
        """Leave the place: the run and the reply each call this once."""
        with self._lock:
            self._left -= 1
            last = self._left == 0
        if last:
            self._free()


class Service:
    """State behind the routes; pages read its history.

    Args:
        load: loads a model by name.
        offered: returns the names of the offered models.
        keys: accepted API keys; without any, no key is needed.
        closed: reason why the endpoint is closed; empty if it is open.
    """

    def __init__(
        self,
        *,
        load: Load,
        offered: Callable[[], Sequence[str]],
        queue: FairQueue,
        workers: Workers = IN_PROCESS,
        keys: Collection[str] = (),
        closed: str = "",
    ) -> None:
        self._load, self.offered, self.queue, self.closed = load, offered, queue, closed
        self._workers = workers
        # An owner's id reveals nothing of the key.
        self._keys = {
            hashlib.sha256(b"owner " + _digest(key)).hexdigest()[:16]: _digest(key) for key in keys
        }
        owners = max(1, len(self._keys))
        self.history = RequestHistory(most_bytes=history.MOST_BYTES // owners)
        self.responses = ResponseStore(most_bytes=store.MOST_BYTES // owners)
        self.metrics = Metrics()
        self.created = int(time.time())
        self._under_way: Counter[str] = Counter()
        self._runs: dict[Record, Callable[[AnswerPart], None]] = {}
        self._watching: set[str] = set()
        self._ending = False
        self._lock = Lock()
        self.metrics.running.set_function(lambda: self._under_way.total())
        self.metrics.waiting.set_function(lambda: queue.waiting + len(workers.sessions))

    def load(self, where: str, should_stop: Callable[[], bool]) -> Any:
        """Return the model with this name; a load failure is a server error (503)."""
        try:
            return self._load(where, should_stop)
        except (LoadingStoppedError, LostModelError):
            raise
        except ModelError as error:
            raise ApiError(str(error), status=503, code="model_unavailable") from None

    @property
    def needs_key(self) -> bool:
        return bool(self._keys)

    def owner_of(self, key: str) -> str:
        """Return the id of a key's owner; empty if no key is needed.

        Raises:
            ApiError: the key is unknown.
        """
        if not self._keys:
            return ""
        digest = _digest(key)
        # Compare with every key, against timing attacks.
        matches = [
            owner for owner, known in self._keys.items() if hmac.compare_digest(known, digest)
        ]
        if not matches:
            raise ApiError(
                "A key of this server is needed: send it as Authorization: Bearer KEY.",
                status=401,
                code="invalid_api_key",
            )
        return matches[0]

    def watch(self, owner: str, on: bool) -> None:
        """Switch the recording of the data path of this owner's next requests on or off."""
        (self._watching.add if on else self._watching.discard)(owner)

    def watches(self, owner: str) -> bool:
        """Return True if the data path of this owner's requests is recorded."""
        return owner in self._watching

    def enter(self, owner: str) -> RequestPlace:
        """Return a place for a request.

        Raises:
            ApiError: too many requests are unfinished, in total or with this key.
        """
        most = max(1, MOST_REQUESTS // max(1, len(self._keys)))
        with self._lock:
            if self._under_way[owner] >= most or self._under_way.total() >= MOST_REQUESTS:
                raise ApiError(
                    f"{most} requests are under way already; try again in {RETRY_SECONDS} s.",
                    status=429,
                    code="rate_limit_exceeded",
                    retry_after=RETRY_SECONDS,
                )
            self._under_way[owner] += 1

        def free() -> None:
            with self._lock:
                self._under_way[owner] -= 1

        return RequestPlace(free)

    def start(
        self, plan: Plan, record: Record, put: Callable[[AnswerPart], None], slot: RequestPlace
    ) -> None:
        """Start a run in a new thread."""
        self.history.add(record)
        self._runs[record] = put
        if self._ending:
            _stop(record, put)

        def work(_: Record) -> None:
            from .run.runner import Runner  # It imports torch.

            Runner(plan, record, self.load, self.queue, self._workers, put).run()

        def leave() -> None:
            del self._runs[record]
            slot.leave()

        def then() -> None:
            try:
                put(record.last_part)
                self.metrics.ended(record)
                self.history.trim(record.owner)
            finally:
                leave()

        try:
            record.start(work, then)
        except Exception as error:
            # Neither the run nor its reply calls `leave` then.
            leave()
            slot.leave()
            raise as_api_error(error) from error

    def end(self) -> None:
        """Stop all current and later runs at shutdown, and send the error to their clients."""
        self._ending = True
        for record, put in list(self._runs.items()):
            _stop(record, put)


def _stop(record: Record, put: Callable[[AnswerPart], None]) -> None:
    record.stop()
    put(Failed(stopped()))


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
