"""Handling of lost websockets and of messages that Streamlit can't read."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress

from google.protobuf.message import DecodeError
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg

from core.server.hosts import ASGIApp, AsgiMessage, Receive, Send

# Close code of RFC 6455 for a protocol error.
_PROTOCOL_ERROR = 1002


class QuietDepartures:
    """Middleware that keeps three client errors from filling the log with tracebacks.

    Streamlit closes a lost websocket a second time, and logs an unreadable message with a
    traceback. Here such a message closes the connection, and the log gets one line. Text that is
    not UTF-8 is also logged in one line.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        logging.getLogger("uvicorn.error").addFilter(_in_one_line)

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        async def readable() -> AsgiMessage:
            message = await receive()
            if message["type"] != "websocket.receive" or _is_readable(message.get("bytes")):
                return message
            print("Closed a websocket that sent an unreadable message.", file=sys.stderr)
            await send({"type": "websocket.close", "code": _PROTOCOL_ERROR, "reason": ""})
            return {"type": "websocket.disconnect", "code": _PROTOCOL_ERROR}

        with suppress(WebSocketDisconnected):
            await self.app(scope, readable if scope["type"] == "websocket" else receive, send)


def _in_one_line(record: logging.LogRecord) -> bool:
    if record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError):
        record.exc_info = None
    return True


def _is_readable(data: bytes | None) -> bool:
    try:
        BackMsg.FromString(data or b"\xff")
    except DecodeError:
        return False
    return True
