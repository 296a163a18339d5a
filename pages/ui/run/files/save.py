"""The whole run out of the app and back in: trace file, web page, link, and opening a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.record.trace import Trace
from core.export.part import Part, stem
from core.export.subject import Subject
from core.figures.base.labels import settings_caption
from core.figures.base.theme import LIGHT, Theme
from pages.ui import platform, registry
from pages.ui.platform import session
from pages.ui.platform.uploaded import content_of
from pages.ui.registry import Page
from pages.ui.run import address
from pages.ui.run.files import archive, link_run
from pages.ui.run.files.archive import Shelf
from pages.ui.run.view import View
from pages.ui.widgets import style
from pages.ui.widgets.source import source

if TYPE_CHECKING:
    from core.export.web.run_page import NamedTable

_link = st.components.v2.component(
    "decoding_explorer.copy_link",
    html='<p class="which"></p><div class="links"></div><p class="lost"></p>'
    '<span role="status"></span>',
    css=source("run/files/copy_link.css"),
    js=source("run/files/copy_link.js"),
)
# A browser that hides its address is let go after so long.
TURN_SECONDS = 30.0


def menu(view: View, trace: Trace, shown: Trace | None = None) -> None:
    """The menu that saves the whole run.

    Args:
        shown: the trace as the page shows it, where that isn't the trace as it was run.
    """
    row = registry.page_of(trace.config.method)
    seen, own = shown or trace, cache(partial(as_on_its_page, view, trace))
    file, saved = partial(trace_file, trace), row.saved.find
    shelf = Shelf(
        stem("decoding", trace.config),
        row.path or "decode",
        lambda: Subject.of_trace(seen, file()),
        lambda paper: saved().parts(own(), seen, paper),
        lambda: saved().tables(own(), seen),
        link_run.link_to(view, trace),
    )
    save(shelf, file, lambda: saved().web_page(own(), seen, style.theme()), run=True)


def as_on_its_page(view: View, trace: Trace) -> View:
    """The view itself, on the page of the run's method; elsewhere one of that page at its step."""
    kind: type[View] = registry.page_of(trace.config.method).view.find().__self__
    if isinstance(view, kind):
        return view
    own = kind()
    own.show(trace, view.source)
    if trace.token_steps:
        own.select(view.selected)
    return own


def save(
    shelf: Shelf, file: Callable[[], bytes], page: Callable[[], bytes], *, run: bool = False
) -> None:
    """The menu of a file, a web page, all figures and a link.

    Args:
        shelf: what leaves with all figures.
        file: the trace file.
        run: whether the link makes the run again.
    """
    popover = st.popover(
        "Save",
        icon=":material/ios_share:",
        type="tertiary",
        key=platform.key("save"),
        on_change="rerun",
    )
    if not popover.open:
        return
    with popover:
        st.download_button(
            "Trace file (JSON)",
            file,
            f"{shelf.name}.json",
            "application/json",
            key=platform.key("save_trace"),
            icon=":material/data_object:",
            on_click="ignore",
            width="stretch",
        )
        st.download_button(
            "Web page (HTML)",
            page,
            f"{shelf.name}.html",
            "text/html",
            key=platform.key("save_page"),
            icon=":material/web:",
            on_click="ignore",
            width="stretch",
        )
        archive.button(shelf)
        link = shelf.link
        _link(
            key=platform.key("copy_link"),
            data={"run": platform.key("run") if run else "", **(asdict(link) if link else {})},
        )


def trace_file(trace: Trace) -> bytes:
    """The trace as its file holds it."""
    return trace.to_json().encode()


def web_page(
    trace: Trace,
    parts: Sequence[Part],
    theme: Theme = LIGHT,
    *,
    title: str = "Decoding Explorer: one run",
    settings: str = "",
    text: str | None = None,
    notes: Sequence[NamedTable] = (),
    tokens: Sequence[tuple[str, str, str]] | None = None,
) -> bytes:
    """A run's text, figures and tables as one page that needs no server.

    Args:
        parts: those that aren't measured are named.
        theme: on screen; the page's reader can turn it.
        settings: what the run was made with; the trace's own by default.
        text: in place of the trace's own.
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
    """A trace file from the disk, shown like a run."""
    with st.expander("Open a trace", icon=":material/folder_open:"):
        st.file_uploader(
            "Trace file",
            type=["json"],
            key="trace_file",
            on_change=_opened,
            args=(path,),
        )


def _opened(path: str) -> None:
    upload = st.session_state.get("trace_file")
    # While the page turns, Streamlit may report one upload twice.
    if upload is None or upload.file_id == st.session_state.get("opened"):
        return
    st.session_state["opened"] = upload.file_id
    shown = registry.page_at(path).view()
    shown.failure = ""
    from core.traces.lab_file import read_any

    try:
        content = read_any(content_of(upload))
    except DecodingError as error:
        shown.failure = str(error)
        return
    turn_to(
        registry.page_of(content.config.method if isinstance(content, Trace) else "lab"), content
    )


def turn_to(page: Page, content: Any, **more: Any) -> None:
    """Show a file's content, or a trace from elsewhere, on this page; the next run turns to it.

    Args:
        more: arguments of the view's `open`.
    """
    page.view().open(content, **more)
    page.load_controls(content)
    go_to(page.path)


def go_to(path: str) -> None:
    """The next run turns to the page at this path, which shows something else than before."""
    address.forget(path)
    turning = _Turning(registry.page_at(path), monotonic() + TURN_SECONDS)
    st.session_state["turning"] = turning


@dataclass(frozen=True)
class _Turning:
    """On the way to the page that shows a trace which was just opened."""

    page: Page
    until: float


def turn_to_file(here: str) -> None:
    """Go to the page that shows the trace which was just opened; before the page `here` is run.

    What the browser asked for before it knew of the turn would lead back: it is not followed.
    The address tells: until the browser shows the new page's, it doesn't know.
    """
    turning: _Turning | None = st.session_state.get("turning")
    if turning is None:
        return
    shown = _path_in_browser()
    if (here if shown is None else shown) == turning.page.path or monotonic() > turning.until:
        del st.session_state["turning"]
    elif turning.page.path != here:
        # Left to itself it would refuse to touch an address that controls are bound to.
        st.switch_page(turning.page.script, query_params={})


def _path_in_browser() -> str | None:
    """The path of the page that the browser showed when it asked for this run, if it told."""
    shown = session.browser_url()
    if not shown:
        return None
    last = urlsplit(shown).path.rstrip("/").rpartition("/")[2]
    return registry.page_at(last).path
