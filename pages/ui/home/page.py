"""Home as it is drawn: one prompt with every decoder, the ways in, and a card for each page."""

from __future__ import annotations

from functools import partial
from html import escape

import streamlit as st

from core import figures
from core.decoding.errors import DecodingError
from core.export.part import of_figure
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.home import controls, run_table, work
from pages.ui.home.state import RUNS, HomeRuns, HomeView, open_run
from pages.ui.hosting import pictures
from pages.ui.registry import Page
from pages.ui.run import address, cost, jobs, named_run, shared
from pages.ui.run.display import bar, outside, panel
from pages.ui.run.figures import figure
from pages.ui.run.files import runs_menu, save
from pages.ui.shell import frame, sidebar
from pages.ui.widgets import style
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Read, in_words, value

LIVE_SECONDS = 0.5
_EMPTY = N_("The prompt is empty. Write a few words, or pick an example.")
_SOURCES = {"example": N_("Example"), "run": N_("Your runs"), "file": N_("From a file")}


def show() -> None:
    """Draw the page."""
    view = HomeView.current()
    view.collect_results()
    if view.failure == _EMPTY and str(value("prompt")).strip():
        view.failure = ""
    with st.container(key="home-head"):
        frame.intro(
            N_("See how a language model chooses its words"),
            N_(
                "A model gives every possible next token a probability, and a decoder "
                "picks one. Write a beginning, press **Run**, and read what six decoders "
                "write."
            ),
        )
        _ways_in()
    with st.container(key="home-prompt"):
        with st.container(key="home-fields"):
            sidebar.prompt_fields()
        with st.container(key="home-run", horizontal=True, vertical_alignment="center"):
            control.draw(controls.LENGTH.key)
            _start_or_stop(view)
    if job := view.active(RUNS):
        platform.poll(panel.progress, jobs.poll_seconds)(job)
        platform.part(_results, run_every=LIVE_SECONDS)(view)
    else:
        panel.failure(view.failures.get(RUNS, "") or view.failure)
        _results(view)
    _cards()
    panel.watch(view)
    platform.mark_ready()


def _ways_in() -> None:
    """Draw the buttons of the course, of a trace file, and of the endpoint."""
    with st.container(key="ways-in", horizontal=True, gap="small"):
        course = registry.COURSE
        st.page_link(course.script, label=tr("Open the course"), icon=":material/school:")
        with st.popover(tr("Open your own trace"), icon=":material/folder_open:"):
            save.draw_upload(registry.HOME.path, "home_trace_file")
        requests = registry.page_at("requests")
        st.page_link(requests.script, label=tr("Point a client here"), icon=":material/terminal:")


def _start_or_stop(view: HomeView) -> None:
    """Draw Run or Stop, and start the work of an example or of the link that opened the page."""
    with platform.critical():
        if st.session_state.pop(shared.RUN_EXAMPLE, False):
            _start(view)
        elif not view.restored:
            named_run.restore_runs(view, controls.BY_KEY, _work, partial(_start, view))
    with st.container(key="run-side", width="content"):
        bar.button(
            view,
            RUNS,
            N_("Run"),
            partial(_start, view),
            key="start",
            stop_key="stop_run",
            type="primary",
            shortcut="Ctrl+Enter",
        )


def _start(view: HomeView, read: Read = value) -> None:
    """Start the runs; a wrong setting becomes the page's failure."""
    view.failure, view.waits = "", False
    try:
        requests = controls.requests(read)
    except DecodingError as error:
        view.failure = in_words(error)
        return
    if not requests[0].prompt.strip():
        view.failure = _EMPTY
        return
    if view.attempt(RUNS, lambda: work.run_methods(view, requests)):
        view.asked = requests
        view.values = {key: read(key) for key in controls.BY_KEY}


def _work(read: Read) -> named_run.RequestedWork:
    requests = controls.requests(read)
    return requests, sum(cost.tokens_of(request.config) for request in requests)


def _results(view: HomeView) -> None:
    """Draw the tree and the table of the runs."""
    runs = view.shown
    if runs is None:
        st.text(tr("The first text appears as soon as it is written."))
    else:
        with st.container(key="home-results", gap="small"):
            _draw_runs(view, runs)
    if not view.waits:
        address.write(named_run.MADE, _word(view) or None)
    others = st.query_params.keys() - {registry.HOME_MARK}
    address.write(registry.HOME_MARK, "1" if others else None)
    address.keep()


def _draw_runs(view: HomeView, runs: HomeRuns) -> None:
    many = runs.many
    figure.omit_captions(figures.methods_caption(many))
    with st.container(key="home-tree"):
        figure.chart(
            of_figure("methods", figures.methods_tree, many),
            (view.version, runs.source, many.count),
            on_click=partial(_clicked, runs),
            across=style.window() != "desktop",
        )
    with st.container(key="home-verdict", border=True, gap="small"):
        with st.container(key="home-words", horizontal=True, vertical_alignment="center"):
            st.text(figures.methods_verdict(many), width="stretch")
            runs_menu.draw(many, "home")
        if outside.is_outside(many.traces[0]):
            st.text(tr(outside.WORDS))
        run_table.draw(runs)
        for sentence in runs.lacking:
            st.text(sentence)
        source = tr("Under way") if view.active(RUNS) else tr(_SOURCES[runs.source])
        panel.made_by(f"{source} · {figures.methods_caption(many)}")
        if view.asked and not view.active(RUNS) and not _are_of_the_controls(view):
            panel.note(tr("The settings have changed: press Run to repeat the runs."), "")


def _are_of_the_controls(view: HomeView) -> bool:
    """Return whether Run would make the shown runs again."""
    try:
        return bool(view.asked) and view.asked == controls.requests()
    except DecodingError:
        return False


def _word(view: HomeView) -> str:
    """Return the word by which the address names the shown runs; empty if it can't."""
    if not view.asked:
        return ""
    if _are_of_the_controls(view):
        return named_run.OF_THE_CONTROLS
    tokens = sum(cost.tokens_of(request.config) for request in view.asked)
    if not named_run.starts_by_itself(view.asked, tokens):
        return ""
    return named_run.word_of(view.values, controls.BY_KEY)


def _clicked(runs: HomeRuns, custom: list[object]) -> None:
    if custom and isinstance(custom[0], int | float) and 0 <= custom[0] < runs.many.count:
        step = custom[1] if len(custom) > 1 else None
        open_run(runs, int(custom[0]), int(step) if isinstance(step, int | float) else None)
        st.rerun()


def _cards() -> None:
    """Draw a card for each page but this one."""
    st.html(f"<h2>{escape(tr('What each page shows'))}</h2>")
    with st.container(key="cards"):
        for page in registry.PAGES:
            if page is not registry.HOME:
                _card(page)


def _card(page: Page) -> None:
    with st.container(key=f"card-{page.name}", gap=None):
        if picture := pictures.address_of(page.name, style.theme().name):
            st.html(f'<img src="{escape(picture)}" alt="" loading="lazy" width="320" height="200">')
        st.page_link(page.script, label=tr(page.title))
        st.text(tr(page.summary))
