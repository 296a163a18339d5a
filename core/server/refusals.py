"""Middleware around all others: ids and errors of the endpoint, and unread bodies."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback

from core.server.api.errors import UNEXPECTED, ApiError, stopped
from core.server.api.request_id import RequestIds
from core.server.hosts import ASGIApp, AsgiMessage, Receive, Send

_ENDPOINT = (
    *("/v1", "/tokenize", "/detokenize", "/tokenizer_info"),
    *("/health", "/ping", "/version", "/metrics"),
)
# What is left of a shorter body arrives by itself.
_SHORT = 2**16


class Refusals:
    """Give the endpoint's errors OpenAI's shape, and close connections whose body is left unread.

    An error of the endpoint that is no JSON (of another middleware, of the router, of a crash, of
    the server's end) is written anew, and each of its answers has an id. The server would go on
    reading a body that has no end after its answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._with_id = RequestIds(self._answer)

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif _is_api(scope["path"]):
            await self._with_id(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        exchange = _Exchange(scope, receive, send)
        try:
            await self.app(scope, exchange.receive, exchange.send)
        except asyncio.CancelledError:
            # The server ends, and has waited for this answer as long as it waits.
            if not exchange.is_api or exchange.started:
                raise
            await exchange.send_error(stopped(), [])
        except Exception:
            if not exchange.is_api or exchange.started:
                raise
            traceback.print_exc(file=sys.stderr)
            await exchange.send_error(ApiError(UNEXPECTED, status=500, code="server_error"), [])


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.is_api = _is_api(scope["path"])
        self.started = False
        self._unread = _has_long_body(scope)
        self._plain: AsgiMessage | None = None
        self._text = b""

    async def receive(self) -> AsgiMessage:
        message = await self._receive()
        if not message.get("more_body", False):
            self._unread = False
        return message

    async def send(self, message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            if self._unread:
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
            if self.is_api and message["status"] >= 400 and not _is_json(message):
                self._plain = message
                return
            self.started = True
        elif self._plain is not None:
            self._text += message.get("body", b"")
            if not message.get("more_body", False):
                text = self._text.decode("utf-8", "replace").strip()
                error = ApiError(text or "Refused.", status=self._plain["status"])
                await self.send_error(error, list(self._plain.get("headers", ())))
            return
        await self._send(message)

    async def send_error(self, error: ApiError, headers: list[tuple[bytes, bytes]]) -> None:
        """Answer with an error, under the headers of the answer that it stands for."""
        self.started = True
        body = json.dumps(error.body()).encode()
        own = {b"content-type": b"application/json", b"content-length": str(len(body)).encode()}
        others = [one for one in headers if one[0].lower() not in own]
        start = {"type": "http.response.start", "status": error.status}
        await self._send({**start, "headers": [*others, *own.items()]})
        await self._send({"type": "http.response.body", "body": body})


def _is_api(path: str) -> bool:
    return any(path == own or path.startswith(f"{own}/") for own in _ENDPOINT)


def _has_long_body(scope: AsgiMessage) -> bool:
    headers = {name.lower(): value for name, value in scope["headers"]}
    length = headers.get(b"content-length", b"0")
    return b"transfer-encoding" in headers or not length.isdigit() or int(length[:20]) > _SHORT


def _is_json(message: AsgiMessage) -> bool:
    headers = {name.lower(): value for name, value in message.get("headers", ())}
    return bytes(headers.get(b"content-type", b"")).startswith(b"application/json")
