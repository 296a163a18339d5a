"""Upload limits for each session and in total; files are deleted when their session ends."""

from __future__ import annotations

import asyncio
from collections import Counter

import streamlit as st
from starlette.formparsers import MultiPartParser
from starlette.requests import ClientDisconnect, Request
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from core.server.hosts import ASGIApp, AsgiMessage, Receive, Send, answer
from pages.ui.platform.uploaded import NO_ROOM

PATH = "/_stcore/upload_file/"
# A page holds at most three files of 5 MB, each beside its replacement.
SESSION_BYTES = 16 * 2**20
TOTAL_BYTES = 256 * 2**20
# Overhead counted for each file.
FILE_BYTES = 4096
# More than Streamlit reads of any upload; above this size Starlette would write to the disk.
MOST_BYTES = 8 * 2**20
# Timeout of an upload: a slow one reserves memory no longer than this.
UPLOAD_SECONDS = 120.0
LOOK_SECONDS = 5.0
NO_LENGTH = "An upload must state its length (Content-Length).\n"
TOO_SLOW = "The upload took too long.\n"
MultiPartParser.spool_max_size = MOST_BYTES


class UploadBounds:
    """Middleware that drops an upload for which there is no room.

    The browser gets a success status, as Streamlit's widget shows only the number of an error
    status. The page then finds no file, and says so (`content_of`).
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.arriving: Counter[str] = Counter()

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        session = scope["path"].partition(PATH)[2].partition("/")[0]
        size = _length(scope)
        if size is None:
            await answer(send, 411, NO_LENGTH)
        elif self._has_room(session, size + FILE_BYTES):
            await self._take(session, size + FILE_BYTES, scope, receive, send)
        elif size <= MOST_BYTES:
            await self._drop(scope, receive, send)
        else:
            await answer(send, 413, NO_ROOM + "\n")

    def _has_room(self, session: str, size: int) -> bool:
        held = held_bytes()
        # The app refuses an upload to an unknown session; until then it isn't counted.
        mine = held.get(session, 0) + self.arriving[session] + size
        everyone = held.total() + self.arriving.total() + size
        return mine <= SESSION_BYTES and everyone <= TOTAL_BYTES

    async def _drop(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Read the upload to its end; otherwise the browser would see a broken connection."""
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                async for _ in Request(scope, receive).stream():
                    pass
        except (TimeoutError, ClientDisconnect):
            return
        await answer(send, 202, NO_ROOM + "\n")

    async def _take(
        self, session: str, size: int, scope: AsgiMessage, receive: Receive, send: Send
    ) -> None:
        known = runtime.get_instance().is_active_session(session)
        self.arriving[session] += size if known else 0
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                await self.app(scope, receive, send)
        except TimeoutError:
            await answer(send, 408, TOO_SLOW)
        except ClientDisconnect:
            return  # There is no client to answer, and nothing to log.
        finally:
            self.arriving[session] -= size if known else 0
            self.arriving = +self.arriving


def held_bytes() -> Counter[str]:
    """Return the size of the stored uploads in bytes, by session."""
    stored = tuple(_manager().file_storage.items())
    return Counter({session: sum(map(_size, tuple(files.values()))) for session, files in stored})


async def forget_ended() -> None:
    """Delete the files of every session that has ended, for as long as the server runs.

    A session that lost its connection may come back for `server.disconnectedSessionTTL` seconds.
    By itself Streamlit drops it only when another session ends, and its files only when Python
    collects the session's garbage.
    """
    loop, gone = asyncio.get_running_loop(), dict[str, float]()
    patience = float(st.get_option("server.disconnectedSessionTTL"))
    while True:
        await asyncio.sleep(min(LOOK_SECONDS, max(patience, 0.2)))
        here = runtime.get_instance().is_active_session
        gone = {s: gone.get(s, loop.time()) for s in tuple(_manager().file_storage) if not here(s)}
        for session in [s for s, since in gone.items() if loop.time() - since >= patience]:
            runtime.get_instance().close_session(session)
            _manager().remove_session_files(session)


def _size(file: UploadedFileRec) -> int:
    return len(file.data) + len(file.name) + len(file.type) + FILE_BYTES


def _manager() -> MemoryUploadedFileManager:
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    return manager


def _length(scope: AsgiMessage) -> int | None:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if len(lengths) == 1 and lengths[0].isdigit() else None
