"""The runs that a side can show: of this session's pages, of files and of the endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import streamlit as st

from core.decoding.counting import nth
from core.decoding.errors import DecodingError, TraceError
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.figures.base.labels import settings_caption
from core.language import N_, Message, tr
from pages.ui import platform, registry
from pages.ui.compare.state import SLOTS, PairView, SessionRun, SideView, put
from pages.ui.decode.state import DecodeView
from pages.ui.hosting import endpoint
from pages.ui.platform import slot
from pages.ui.platform.uploaded import content_of
from pages.ui.run.view import View
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import in_words

_LONGEST = 150
_FIRST, _SECOND = N_("Stored example, first"), N_("Stored example, second")


def session_runs() -> list[SessionRun]:
    """Return all runs that a side can show, those made here first and newest first."""
    made = PairView.current().made
    runs = [SessionRun(tr("Compare, run {at}", at=nth(at)), *run) for at, run in enumerate(made)][
        ::-1
    ]
    with slot.use(slot.PAGE):
        runs += _of_decode(DecodeView.elsewhere())
        for page in registry.PAGES:
            if page.shows:
                runs += _of_page(page)
    for place, name in zip(SLOTS, (_FIRST, _SECOND), strict=True):
        with slot.use(place):
            example = SideView.load_example()
        if example is not None:
            runs.append(SessionRun(tr(name), example, None, "example"))
    runs += _of_requests()
    return [run for at, run in enumerate(runs) if run.trace.token_ids and _is_new(runs, at)]


def _is_new(runs: list[SessionRun], at: int) -> bool:
    return not any(run.trace is runs[at].trace for run in runs[:at])


def _of_view(view: View, title: str) -> Iterator[SessionRun]:
    """Yield the shown run of a page and its earlier ones."""
    if view.trace is not None:
        yield SessionRun(
            tr("{title}, shown", title=title), view.trace, view.shown_request, view.source
        )
    for at, (trace, request) in reversed(list(enumerate(view.runs))):
        yield SessionRun(
            tr("{title}, run {at}", title=title, at=nth(at)), trace, request, view.source_of(trace)
        )
    if view.example_before is not None:
        yield SessionRun(tr("{title}, example", title=title), view.example_before, None, "example")


def _of_decode(view: DecodeView) -> Iterator[SessionRun]:
    """Yield the runs of Decode and those of its trees, by their names."""
    yield from _of_view(view, tr(registry.DECODE.title))
    for tree in view.trees:
        rows = zip(tree.tree.branches, tree.requests, tree.sources, strict=True)
        for branch, request, source in rows:
            yield SessionRun(tr("Branch {name}", name=branch.name), branch.trace, request, source)


def _of_page(page: registry.Page) -> Iterator[SessionRun]:
    """Yield the runs of a page that the session has opened."""
    kind = page.view.find().__self__
    view = st.session_state.get(platform.key(kind.key))
    if isinstance(view, View):
        yield from _of_view(view, tr(page.title))


def _of_requests() -> Iterator[SessionRun]:
    """Yield the runs of the requests that the session may see, the newest first."""
    view = st.session_state.get("requests_view")
    owner = getattr(view, "owner", None)
    for record in endpoint.service().history.of(owner)[::-1] if owner is not None else ():
        for at, trace in enumerate(record.traces):
            name = (
                tr("Request {number}, choice {choice}", number=record.number, choice=nth(at))
                if len(record.traces) > 1
                else tr("Request {number}", number=record.number)
            )
            yield SessionRun(name, trace, None, "request")


def menu(side: SideView) -> None:
    """Draw the menu of the runs that this side can show."""
    runs = session_runs()
    st.menu_button(
        tr("Another run"),
        range(len(runs)),
        format_func=labels(runs).__getitem__,
        key=platform.key("side_run"),
        icon=":material/history:",
        type="tertiary",
        on_click=partial(_choose, side, runs),
    )


def labels(runs: list[SessionRun]) -> list[str]:
    """Return the runs in words, no two alike, as the menu returns a run's words.

    A menu reads markup, and a branch's name or a model's may hold some.
    """
    texts = [f"{run.origin}: {settings_caption(run.trace)}"[:_LONGEST] for run in runs]
    earlier = [texts[:at].count(text) for at, text in enumerate(texts)]
    return [
        link.literal(f"{text} ({count + 1})" if count else text)
        for text, count in zip(texts, earlier, strict=True)
    ]


def _choose(side: SideView, runs: list[SessionRun]) -> None:
    at = st.session_state.get(platform.key("side_run"))
    if at is not None:
        put(side, runs[at])


def upload(side: SideView) -> None:
    """Draw the upload of a trace file for this side."""
    st.file_uploader(
        tr("Open a trace"),
        type=["json"],
        key=platform.key("side_file"),
        on_change=partial(_opened, side),
    )


def _opened(side: SideView) -> None:
    file = st.session_state.get(platform.key("side_file"))
    # While the page changes, Streamlit may report one file twice.
    if file is None or file.file_id == side.opened:
        return
    side.opened, side.failure = file.file_id, ""
    from core.traces.lab_file import read_any

    try:
        put(side, SessionRun(tr("File"), _run_of(read_any(content_of(file))), None, "file"))
    except DecodingError as error:
        side.failure = in_words(error)


def _run_of(content: object) -> Trace:
    """Return the run of a file; of a tree its first one.

    Raises:
        TraceError: it holds another content.
    """
    if isinstance(content, RunTree):
        return content.branches[0].trace
    if isinstance(content, Trace):
        return content
    raise TraceError(Message("This file holds no run: open a trace file or a tree of runs."))
