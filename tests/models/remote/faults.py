"""Faults in a server's answers, for the scripted server."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from tests.models.remote.servers import Fault, Handler


def status(number: int, **headers: str) -> Fault:
    """Another status than 200."""

    def answer(handler: Handler, _: Any) -> bool:
        handler.send({"error": {"message": "not now"}}, number, **headers)
        return True

    return answer


def half(handler: Handler, answer: Any) -> bool:
    """The first half of an answer; then the connection ends."""
    content = json.dumps(answer).encode()
    handler.send_response(200)
    handler.send_header("content-length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])
    handler.close_connection = True
    return True


def text(content: bytes) -> Fault:
    """Something else than JSON."""

    def answer(handler: Handler, _: Any) -> bool:
        handler.send_text(content)
        return True

    return answer


def changed(change: Callable[[dict[str, Any]], Any]) -> Fault:
    """A vLLM answer whose first row of candidates was changed in place."""

    def answer(_: Handler, told: Any) -> bool:
        change(told["choices"][0]["logprobs"]["top_logprobs"][0])
        return False

    return answer


def to_zero(row: dict[str, Any]) -> None:
    """llama.cpp under speculation."""
    row.update(dict.fromkeys(row, 0.0))


def to_nan(row: dict[str, Any]) -> None:
    row["token_id:7"] = math.nan


def without_one(row: dict[str, Any]) -> None:
    del row["token_id:7"]


def with_a_stranger(row: dict[str, Any]) -> None:
    row["token_id:99999"] = row.pop("token_id:7")


def with_a_word(row: dict[str, Any]) -> None:
    row["token_id:7"] = "high"
