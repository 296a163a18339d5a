"""From a request's body to its run, whoever made it: a client over HTTP, or a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.server.api.answer import Answer
from core.server.api.chat import ChatAnswer, read_chat
from core.server.api.completions import CompletionAnswer, read_completion
from core.server.api.endpoints import Endpoint
from core.server.api.history import Record
from core.server.api.models import require_offered
from core.server.api.parts import AnswerPart
from core.server.api.plan import Plan
from core.server.api.response_events import ResponseAnswer
from core.server.api.responses import read_response
from core.server.api.service import Service, Slot


@dataclass(frozen=True, slots=True)
class Submission:
    """A request that was read.

    Args:
        answer: writes its answer.
        record: what the history keeps of it.
        keep: holds the whole answer for requests that go on from it.
    """

    plan: Plan
    answer: Answer
    record: Record
    keep: Callable[[], None]

    def start(self, service: Service, put: Callable[[AnswerPart], None]) -> Slot:
        """Begin its run; `put` gets the parts of the answer, from another thread.

        Raises:
            ApiError: too many requests are under way.
        """
        slot = service.enter(self.record.owner)
        service.start(self.plan, self.record, put, slot)
        return slot


def submit(service: Service, endpoint: Endpoint, body: Mapping[str, Any], owner: str) -> Submission:
    """Read a request; nothing is started yet.

    Raises:
        ApiError: what is wrong with it.
    """
    plan, answer, keep = _READERS[endpoint](service, body, owner)
    for name, param in zip(plan.models, ("model", "decoding"), strict=False):
        require_offered(name, service.offered(), param)
    record = Record(
        id=answer.id,
        endpoint=plan.endpoint,
        model=plan.model,
        draft=plan.asked.draft,
        owner=owner,
        prompt=plan.prompt_text,
        body=body,
        watched=service.watches(owner),
    )
    return Submission(plan, answer, record, keep)


def recorded(service: Service, owner: str, read: Callable[[], Submission]) -> Submission:
    """Read a request; where its owner watches, its data path begins with the reading."""
    if not service.watches(owner):
        return read()
    from core.traces.data_path.recorder import record  # It imports torch.

    with record() as recorder:
        found = read()
    found.record.path = recorder.path
    return found


_Read = tuple[Plan, Answer, Callable[[], None]]


def _chat(service: Service, body: Mapping[str, Any], owner: str) -> _Read:
    del service, owner
    plan, usage = read_chat(body)
    return plan, ChatAnswer(plan, usage), _nothing_to_keep


def _completion(service: Service, body: Mapping[str, Any], owner: str) -> _Read:
    del service, owner
    plan, options = read_completion(body)
    return plan, CompletionAnswer(plan, options), _nothing_to_keep


def _response(service: Service, body: Mapping[str, Any], owner: str) -> _Read:
    held = service.responses
    plan, options = read_response(body, lambda one: held.find(owner, one).messages)
    answer = ResponseAnswer(plan, options)

    def keep() -> None:
        if options.store:
            said = {"role": "assistant", "content": answer.choices[0].answer}
            held.add(owner, answer.body(), (*options.messages, said))

    return plan, answer, keep


def _nothing_to_keep() -> None:
    """Only responses are kept."""


_READERS: dict[Endpoint, Callable[[Service, Mapping[str, Any], str], _Read]] = {
    "responses": _response,
    "chat": _chat,
    "completions": _completion,
}
