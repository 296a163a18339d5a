"""The runs that a session made on a page, to go back to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import streamlit as st

from core.decoding.counting import counted, nth
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import SETTINGS
from pages.ui import platform, registry
from pages.ui.registry import Page
from pages.ui.run.request import Request
from pages.ui.run.view import View
from pages.ui.widgets.controls import control

Run: TypeAlias = tuple[Trace, Request | None]
# Kept for the pages alone: no run is told apart by them.
_UNSAID = {"shaping", "top_candidates"}


def menu(view: View, page: Page | None = None) -> None:
    """The runs, newest first; nothing where there is none to go back to. `page` shows them, by
    default the one of their method."""
    runs = _all(view)
    if len(runs) < 2:
        return
    labels = labels_of(runs, example=view.example_before is not None)
    st.menu_button(
        "Runs",
        range(len(runs))[::-1],
        format_func=labels.__getitem__,
        key=platform.key("earlier_runs"),
        icon=":material/history:",
        type="tertiary",
        on_click=_back,
        args=(view, page),
    )


def _all(view: View) -> list[Run]:
    """The example that was left, then the runs."""
    before = [(view.example_before, None)] if view.example_before is not None else []
    return [*before, *view.runs]


def labels_of(runs: Sequence[Run], *, example: bool = False) -> list[str]:
    """Number, method, length and what differs among the runs.

    No text of a token or a prompt, which a menu would take for markup: texts are numbered.

    Args:
        example: the first one is the example, which has no number.
    """
    settings = [_settings(trace, asked) for trace, asked in runs]
    names = list(dict.fromkeys(name for own in settings for name in own))
    values = {name: _distinct([own[name] for own in settings if name in own]) for name in names}
    differing = [name for name in names if len(values[name]) > 1]
    labels: list[str] = []
    for at, ((trace, _), own) in enumerate(zip(runs, settings, strict=True)):
        parts = [trace.config.method, counted(len(trace.token_ids), "token")]
        parts += [_words(name, own[name], values[name]) for name in differing if name in own]
        name = "Example" if example and not at else f"Run {nth(at - example)}"
        labels.append(f"{name}: {', '.join(parts)}")
    return labels


def _settings(trace: Trace, asked: Request | None) -> dict[str, Any]:
    """Return the settings and texts of a run, by name."""
    config = trace.config
    own = {row.name: getattr(config, row.name) for row in fields(config) if row.name not in _UNSAID}
    if config.can_draw:
        own |= {name: getattr(config.shaping, name) for name in SETTINGS}
    texts = {"model": trace.model_id, "draft": trace.draft_id, "prompt": trace.prompt}
    chat = asked is not None and asked.chat
    return texts | {"chat": chat, "system": asked.system if asked and chat else ""} | own


def _distinct(values: list[Any]) -> list[Any]:
    return [value for at, value in enumerate(values) if value not in values[:at]]


def _words(name: str, held: Any, values: Sequence[Any]) -> str:
    """A setting with its value; one that isn't a number with the value's number among all."""
    plain = SETTINGS[name].name if name in SETTINGS else name.replace("_", " ")
    if isinstance(held, bool):
        return plain if held else f"no {plain}"
    number = f"{held:g}" if isinstance(held, int | float) else nth(values.index(held))
    return f"{plain} {number}"


def _back(view: View, page: Page | None = None) -> None:
    """Show a run again, with its controls."""
    place = st.session_state.get(platform.key("earlier_runs"))
    if place is None or "decode" in view.jobs:
        return
    trace, asked = _all(view)[place]
    view.request = asked
    view.show(trace, "example" if trace is view.example_before else "run")
    page = page or registry.page_of(trace.config.method)
    page.load_controls(trace)
    if asked is not None:
        control.load({"model": asked.model, **({"draft": asked.draft} if asked.draft else {})})
        if not page.own_prompt:
            control.load({"chat": asked.chat, "system": asked.system})
