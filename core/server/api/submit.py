"""Read a request's body and start its run, for HTTP clients and for pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .answer.chat import ChatWriter
from .answer.completions import CompletionWriter
from .answer.parts import AnswerPart
from .answer.record import Answer
from .answer.responses import ResponseWriter
from .answer.writer import AnswerWriter
from .endpoints import Endpoint
from .history import Record
from .models import require_offered
from .request.chat import read_chat
from .request.completions import read_completion
from .request.plan import Plan
from .request.responses import read_response
from .service import RequestPlace, Service

_WRITERS: Mapping[Endpoint, type[AnswerWriter]] = {
    "responses": ResponseWriter,
    "chat": ChatWriter,
    "completions": CompletionWriter,
}


@dataclass(frozen=True, slots=True)
class Submission:
    """A request after reading.

    Args:
        record: the request's job, which the history keeps.
    """

    plan: Plan
    writer: AnswerWriter
    record: Record

    def start(self, service: Service, put: Callable[[AnswerPart], None]) -> RequestPlace:
        """Start the run; `put` receives the parts of the answer, in another thread.

        Raises:
            ApiError: too many requests are unfinished.
        """
        slot = service.enter(self.record.owner)
        service.start(self.plan, self.record, put, slot)
        return slot

    def keep(self, service: Service) -> None:
        """Store the whole response for requests that continue it."""
        options = self.plan.response
        if options and options.store:
            choice = self.writer.answer.choices[0]
            messages = (*options.messages, choice.message)
            service.responses.add(self.record.owner, self.writer.body(), messages)


def submit(service: Service, endpoint: Endpoint, body: Mapping[str, Any], owner: str) -> Submission:
    """Read a request and return it, without starting it.

    Raises:
        ApiError: the request is invalid.
    """
    if endpoint == "responses":
        stored = service.responses
        plan = read_response(body, lambda earlier: stored.find(owner, earlier).messages)
    else:
        plan = read_chat(body) if endpoint == "chat" else read_completion(body)
    for name, param in zip(plan.models, ("model", "decoding"), strict=False):
        require_offered(name, service.offered(), param)
    answer = Answer(plan)
    record = Record(
        id=answer.id,
        endpoint=plan.endpoint,
        model=plan.model,
        draft=plan.settings.draft,
        owner=owner,
        prompt=plan.prompt_text,
        body=body,
        watched=service.watches(owner),
    )
    return Submission(plan, _WRITERS[endpoint](answer), record)


def recorded(service: Service, owner: str, read: Callable[[], Submission]) -> Submission:
    """Read a request; record its data path if the owner has switched this on."""
    if not service.watches(owner):
        return read()
    from ...traces.data_path.recorder import record  # It imports torch.

    with record() as recorder:
        submission = read()
    submission.record.path = recorder.path
    return submission
