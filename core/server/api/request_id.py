"""The id of a request in its answer's headers: the client's own where it sends one."""

from __future__ import annotations

import re
import uuid

from core.server.hosts import ASGIApp, AsgiMessage, Receive, Send

HEADER = b"x-request-id"
_ID = re.compile(rb"[\w.:@/+=-]{1,128}", re.ASCII)


class RequestIds:
    """Middleware: each answer carries `x-request-id`, which handlers find in their scope."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        sent = next((value for name, value in scope["headers"] if name.lower() == HEADER), b"")
        own = sent if _ID.fullmatch(sent) else uuid.uuid4().hex.encode()
        scope["request_id"] = own.decode()

        async def named(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, own)]
            await send(message)

        await self.app(scope, receive, named)
