"""Saving and opening of a whole run: trace file, web page, archive and link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.reading.types import is_reading
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.export.part import Part, stem
from core.export.subject import Subject
from core.figures.base.labels import settings_caption
from core.figures.base.theme import LIGHT, Theme
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.platform import guard, session
from pages.ui.platform.uploaded import content_of
from pages.ui.registry import Page
from pages.ui.run import address
from pages.ui.run.files import archive, link_run
from pages.ui.run.files.archive import ArchiveSource
from pages.ui.run.files.link_run import RunLink
from pages.ui.run.view import View
from pages.ui.widgets import style
from pages.ui.widgets.component import component, source
from pages.ui.widgets.controls.control import in_words

if TYPE_CHECKING:
    from core.export.web.run_page import NamedTable

_link = component(
    "copy_link",
    html='<p class="which"></p><div class="links"></div><p class="lost"></p>'
    '<span role="status"></span>',
    css=source("run/files/copy_link.css"),
    js=source("run/files/copy_link.js"),
)
# Timeout of a page change, for a browser that hides its address.
TURN_SECONDS = 30.0


def menu(view: View, trace: Trace, shown: Trace | None = None) -> None:
    """Draw the menu that saves the whole run.

    Args:
        shown: the trace as the page shows it, if that differs from the trace as it was run.
    """
    row = registry.page_of(trace.config.method)
    seen, method_view = shown or trace, cache(partial(as_on_its_page, view, trace))
    file, saved = partial(trace_file, trace), row.saved.find
    source = ArchiveSource(
        stem("decoding", None if is_reading(trace) else trace.config),
        row.name,
        lambda: Subject.of_trace(seen, file()),
        lambda paper: saved().parts(method_view(), seen, paper),
        lambda: saved().tables(method_view(), seen),
        link_run.link_to(view, trace),
    )
    save(source, file, lambda: saved().web_page(method_view(), seen, style.theme()), run=True)


def as_on_its_page(view: View, trace: Trace) -> View:
    """Return the view on its method's page; elsewhere, a view of that page at the view's step."""
    kind: type[View] = registry.page_of(trace.config.method).view.find().__self__
    if isinstance(view, kind):
        return view
    method_view = kind()
    method_view.show(trace, view.source)
    if trace.token_steps:
        method_view.select(view.selected)
    return method_view


def save(
    source: ArchiveSource,
    file: Callable[[], bytes],
    page: Callable[[], bytes],
    *,
    run: bool = False,
    file_help: str | None = None,
) -> None:
    """Draw the Save menu: a trace file, a web page, all figures and a link.

    Args:
        source: contents of the archive.
        file: makes the trace file.
        run: the link repeats the run.
        file_help: sentence about the trace file.
    """
    popover = st.popover(
        tr("Save"),
        icon=":material/ios_share:",
        type="tertiary",
        key=platform.key("save"),
        on_change="rerun",
    )
    if not popover.open:
        return
    with popover:
        st.download_button(
            tr("Trace file (JSON)"),
            file,
            f"{source.name}.json",
            "application/json",
            key=platform.key("save_trace"),
            icon=":material/data_object:",
            on_click="ignore",
            width="stretch",
            help=file_help,
        )
        st.download_button(
            tr("Web page (HTML)"),
            page,
            f"{source.name}.html",
            "text/html",
            key=platform.key("save_page"),
            icon=":material/web:",
            on_click="ignore",
            width="stretch",
        )
        archive.button(source)
        draw_link(source.link, run=run)


def draw_link(link: RunLink | None, *, run: bool = False) -> None:
    """Draw the button that copies a link.

    Args:
        link: the link to the shown run; without one, the address of the page is copied.
        run: the link repeats the run.
    """
    _link(
        key=platform.key("copy_link"),
        data={"run": platform.key("run") if run else "", **(asdict(link) if link else {})},
    )


def trace_file(trace: Trace) -> bytes:
    """Return the content of the trace's file."""
    return trace.to_json().encode()


