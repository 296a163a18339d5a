"""Every text that the app itself writes on a page under `AppTest`, with what kind of text it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message as Proto
from streamlit.testing.v1 import AppTest

# Fields of Streamlit's messages that a reader sees and the app writes.
_LABELS = {"label", "options", "content", "placeholder", "title", "raw_values"}
_TEXTS = {"help", "body", "tooltip", "caption"}
# Names in the data of the app's components, of labels and of texts.
_LABEL_KEYS = {"label", "labels", "columns", "title"}
# A component's `name` is a word for code, but for the checks of a run.
_NAMED = "checks"
_TEXT_KEYS = {"words", "said", "help", "caption", "hint", "choices", "notice", "empty"}
# Elements whose texts are a model's or a user's.
_FOREIGN = {"code", "text_area", "json"}


def readable(app: AppTest) -> Iterator[tuple[str, bool]]:
    """Yield each text, and whether it is a label, which is a word or two."""
    for node in _nodes(app._tree):
        proto = getattr(node, "proto", None)
        if isinstance(proto, Proto):
            yield from _of_proto(proto, getattr(node, "type", ""))


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    children = getattr(node, "children", {})
    for child in children.values():
        yield from _nodes(child)


def _of_proto(proto: Proto, kind: str) -> Iterator[tuple[str, bool]]:
    if kind == "bidi_component":
        yield from _of_component(json.loads(getattr(proto, "json", "") or "{}"))
        return
    if kind == "arrow_data_frame":
        columns = json.loads(getattr(proto, "columns", "") or "{}")
        yield from ((str(one["label"]), True) for one in columns.values() if one.get("label"))
        return
    for field, value in proto.ListFields():
        for one in [value] if isinstance(value, str | Proto) else _items(value):
            if isinstance(one, Proto):
                yield from _of_proto(one, kind)
            elif isinstance(one, str) and one.startswith("<style>"):
                continue
            elif isinstance(one, str) and field.name in _LABELS and kind not in _FOREIGN:
                yield one, field.name != "placeholder"
            elif isinstance(one, str) and field.name in _TEXTS and kind not in _FOREIGN:
                yield one, False


def _items(values: Any) -> list[Any]:
    if isinstance(values, dict) or hasattr(values, "items"):
        return list(values.values())
    return list(values) if hasattr(values, "__iter__") else []


def _of_component(data: Any, key: str = "", around: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the texts in a component's data, by the names that hold them."""
    if isinstance(data, str):
        if key == "figure" and data:
            yield from _of_figure(json.loads(data))
        elif key in _LABEL_KEYS:
            yield data, True
        elif key in _TEXT_KEYS or (key == "name" and around == _NAMED):
            yield data, False
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from _of_component(value, name, key)
    elif isinstance(data, list):
        for value in data:
            yield from _of_component(value, key, around)


def _of_figure(figure: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield a figure's title, captions and alt text, and the titles of its axes."""
    layout = figure["layout"]
    yield from ((text, False) for text in layout.get("words", {}).values() if isinstance(text, str))
    for name, axis in layout.items():
        if name[1:].startswith("axis") and isinstance(axis.get("title"), dict):
            yield axis["title"].get("text", ""), False
