"""The page of many runs as it is drawn: the verdict, the tree, and one run's text."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import streamlit as st

from core import figures
from core.decoding.counting import counted, nth
from core.decoding.errors import DecodingError
from core.decoding.many.methods import whole_text
from core.decoding.many.types import ManyRuns
from core.export.part import Part, of_figure
from core.figures.base.labels import plain_name
from core.figures.many.words import runs_words
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.many import controls, work
from pages.ui.many.controls import GRID
from pages.ui.many.state import PICK, ManyView, selected, shown
from pages.ui.run import address, jobs, named_run, shared
from pages.ui.run.display import bar, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure
from pages.ui.run.files import runs_menu
from pages.ui.run.files.save import turn_to
from pages.ui.shell import glossary
from pages.ui.widgets import table
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Read, in_words, value

LIVE_SECONDS = 1.5
_NOTICE = N_("""
**What to notice**

- At temperature 0, on one thread and with one row at a time, all runs give the same text. With
  different seeds the texts part: early where the entropy is high, late where it is low.
- A margin below the measured rounding error is a tie: the rows of a batch, the threads or the
  number type decide which token wins, and not the model.
- In a grid, a low temperature or a low top-p gives texts that part late or never.
""")


def start_or_stop(view: ManyView) -> None:
    """Draw Run or Stop, and start the work of an example or of the link that opened the page."""
    with platform.critical():
        if st.session_state.pop(platform.key(shared.RUN_EXAMPLE), False):
            _start(view)
        elif not view.restored:
            named_run.restore_runs(view, controls.BY_KEY, _work, partial(_start, view))
    with st.container(key=platform.key("run-side"), width="content"):
        bar.button(
            view,
            "many",
            N_("Run"),
            partial(_start, view),
            key="start",
            stop_key="stop_run",
            type="primary",
            shortcut="Ctrl+Enter",
        )


def _start(view: ManyView, read: Read = value) -> None:
    """Start the runs; a wrong setting becomes the page's failure."""
    if "many" in view.jobs:
        return
    view.failure, view.waits = "", False
    try:
        request, batches = controls.request(read), controls.batches(read)
    except DecodingError as error:
        view.failure = in_words(error)
        return
    if not request.prompt.strip():
        view.failure = bar.EMPTY_PROMPT
        return
    mode = str(read("many_mode"))
    if view.attempt("many", lambda: work.run_many(view, mode, request, batches)):
        view.asked[mode] = request, batches
        view.values[mode] = {key: read(key) for key in controls.BY_KEY}


def _work(read: Read) -> named_run.RequestedWork:
    request, batches = controls.request(read), controls.batches(read)
    return [request], controls.count_of(batches) * request.config.max_new_tokens


def draw(view: ManyView) -> None:
    """Draw everything below the controls."""
    if job := view.active("many"):
        platform.poll(panel.progress, jobs.poll_seconds)(job)
        platform.part(_figures, run_every=LIVE_SECONDS)(view)
    else:
        panel.failure(view.failures.get("many", "") or view.failure)
        _figures(view)
    panel.watch(view)


def _figures(view: ManyView) -> None:
    many = shown(view)
    if many is None:
        st.text(tr("The first run appears as soon as it is ready."))
        return
    place = selected(view, many)
    key = (value("many_mode"), view.version, many.count, place)
    figure.omit_captions(figures.many_caption(many))
    _verdict(view, many)
    with st.container(key=platform.key("figures")):
        _chart(view, of_figure("tree", figures.many_tree, many, selected=place), key, across=True)
        with st.container(key=platform.key("pair")):
            left, right = st.columns(2, gap="small")
            with left:
                _main(view, many, place, key)
            with right:
                _one_run(view, many, place)
        _looks(view, many, key)
    address.write(PICK, str(place) if place else None)
    if not view.waits:
        address.write(named_run.MADE, _word(view) or None)
    address.keep()
    platform.mark_ready()


def _verdict(view: ManyView, many: ManyRuns) -> None:
    """Draw the verdict, what the runs are, and the Save menu."""
    mode = str(value("many_mode"))
    source = (
        tr("File")
        if mode in view.opened
        else tr("Your runs")
        if mode in view.made
        else tr("Example")
    )
    if view.active("many"):
        source = tr("Runs under way")
    with st.container(key=platform.key("many-verdict"), border=True, gap="small"):
        with st.container(
            key=platform.key("many-words"), horizontal=True, vertical_alignment="center"
        ):
            st.text(f"{source} · {_count_words(view, many)}", width="stretch")
            runs_menu.draw(many, "many")
        st.text(figures.many_verdict(many))
        if mode in view.asked and not view.active("many") and not _are_of_the_controls(view):
            panel.note(tr("The settings have changed: press Run to repeat the runs."), "")
        panel.made_by(figures.many_caption(many))


def _count_words(view: ManyView, many: ManyRuns) -> str:
    """Return the number of runs, and how many of them a stop has left out or cut."""
    mode, words = str(value("many_mode")), tr(counted(many.count, "run"))
    if view.active("many") or mode not in view.made or mode not in view.asked:
        return words
    asked = controls.count_of(view.asked[mode][1])
    cut = sum(trace.finish_reason == "cancelled" for trace in many.traces)
    if many.count < asked:
        words = tr("{made} of {runs}", made=many.count, runs=counted(asked, "run"))
    return f"{words} · {tr('{cut} stopped before their end', cut=cut)}" if cut else words


