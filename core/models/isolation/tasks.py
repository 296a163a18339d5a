"""Tasks of the process that parses foreign files, and its main function."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from ...decoding.errors import DecodingError
from ..loading.hub import fetch
from ..loading.inspection import inspect, inspect_tokenizer
from ..places import embedded_folder, list_embedded
from .chat_task import write_chat
from .server import serve

TASKS: dict[str, Callable[..., Any]] = {
    "inspect": inspect,
    "inspect_tokenizer": inspect_tokenizer,
    "chat": write_chat,
    "fetch": fetch,
}
if find_spec("gguf") is not None:
    from ..gguf.conversion import convert_gguf
    from ..gguf.header import read_header

    TASKS |= {"read_header": read_header, "convert_gguf": convert_gguf}


def main(descriptor: int) -> None:
    """Serve on this socket, after one run of each task has triggered transformers' lazy imports."""
    with suppress(DecodingError):
        for name in list_embedded()[:1]:
            inspect(str(embedded_folder(name)), name)
    write_chat("{{ messages }}", [{"role": "user", "content": "x"}], True, True, {}, [], None)
    gc.freeze()  # Garbage collection in a child would copy the shared pages.
    gc.enable()
    serve(descriptor, TASKS)
