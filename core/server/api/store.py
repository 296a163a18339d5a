"""Store of responses that requests can continue: bounded memory for each key."""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from .errors import ApiError
from .request.messages import ChatMessage

MOST_RESPONSES = 500
# Limit for all keys together; each key gets an equal part.
MOST_BYTES = 32 * 2**20


class Stored(NamedTuple):
    """A response and its conversation."""

    body: Mapping[str, Any]
    messages: tuple[ChatMessage, ...]
    bytes: int


class ResponseStore:
    """Latest responses of each owner; the owner's oldest ones are dropped first.

    Args:
        most, most_bytes: limits for one owner.
    """

    def __init__(self, most: int = MOST_RESPONSES, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._held: defaultdict[str, OrderedDict[str, Stored]] = defaultdict(OrderedDict)
        self._lock = Lock()

    def add(self, owner: str, body: Mapping[str, Any], messages: tuple[ChatMessage, ...]) -> None:
        """Store a response; a response above the byte limit is not stored."""
        size = len(json.dumps(body)) + sum(len(json.dumps(message)) for message in messages)
        with self._lock:
            responses = self._held[owner]
            responses[body["id"]] = Stored(body, messages, size)
            held = sum(response.bytes for response in responses.values())
            while len(responses) > self._most or held > self._most_bytes:
                held -= responses.popitem(last=False)[1].bytes

    def find(self, owner: str, response_id: str) -> Stored:
        """Return a response of this owner.

        Raises:
            ApiError: no response has this id, or it was dropped.
        """
        with self._lock:
            response = self._held[owner].get(response_id)
        if response is None:
            raise ApiError(
                "There is no response of this id: it was not stored, it was forgotten (the last "
                f"{self._most} are held), or another key made it.",
                status=404,
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return response

    def remove(self, owner: str, response_id: str) -> None:
        """Delete a response; raise ApiError as `find` does."""
        self.find(owner, response_id)
        with self._lock:
            self._held[owner].pop(response_id, None)
