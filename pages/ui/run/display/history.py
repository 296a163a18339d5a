"""Menu of the runs that a session has made on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import streamlit as st

from core.decoding.counting import counted, nth
from core.decoding.methods import choice_words
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import SETTINGS
from core.figures.base.labels import name_of, named_setting
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.registry import Page
from pages.ui.run.request import Request
from pages.ui.run.view import Source, View
from pages.ui.widgets.controls import control

Run: TypeAlias = tuple[Trace, Request | None]
# Settings for the pages alone, which don't distinguish runs in the menu.
_UNSAID = {"shaping", "top_candidates"}


def menu(view: View, page: Page | None = None) -> None:
    """Draw the menu of runs, newest first, if there is an earlier one. `page` shows them, by
    default the page of their method."""
    runs = _all(view)
    if len(runs) < 2:
        return
    labels = labels_of(runs, example=view.example_before is not None)
    st.menu_button(
        tr("Runs"),
        range(len(runs))[::-1],
        format_func=labels.__getitem__,
        key=platform.key("earlier_runs"),
        icon=":material/history:",
        type="tertiary",
        on_click=_back,
        args=(view, page),
    )


def _all(view: View) -> list[Run]:
    """Return the example that was shown first, if any, then the runs."""
    before = [(view.example_before, None)] if view.example_before is not None else []
    return [*before, *view.runs]


def labels_of(runs: Sequence[Run], *, example: bool = False) -> list[str]:
    """Return labels with number, method, length and the settings that differ among the runs.

    Texts of tokens and prompts are numbered instead, as a menu would read them as markup.

    Args:
        example: the first run is the example, which has no number.
    """
    settings = [_settings(trace, request) for trace, request in runs]
    names = list(dict.fromkeys(name for of_run in settings for name in of_run))
    values = {
        name: _distinct([of_run[name] for of_run in settings if name in of_run]) for name in names
    }
    differing = [name for name in names if len(values[name]) > 1]
    labels: list[str] = []
    for at, ((trace, _), of_run) in enumerate(zip(runs, settings, strict=True)):
        parts = [tr(choice_words("method", trace.config.method))]
        parts.append(tr(counted(len(trace.token_ids), "token")))
        parts += [_words(name, of_run[name], values[name]) for name in differing if name in of_run]
        name = tr("Example") if example and not at else tr("Run {at}", at=nth(at - example))
        labels.append(f"{name}: {' · '.join(parts)}")
    return labels


def _settings(trace: Trace, request: Request | None) -> dict[str, Any]:
    """Return the settings and texts of a run, by name."""
    config = trace.config
    settings = {
        row.name: getattr(config, row.name) for row in fields(config) if row.name not in _UNSAID
    }
    if config.can_draw:
        settings |= {name: getattr(config.shaping, name) for name in SETTINGS}
    texts = {
        N_("model"): trace.model_id,
        N_("draft"): trace.draft_id,
        N_("prompt"): trace.prompt,
    }
    chat = request is not None and request.chat
    system = request.system if request and chat else ""
    return texts | {N_("chat"): chat, N_("system"): system} | settings


def _distinct(values: list[Any]) -> list[Any]:
    return [value for at, value in enumerate(values) if value not in values[:at]]


def _words(name: str, held: Any, values: Sequence[Any]) -> str:
    """Return a setting with its value; a text is replaced by its number among all values."""
    if isinstance(held, bool | int | float):
        return named_setting(name, held)
    return f"{tr(name_of(name))} {nth(values.index(held))}"


def _back(view: View, page: Page | None = None) -> None:
    """Show a run again, with its controls."""
    place = st.session_state.get(platform.key("earlier_runs"))
    if place is None or "decode" in view.jobs:
        return
    trace, request = _all(view)[place]
    source = view.source_of(trace)
    show_again(view, trace, request, source, page or registry.page_of(trace.config.method))


def show_again(
    view: View, trace: Trace, request: Request | None, source: Source, page: Page
) -> None:
    """Show a run of the session again, with its controls."""
    view.request = request
    if source in ("file", "request", "many"):
        view.open(trace, source)
    else:
        view.show(trace, source)
    page.load_controls(trace)
    if request is not None:
        control.load(
            {"model": request.model, **({"draft": request.draft} if request.draft else {})}
        )
        if not page.own_prompt:
            control.load({"chat": request.chat, "system": request.system})
