"""JSON client with limits on time and bytes and with retries; it follows no redirects.

An API key appears in one header only, never in an error message or an address.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from ...decoding.errors import LoadingStoppedError, LostModelError
from ...decoding.validation import shortened
from ...language import N_, Message
from ..stopping import current
from .address import Address
from .keys import key_for
from .rows import part_of

MIB = 2**20
_BUSY = frozenset({429, 500, 502, 503, 504})
_POLL_SECONDS = 0.1
_SHOWN = 200
_REFUSING_SECONDS = 30.0
_SLOW = N_("The server of {label} takes too long to answer.")
_GONE = N_("The server of {label} can't be reached.")
_BROKEN = N_("The server of {label} broke off in the midst of an answer.")
_UNREADABLE = N_("The server of {label} gives no answer that can be read.")
_HALF = N_("The server of {label} answers with half a JSON text, or none.")


class RefusedError(LostModelError):
    """The server refused the request."""


class _BusyError(LostModelError):
    """The server gave no answer; a retry may succeed."""

    def __init__(self, sentence: str, wait: float | None = None) -> None:
        super().__init__(sentence)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts and retry delays for a server, in seconds.

    Args:
        connect: timeout for the connection.
        silence: timeout between two pieces of an answer.
        answer: timeout for the whole answer.
        pauses: delay before each retry.
        longest_pause: upper limit of a delay that the server requests.
    """

    connect: float = 5.0
    silence: float = 60.0
    answer: float = 300.0
    pauses: tuple[float, ...] = (0.5, 1.0, 2.0)
    longest_pause: float = 20.0


PATIENCE = Patience()


class Client:
    """HTTP client of one server.

    Args:
        address: address of the server.
        label: name of the model in messages.
    """

    def __init__(self, address: Address, label: str, patience: Patience = PATIENCE) -> None:
        self.label = label
        self._address = address
        self.patience = patience
        self._http = httpx2.Client(
            base_url=address.url,
            follow_redirects=False,
            trust_env=not address.is_local,
        )

    def ask(self, path: str, body: object = None, *, most_bytes: int = 4 * MIB) -> Any:
        """Return the server's answer to a GET, or to a POST of `body`.

        Raises:
            LostModelError: the server can't be reached, is too slow, or its answer is no JSON.
            RefusedError: the status of the answer is an error.
            LoadingStoppedError: this thread's work was stopped while the server was busy.
        """
        pauses = iter(self.patience.pauses)
        while True:
            try:
                return self._json(self._content(path, body, most_bytes))
            except _BusyError as busy:
                pause = next(pauses, None)
                if pause is None:
                    raise
                pause = pause if busy.wait is None else busy.wait
                _rest(min(pause, self.patience.longest_pause), current())

    def _content(self, path: str, body: object, most_bytes: int) -> bytes:
        ends = time.monotonic() + self.patience.answer
        with self._answer(path, body) as response:
            content = b"".join(self._pieces(response, most_bytes, ends))
        self._check_status(response, content)
        return content

    def text(self, path: str) -> str:
        """Return the answer to a GET as text; raise as `ask` does, but without retries."""
        return self._content(path, None, 4 * MIB).decode("utf-8", "replace")

    def events(self, path: str, body: object, *, most_bytes: int) -> Iterator[Any]:
        """Yield the JSON of each server-sent event as it arrives; the request is not retried.

        Raises:
            the same errors as `ask`.
        """
        unfinished = b""
        with self._answer(path, body) as response:
            if response.status_code != 200:
                ends = time.monotonic() + _REFUSING_SECONDS
                content = b"".join(self._pieces(response, most_bytes, ends))
                self._check_status(response, content)
            for piece in self._pieces(response, most_bytes):
                *lines, unfinished = (unfinished + piece).split(b"\n")
                for line in lines:
                    text = line.strip().removeprefix(b"data:").strip()
                    if line.startswith(b"data:") and text != b"[DONE]":
                        event = self._json(text)
                        if error := part_of(event, "error", "message"):
                            raise LostModelError(self._says(f"fails: {str(error)[:200]}"))
                        yield event

    @contextmanager
    def _answer(self, path: str, body: object) -> Iterator[httpx2.Response]:
        key = key_for(self._address.origin)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        method = "GET" if body is None else "POST"
        timeout = httpx2.Timeout(self.patience.silence, connect=self.patience.connect)
        try:
            with self._http.stream(
                method, path, json=body, headers=headers, timeout=timeout
            ) as response:
                yield response
        except httpx2.TimeoutException:
            raise LostModelError(self._says(_SLOW)) from None
        except httpx2.ConnectError:
            raise _BusyError(self._says(_GONE)) from None
        except httpx2.TransportError:
            raise _BusyError(self._says(_BROKEN)) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, UnicodeError):
            raise LostModelError(self._says(_UNREADABLE)) from None

    def _json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise LostModelError(self._says(_HALF)) from None

    def _pieces(
        self, response: httpx2.Response, most_bytes: int, ends: float = math.inf
    ) -> Iterator[bytes]:
        """Yield the content as it arrives, within the limits on bytes and time."""
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > most_bytes:
                words = N_("The server of {label} answers with more than {most:,} bytes.")
                raise LostModelError(self._says(words, most=most_bytes))
            if time.monotonic() > ends:
                raise LostModelError(self._says(_SLOW))
            yield piece

    def _check_status(self, response: httpx2.Response, content: bytes) -> None:
        status, key = response.status_code, key_for(self._address.origin)
        reason = ""
        if status == 200:
            return
        if status in _BUSY:
            words = N_("The server of {label} is busy or broken (status {status}).")
            raise _BusyError(self._says(words, status=status), _wait(response))
        if response.is_redirect:
            words = N_(
                "The server of {label} sends elsewhere, and a redirect is never followed: give the "
                "address it leads to."
            )
        elif status in (401, 403):
            words = N_("The server of {label} wants a key (status {status}).")
            if key:
                words = N_(
                    "The server of {label} wants another key than this one (status {status})."
                )
        else:
            message = _message(content)
            message = message.replace(key, "…") if key else message
            words = N_("The server of {label} refuses the request (status {status}).")
            if reason := message.rstrip("."):
                words = N_("The server of {label} refuses the request (status {status}: {reason}).")
        raise RefusedError(self._says(words, status=status, reason=reason))

    def _says(self, words: str, **values: object) -> Message:
        return Message(words, label=self.label, **values)


def _rest(seconds: float, should_stop: Callable[[], bool]) -> None:
    """Sleep for some seconds, unless the work is stopped.

    Raises:
        LoadingStoppedError: the work was stopped.
    """
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if should_stop():
            raise LoadingStoppedError(N_("The run was stopped while its server was busy."))
        time.sleep(min(left, _POLL_SECONDS))


def _wait(response: httpx2.Response) -> float | None:
    """Return the seconds of `Retry-After`; None if the header is missing or no number."""
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 1e9 else None


def _message(content: bytes) -> str:
    """Return the error message of an answer's body, on one line."""
    try:
        body = json.loads(content[:MIB])
    except (ValueError, RecursionError):
        return ""
    error = body.get("error", body) if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    text = " ".join(message.split()) if isinstance(message, str) else ""
    return shortened("".join(c for c in text if c.isprintable()), _SHOWN)
