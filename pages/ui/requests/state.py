"""Session state of the Requests page: a request, and the selected step of its run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from core.decoding.record.steps import NO_RECORD, TokenStep
from core.decoding.record.trace import Timings, Trace
from core.decoding.speculative.types import DraftRecord
from core.language import N_
from core.server.api.history import Record
from core.traces.foreign import ForeignAnswer
from pages.ui.run import jobs
from pages.ui.run.view import View

# A request's state, as the page says it.
STATES = {
    "loading": N_("loading the model"),
    "waiting": N_("waiting for its turn"),
    "running": N_("decoding"),
    "finished": N_("finished"),
    "stopped": N_("stopped"),
    "failed": N_("failed"),
}


@dataclass(eq=False)
class RequestsView(View):
    """One session's view of the requests; `first` is the first step of the heatmap.

    Args:
        chosen: the id of the request that is looked at; empty to follow the newest.
        beside: the id of the request whose text stands beside it.
        choice: which of the request's choices.
        owner: whose requests are seen: an id of the key; None where one is needed.
        drawn: what of the chosen request the page was drawn from.
        foreign: another server's answer that is looked at instead, and which of its tokens.
    """

    key: ClassVar[str] = "requests_view"
    example: ClassVar[str] = "decode.json"

    chosen: str = ""
    beside: str = ""
    choice: int = 0
    owner: str | None = None
    drawn: tuple[str, int] = ("", 0)
    foreign: ForeignAnswer | None = None
    foreign_at: int = 0

    @classmethod
    def initial(cls) -> Self:
        """Nothing: the requests are the server's."""
        return cls()

    def choose(self, record_id: str, beside: str = "") -> None:
        """Look at a request."""
        self.chosen, self.beside, self.choice = record_id, beside, 0
        self.foreign = None

    def take_choice(self, at: int) -> None:
        """Look at another choice of the request."""
        self.choice = at

    def look_at_example(self) -> None:
        """Before there is any request: a stored run."""
        if self.source == "example":
            return
        self.drawn, self.trace = ("", 0), None
        if (example := self.load_example()) is not None:
            self.show(example, "example")

    def look_at(self, record: Record) -> None:
        """Show the run of a request that has one; its proof is made anew."""
        traces = record.traces
        at = min(self.choice, len(traces) - 1)
        now = (record.id, at)
        if now == self.drawn:
            return
        self.drawn = now
        if traces:
            self.show(traces[at], "request")
            self.begin("check", jobs.check_trace(traces[at], with_model=False))
        else:
            self.drop(*self.of_trace)
            self.trace, self.source = None, "none"


def partial_trace_of(record: Record) -> Trace | None:
    """A request's run so far; None before its prompt is known."""
    steps = tuple(record.steps)
    if not record.configs:
        return None
    emitted = [step for step in steps if isinstance(step, TokenStep)]
    return Trace(
        model_id=record.model,
        prompt=record.prompt,
        prompt_ids=(),
        config=record.configs[min(len(record.traces), len(record.configs) - 1)],
        steps=steps,
        token_ids=tuple(step.token_id for step in emitted),
        text="".join(getattr(step, "text", "") for step in steps),
        finish_reason="cancelled",
        timings=Timings(0.0, 0.0, record.seconds),
        method_record=DraftRecord(record.draft) if record.draft else NO_RECORD,
    )
