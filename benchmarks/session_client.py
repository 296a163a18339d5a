"""A visitor without a browser: Streamlit's protocol over a websocket, as its frontend speaks it.

It presses a button, answers the timers that a page sets, and asks for the rest of a page once its
first chart is there. It draws nothing, so that many visitors fit beside a server on one machine.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.util import calc_hash
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 180.0
_FRAME_AND_REST = 0.066
_TRIGGERS = "$$STREAMLIT_INTERNAL_KEY_{}__events"


class Visitor:
    """One session; its fields tell what the page shows, and `wait_until` waits for it.

    Args:
        port: of a server on this machine.
        query: of the address, without the question mark.
        page: path of the page.
    """

    def __init__(self, port: int, query: str = "", page: str = "decode") -> None:
        self._port, self._query = port, query
        self._page = calc_hash(page)
        self._hashes: set[str] = set()
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._changed = asyncio.Event()
        self._fragments = False
        self._painted: asyncio.Task[None] | None = None
        self.buttons: dict[str, str] = {}
        self.texts: dict[str, float] = {}
        self.charts = 0
        self.running = True
        self.finished = 0
        self.errors: list[str] = []
        self.received = 0
        self.live_tokens = 0
        self.seconds: list[float] = []

    async def __aenter__(self) -> Self:
        """Open the page."""
        address = f"ws://127.0.0.1:{self._port}/_stcore/stream"
        # A browser sends no pings either.
        self._socket: ClientConnection = await connect(
            address,
            subprotocols=["streamlit"],
            max_size=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        )
        self._reader = asyncio.create_task(self._read())
        await self.rerun()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the tab."""
        for _, timer in self._timers.values():
            timer.cancel()
        self._reader.cancel()
        await self._socket.close()

    async def rerun(self, *states: WidgetState, fragment: str = "") -> None:
        """Ask for a run of the page, or of one part of it."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = self._query
        asked.page_script_hash = self._page
        asked.fragment_id = fragment
        asked.is_auto_rerun = bool(fragment)
        asked.cached_message_hashes.extend(self._hashes)
        asked.widget_states.widgets.extend(states)
        await self._socket.send(message.SerializeToString())

    async def press(self, label: str) -> float:
        """Press the button that says this; when it was pressed."""
        self.live_tokens = 0
        self.texts.clear()
        await self.rerun(WidgetState(id=self.buttons[label], trigger_value=True))
        return perf_counter()

    async def tell(self, component: str, event: str, value: object) -> float:
        """Send an event of a component, by its id; when it was sent."""
        events = json.dumps([{"event": event, "value": value}])
        await self.rerun(WidgetState(id=_TRIGGERS.format(component), json_trigger_value=events))
        return perf_counter()

    async def wait_until(self, holds: Callable[[], bool], patience: float = PATIENCE) -> float:
        """When it holds, asked after each message.

        Raises:
            TimeoutError: it didn't in time.
        """
        async with asyncio.timeout(patience):
            while not holds():
                if self._reader.done():
                    self._reader.result()
                    raise ConnectionError("The server closed the connection.")
                self._changed.clear()
                await self._changed.wait()
        return perf_counter()

    async def full_run(self) -> float:
        """Seconds of a run of the whole page, from asking until it has ended."""
        started, before = perf_counter(), self.finished
        await self.rerun()
        return await self.wait_until(lambda: self.finished > before) - started

    def shows(self, words: str) -> bool:
        """Whether a text with these words was drawn since the last press."""
        return any(words in text for text in self.texts)

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                assert isinstance(data, bytes)
                self.received += len(data)
                await self._take(ForwardMsg.FromString(data))
                self._changed.set()
        finally:
            self._changed.set()

    async def _take(self, message: ForwardMsg) -> None:
        if message.hash and message.metadata.cacheable:
            self._hashes.add(message.hash)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page = message.new_session.page_script_hash
            self._fragments = bool(message.metadata.run.fragment_ids)
            self.running = True
            if not self._fragments:
                for name in list(self._timers):
                    self._stop(name)
        elif kind == "script_finished":
            self.running = False
            # Of a run that was cut off for another one there follows another end.
            if not self._fragments and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self.finished += 1
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._start(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for name in message.stop_auto_rerun.fragment_ids:
                self._stop(name)
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            await self._draw(message.delta.new_element)

    async def _draw(self, element: object) -> None:
        kind = element.WhichOneof("type")  # type: ignore[attr-defined]
        drawn = getattr(element, kind or "", None)
        if kind == "button":
            self.buttons[drawn.label] = drawn.id
        elif kind == "text":
            self.texts[drawn.body] = perf_counter()
        elif kind == "bidi_component" and drawn.component_name.endswith(".chart"):
            self.charts += 1
        elif kind == "exception":
            self.errors.append(drawn.message)
        elif kind == "bidi_component" and "strip" in drawn.component_name:
            data = json.loads(drawn.json)
            if data.get("live"):
                self.live_tokens = len(data["tokens"])
        elif kind == "bidi_component" and drawn.component_name.endswith(".later"):
            self._painted = self._painted or asyncio.create_task(self._paint(drawn.id))
        elif kind == "bidi_component" and drawn.component_name.endswith(".keeper"):
            await self._tell_kept(drawn.id, json.loads(drawn.json))

    async def _tell_kept(self, keeper: str, asked: Mapping[str, object]) -> None:
        """Answer as a browser that keeps nothing of an earlier visit."""
        if asked["asks"]:
            await self.rerun(WidgetState(id=keeper, json_value=json.dumps({"kept": ""})))

    def _start(self, fragment: str, interval: float) -> None:
        if fragment in self._timers and self._timers[fragment][0] == interval:
            return
        self._stop(fragment)
        self._timers[fragment] = (interval, asyncio.create_task(self._tick(fragment, interval)))

    def _stop(self, fragment: str) -> None:
        if fragment in self._timers:
            self._timers.pop(fragment)[1].cancel()

    async def _paint(self, later: str) -> None:
        """Ask for the rest of the page, once its first chart has stood for a frame and a rest."""
        await asyncio.sleep(_FRAME_AND_REST)
        await self.tell(later, "due", True)

    async def _tick(self, fragment: str, interval: float) -> None:
        with suppress(ConnectionError):
            while True:
                await asyncio.sleep(interval)
                await self.rerun(fragment=fragment)