def _are_of_the_controls(view: ManyView) -> bool:
    """Return whether Run would make the shown runs again."""
    try:
        now = controls.request(), controls.batches()
    except DecodingError:
        return False
    return view.asked.get(str(value("many_mode"))) == now


def _word(view: ManyView) -> str:
    """Return the word by which the address names the shown runs; empty if it can't."""
    mode = str(value("many_mode"))
    if mode not in view.asked:
        return ""
    if _are_of_the_controls(view):
        return named_run.OF_THE_CONTROLS
    request, batches = view.asked[mode]
    tokens = controls.count_of(batches) * request.config.max_new_tokens
    if not named_run.starts_by_itself([request], tokens):
        return ""
    return named_run.word_of(view.values[mode], controls.BY_KEY)


def _chart(view: ManyView, part: Part, key: tuple[Hashable, ...], *, across: bool = False) -> None:
    """Draw a figure in which a click selects a run."""
    figure.chart(part, key, on_click=partial(_clicked, view), across=across)


def _clicked(view: ManyView, custom: list[object]) -> None:
    many = shown(view)
    if many and custom and isinstance(custom[0], int | float) and 0 <= custom[0] < many.count:
        view.select(int(custom[0]))
        st.rerun()


def _main(view: ManyView, many: ManyRuns, place: int, key: tuple[Hashable, ...]) -> None:
    """Draw the matrix of a grid, or the margins of runs of one request."""
    if value("many_mode") != GRID:
        _chart(view, of_figure("forks", figures.many_forks, many), key)
        return
    control.draw("measure", label_visibility="collapsed")
    measure = str(value("measure"))
    part = of_figure("grid", figures.many_matrix, many, measure=measure, selected=place)
    _chart(view, part, (*key, measure))


def _one_run(view: ManyView, many: ManyRuns, place: int) -> None:
    """Draw the text of the selected run, and what else gave the same text."""
    trace = many.traces[place]
    text = many.texts[many.text_of(place)]
    with st.container(key=platform.key("many-run"), border=True, gap="small"):
        words = runs_words(many, (place,))
        name = tr("Run {number}", number=nth(place))
        st.text(f"{name}: {words}" if words else name)
        st.text(whole_text(trace) or "∅")
        others = runs_words(many, text.runs)
        if len(text.runs) > 1:
            st.text(
                tr(
                    "{same} of {total} runs gave these tokens",
                    same=len(text.runs),
                    total=many.count,
                )
                + (f": {others}." if others else ".")
            )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            _choice(view, many, place)
            st.button(
                tr("Open on Decode"),
                key=platform.key("open_on_decode"),
                icon=":material/open_in_new:",
                on_click=partial(turn_to, registry.DECODE, trace, source="many"),
            )
    with st.container(key=platform.key("notice")):
        st.markdown(glossary.marked(tr(_NOTICE)))


def _choice(view: ManyView, many: ManyRuns, place: int) -> None:
    """Draw the field with the number of the selected run."""
    key = platform.key("many_pick")
    st.session_state[key] = nth(place)
    st.number_input(
        tr("Run"),
        1,
        max(many.count, 2),
        key=key,
        width=130,
        on_change=lambda: view.select(min(int(st.session_state[key]), many.count) - 1),
    )


def _looks(view: ManyView, many: ManyRuns, key: tuple[Hashable, ...]) -> None:
    drawings = {
        "runs": Tab(tr("All runs"), partial(_runs, view, many)),
        "agreement": Tab(tr("Agreement"), partial(_agreement, many, key)),
    }
    if value("many_mode") == GRID:
        drawings["forks"] = Tab(
            tr("Forks"), lambda: _chart(view, of_figure("forks", figures.many_forks, many), key)
        )
    panel.tabs("many_look", drawings)


def _agreement(many: ManyRuns, key: tuple[Hashable, ...]) -> None:
    figure.chart(of_figure("agreement", figures.many_agreement, many), key)


def _runs(view: ManyView, many: ManyRuns) -> None:
    """Draw the table of all runs, of which one may be picked."""
    data = figures.many_runs_data(many)
    text, same, ended = N_("generated text"), N_("same text"), N_("ended")
    frame = {
        "run": data["run"],
        "settings": data["settings"],
        text: [plain_name(whole_text(trace), 300) for trace in many.traces],
        same: [len(many.texts[place - 1].runs) for place in data["text"]],
        "tokens": data["tokens"],
        "surprisal": data["mean_surprisal"],
        ended: [tr(panel.ENDED[reason]) for reason in data["ended"]],
    }
    table.draw(
        "many-runs",
        frame,
        numbers={same: "%d", "tokens": "%d", "surprisal": "%.3f"},
        notes={
            same: tr("Runs with the same tokens."),
            "surprisal": tr("Mean, nats a token."),
        },
        # All columns but the last, beside the rail at 1280 px: together 660 px.
        widths={
            "run": 44,
            "settings": 90,
            text: 205,
            same: 82,
            "tokens": 62,
            "surprisal": 82,
        },
        most_rows=12,
        on_pick=view.select,
    )