def web_page(
    trace: Trace,
    parts: Sequence[Part],
    theme: Theme = LIGHT,
    *,
    title: str = N_("Decoding Explorer: one run"),
    settings: str = "",
    text: str | None = None,
    notes: Sequence[NamedTable] = (),
    tokens: Sequence[tuple[str, str, str]] | None = None,
) -> bytes:
    """Return a run's text, figures and tables as one web page that needs no server.

    Args:
        parts: the figures; the page lists those that aren't measured.
        theme: initial theme; the page's reader can change it.
        settings: settings of the run in words; the trace's own by default.
        text: replaces the trace's own text.
        tokens: the text in pieces, each with the name of its kind and the kind's colour.
    """
    from core.export.web.run_page import PageText, run_page

    run = PageText(
        title,
        settings or settings_caption(trace),
        trace.rendered_prompt or trace.prompt,
        trace.text if text is None else text,
        tokens,
        notes,
    )
    return run_page(run, parts, theme)


def open_file(path: str) -> None:
    """Draw the upload of a trace file, or of a file of many runs, which is then shown."""
    with st.expander(tr("Open a trace"), icon=":material/folder_open:"):
        draw_upload(path, "trace_file")


def draw_upload(path: str, key: str) -> None:
    """Draw the upload alone.

    Args:
        path: path of the page that shows a failure.
        key: key of the widget.
    """
    st.file_uploader(
        tr("Trace file"), type=["json", "jsonl"], key=key, on_change=_opened, args=(path, key)
    )


def _opened(path: str, key: str) -> None:
    upload = st.session_state.get(key)
    # While the page changes, Streamlit may report one upload twice.
    if upload is None or upload.file_id == st.session_state.get("opened"):
        return
    st.session_state["opened"] = upload.file_id
    shown = registry.page_at(path).view()
    shown.failure = ""
    from core.traces.foreign_trace import read_answer
    from core.traces.lab_file import read_any
    from core.traces.many_file import read_runs

    try:
        data = content_of(upload)
        if upload.name.lower().endswith(".jsonl") and read_answer(data) is None:
            runs = read_runs(data)
            turn_to(registry.HOME if runs.has_searches else registry.page_at("many"), runs)
            return
        content = read_any(data)
        kind = "sampling" if isinstance(content, RunTree) else "lab"
        method = content.config.method if isinstance(content, Trace) else kind
        turn_to(registry.page_of(method), content)
    except DecodingError as error:
        shown.failure = in_words(error)


def turn_to(page: Page, content: Any, **more: Any) -> None:
    """Show a file's content or a trace on this page; the next run switches to the page.

    Args:
        more: arguments of the view's `open`.
    """
    page.view().open(content, **more)
    page.load_controls(content)
    go_to(page.path)


def go_to(path: str) -> None:
    """Make the next run switch to the page at this path, without its stored address."""
    address.forget(path)
    turning = _Turning(registry.page_at(path), monotonic() + TURN_SECONDS)
    st.session_state[guard.TURNING] = turning


@dataclass(frozen=True)
class _Turning:
    """Pending change to the page of a trace that was just opened."""

    page: Page
    until: float


def turn_to_file(here: str) -> None:
    """Switch to the page of a trace that was just opened, before the page `here` runs.

    Requests that the browser sent before it knew of the switch would lead back; they are
    ignored. They are recognised by the address, which isn't the new page's yet.
    """
    turning: _Turning | None = st.session_state.get(guard.TURNING)
    if turning is None:
        return
    shown = _path_in_browser()
    if (here if shown is None else shown) == turning.page.path or monotonic() > turning.until:
        del st.session_state[guard.TURNING]
    elif turning.page.path != here:
        # Without `query_params` it would refuse to change an address that controls are bound to.
        st.switch_page(turning.page.script, query_params={})


def _path_in_browser() -> str | None:
    """Return the path of the page that the browser showed when it requested this run, or None."""
    shown = session.browser_url()
    if not shown:
        return None
    last = urlsplit(shown).path.rstrip("/").rpartition("/")[2]
    return registry.page_at(last).path
