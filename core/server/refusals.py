"""Outermost middleware: adds request ids, writes the endpoint's errors, reads unread bodies."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import traceback
import uuid

from .api.errors import UNEXPECTED, ApiError, stopped
from .api.routes import PATHS
from .hosts import ASGIApp, AsgiMessage, Receive, Send

# What is left of a shorter body arrives by itself.
_SHORT = 2**16
REQUEST_ID = b"x-request-id"
# A client's own id is kept where it has this form.
_ID = re.compile(rb"[\w.:@/+=-]{1,128}", re.ASCII)


class Refusals:
    """Give the endpoint's errors OpenAI's shape, and close connections whose body is left unread.

    An error of the endpoint that is no JSON (of another middleware, of the router, of a crash, of
    the server's end) is written anew, and each of its answers has an id. The server would go on
    reading a body that has no end after its answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
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
        # The first header of a name counts.
        headers = {name.lower(): value for name, value in reversed(list(scope["headers"]))}
        path = scope["path"]
        self.is_api = any(path == api or path.startswith(f"{api}/") for api in PATHS)
        self.started = False
        length = headers.get(b"content-length", b"0")
        bounded = length.isdigit() and int(length[:20]) <= _SHORT
        self._unread = b"transfer-encoding" in headers or not bounded
        self._added: list[tuple[bytes, bytes]] = []
        if self.is_api:
            sent = headers.get(REQUEST_ID, b"")
            request_id = sent if _ID.fullmatch(sent) else uuid.uuid4().hex.encode()
            scope["request_id"] = request_id.decode()
            self._added = [(REQUEST_ID, request_id)]
        self._plain: AsgiMessage | None = None
        self._text = b""

    async def receive(self) -> AsgiMessage:
        message = await self._receive()
        if not message.get("more_body", False):
            self._unread = False
        return message

    async def send(self, message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            if self._unread:
                headers.append((b"connection", b"close"))
            kinds = [value for name, value in headers if name.lower() == b"content-type"]
            is_json = any(kind.startswith(b"application/json") for kind in kinds)
            message = {**message, "headers": headers}
            if self.is_api and message["status"] >= 400 and not is_json:
                self._plain = message
                return
            self.started = True
            message["headers"] = [*headers, *self._added]
        elif self._plain is not None:
            self._text += message.get("body", b"")
            if not message.get("more_body", False):
                text = self._text.decode("utf-8", "replace").strip()
                error = ApiError(text or "Refused.", status=self._plain["status"])
                await self.send_error(error, self._plain["headers"])
            return
        await self._send(message)

    async def send_error(self, error: ApiError, headers: list[tuple[bytes, bytes]]) -> None:
        """Answer with an error, under the headers of the answer that it stands for."""
        self.started = True
        body = json.dumps(error.body()).encode()
        added = {b"content-type": b"application/json", b"content-length": str(len(body)).encode()}
        others = [header for header in headers if header[0].lower() not in added]
        start = {"type": "http.response.start", "status": error.status}
        await self._send({**start, "headers": [*others, *added.items(), *self._added]})
        await self._send({"type": "http.response.body", "body": body})
