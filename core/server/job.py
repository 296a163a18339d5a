"""Job: work on the models in a thread of its own, with its turn, its stop and its failure.

Pages and the endpoint run their work as such jobs; `ModelJob.run` is the place where it is called.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Literal, Self, TypeAlias

from ..decoding.beam.types import BeamStep
from ..decoding.errors import LoadingStoppedError
from ..decoding.record.steps import Step
from ..models.stopping import stoppable
from .queue import FairQueue, Turn

JobState: TypeAlias = Literal["loading", "waiting", "running", "finished", "stopped", "failed"]


class StoppedError(Exception):
    """The job was stopped before its work was done: it has no result."""


@dataclass(eq=False, kw_only=True)
class ModelJob(ABC):
    """One piece of work; others read these fields while it goes on.

    Args:
        session: in the queue, jobs of one session share its time; None for a session of its own.
        steps: of the run at work.
        error: why it failed, in one sentence.
        started, ended: times of `time.perf_counter`.
    """

    session: Hashable = None
    state: JobState = "loading"
    steps: list[Step] = field(default_factory=list)
    result: Any = None
    error: str = ""
    started: float = field(default_factory=time.perf_counter)
    ended: float | None = None
    stopping: Event = field(default_factory=Event)
    done: Event = field(default_factory=Event)

    @property
    def active(self) -> bool:
        return not self.done.is_set()

    @property
    def seconds(self) -> float:
        """Time from the start to the end, or to now."""
        return (self.ended or time.perf_counter()) - self.started

    @abstractmethod
    def explain(self, error: Exception) -> str:
        """Return the sentence for a failure; log one that nobody expected."""

    def stop(self) -> None:
        """End the work at its next step."""
        self.stopping.set()

    def should_stop(self) -> bool:
        """Return whether the work is to end; asked by the work itself."""
        return self.stopping.is_set()

    @contextmanager
    def turn_in(self, queue: FairQueue) -> Iterator[Turn]:
        """Wait in the queue for the turn to use the models, then hold it.

        Raises:
            StoppedError: the job was stopped while it waited.
        """
        self.state = "waiting"
        with queue.turn(self.should_stop, self.session) as turn:
            if not turn.held:
                raise StoppedError
            self.state = "running"
            yield turn

    def start(self, work: Callable[[Self], Any], then: Callable[[], None] = lambda: None) -> None:
        """Run `work(job)` in a thread; `then` is called in it once the job has ended.

        Raises:
            Exception: the system has no more threads or memory; the job has failed then.
        """

        def run() -> None:
            self.run(work)
            then()

        try:
            Thread(target=run, daemon=True, name="decoding").start()
        except Exception as error:
            self.end("failed", self.explain(error))
            raise

    def run(self, work: Callable[[Self], Any]) -> None:
        """Do the work in this thread; what it returns becomes `result`."""
        state: JobState = "finished"
        sentence = ""
        try:
            # Chat templates and the reading of weights ask whether to stop.
            with stoppable(self.should_stop):
                self.result = work(self)
        except (StoppedError, LoadingStoppedError):
            state = "stopped"
        except Exception as error:
            state, sentence = "failed", self.explain(error)
        finally:
            self.end(state, sentence)

    def end(self, state: JobState, error: str = "") -> None:
        """Mark the job as ended: no more output follows."""
        self.state, self.error, self.ended = state, error, time.perf_counter()
        self.done.set()


def tokens_in(step: Step) -> int:
    """Count the tokens that a step emits; of a beam search the one of its longest path."""
    return 1 if isinstance(step, BeamStep) else len(step.token_ids)
