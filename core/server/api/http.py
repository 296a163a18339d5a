"""Read bodies and send answers, with limits, and detect clients that disconnect or stall."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ...language import Message
from ...traces.bounded_file import require_sparse
from ..hosts import AsgiMessage, Receive, Send
from .answer.parts import AllEnded, AnswerPart, Failed
from .errors import ApiError, as_api_error
from .service import Feed, RequestPlace

if TYPE_CHECKING:
    from .submit import Submission

MAX_BODY = 2**20
# Limit on lists and objects in a body.
MAX_VALUES = 50_000
BODY_SECONDS = 30.0
# A client that receives nothing for this long counts as gone.
SEND_SECONDS = 60.0
_CHUNK = 2**16
# Answers with more log-probabilities per token are written in a thread, not in the event loop.
_MANY = 100


async def read_body(request: Request) -> bytes:
    """Read a request's body.

    Raises:
        ApiError: another content type, too many bytes, or too slow.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError("Send the body as application/json.", status=415)
    too_large = ApiError(f"A body holds at most {MAX_BODY:,} bytes.", status=413)
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > MAX_BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise too_large
    except TimeoutError:
        raise ApiError("The body took too long.", status=408) from None
    except ClientDisconnect:
        raise ApiError("The body is incomplete.") from None
    return bytes(body)


def json_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in a body.

    Raises:
        ApiError: the body is no JSON object.
    """
    require_sparse(raw, Message("body"), ApiError, MAX_VALUES)
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError:
        raise ApiError(
            "The body is not UTF-8, or holds half of a surrogate pair, which is no character.",
            code="invalid_json",
        ) from None
    except RecursionError:
        raise ApiError("The body is nested too deeply.", code="invalid_json") from None
    except ValueError:
        raise ApiError("The body is not JSON.", code="invalid_json") from None
    if not isinstance(value, dict):
        raise ApiError("The body must be a JSON object.", code="invalid_json")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def error_response(error: ApiError) -> Response:
    """Return the response for an error, in OpenAI's format."""
    headers = {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(json.dumps(error.body()), error.status, headers, media_type="application/json")


class Reply:
    """ASGI application that answers one request from the parts of its run.

    Args:
        keep: called with the complete answer, before it is sent completely.
    """

    def __init__(
        self, submission: Submission, feed: Feed, slot: RequestPlace, keep: Callable[[], None]
    ) -> None:
        plan = submission.plan
        self._writer, self._record = submission.writer, submission.record
        self._feed, self._slot, self._keep = feed, slot, keep
        self._stream = plan.stream
        self._aside = plan.logprobs is not None and not 0 <= plan.logprobs.top <= _MANY

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        del scope
        answering = asyncio.create_task(self._send_answer(_patient(send)))
        gone = asyncio.create_task(hang_up(receive))
        try:
            await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # No effect after a complete answer.
            self._record.stop()
            for task in (answering, gone):
                task.cancel()
            self._slot.leave()
        with suppress(asyncio.CancelledError, TimeoutError, OSError):
            await answering

    async def _send_answer(self, send: Send) -> None:
        part = await self._feed.get()
        if self._stream and not isinstance(part, Failed):
            await self._send_events(send, part)
            return
        while not isinstance(part, AllEnded | Failed):
            self._writer.answer.take(part)
            part = await self._feed.get()
        if isinstance(part, Failed):
            await self._send_whole(send, part.error.status, part.error.body())
            return
        body = await asyncio.to_thread(self._writer.body)
        await asyncio.to_thread(self._keep)
        await self._send_whole(send, 200, body)

    async def _send_events(self, send: Send, part: AnswerPart) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            # nginx would buffer events.
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while True:
            ended = isinstance(part, AllEnded)
            beside = self._aside or ended
            text = await asyncio.to_thread(self._events, part) if beside else self._events(part)
            if ended:
                await asyncio.to_thread(self._keep)
            if text:
                await _send_text(send, text, more=True)
            if isinstance(part, AllEnded | Failed):
                await _send_text(send, "", more=False)
                return
            part = await self._feed.get()

    def _events(self, part: AnswerPart) -> str:
        self._writer.answer.take(part)
        try:
            return "".join(self._writer.events(part))
        except Exception as error:
            self._record.stop()
            return "".join(self._writer.events(Failed(as_api_error(error))))

    async def _send_whole(self, send: Send, status: int, body: Mapping[str, Any]) -> None:
        text = await asyncio.to_thread(json.dumps, body, separators=(",", ":"), allow_nan=False)
        size = str(len(text.encode())).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", size)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await _send_text(send, text, more=False)


def _patient(send: Send) -> Send:
    """Return a `send` with a timeout for clients that receive nothing."""

    async def bounded(message: AsgiMessage) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await send(message)

    return bounded


async def _send_text(send: Callable[[AsgiMessage], Awaitable[None]], text: str, more: bool) -> None:
    raw = text.encode()
    for first in range(0, max(len(raw), 1), _CHUNK):
        more_body = more or first + _CHUNK < len(raw)
        piece = raw[first : first + _CHUNK]
        await send({"type": "http.response.body", "body": piece, "more_body": more_body})


async def hang_up(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
