"""The Class page as it is drawn: opening and joining, then the teacher's live chart."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from html import escape
from urllib.parse import urlencode, urlsplit

import streamlit as st

from core import figures
from core.decoding.counting import counted, nth
from core.export.part import of_figure
from core.figures import ClassGuesses
from core.language import N_, tr, trn
from core.server.hosts import LOOPBACK
from pages.ui import platform, registry
from pages.ui.classroom import keeper, lessons
from pages.ui.classroom.controls import LESSON, NEWEST
from pages.ui.classroom.lessons import Asked
from pages.ui.classroom.membership import CODE, Membership
from pages.ui.classroom.rooms import ROOMS, Room, Tally
from pages.ui.classroom.state import QUESTION, ClassView
from pages.ui.platform import reach, session
from pages.ui.run import address
from pages.ui.run.display import panel
from pages.ui.run.figures import figure
from pages.ui.widgets import table
from pages.ui.widgets.controls.control import value

POLL_SECONDS = 1.0
# Name of the teacher's key in the browser's storage.
TEACHER_ITEM = "decoding-explorer-teacher"
ONLY_HERE = N_(
    "Your pupils' devices can't open this link, which names your own "
    "computer: start the app as README.md says under Sharing, and open this "
    "page at the computer's address in the Wi-Fi."
)
WAITING = N_(
    "Nobody has answered yet. Your pupils open the link, choose a lesson on "
    "Course, and answer its questions; their guesses appear here."
)
EXAMPLE = ClassGuesses(
    N_("Example with invented guesses"),
    N_("The model has written “Once upon a”. Which token does it write next?"),
    ("time", "day", "hill", "night"),
    (17, 4, 1, 3),
    27,
)


def _example() -> ClassGuesses:
    return replace(EXAMPLE, of=tr(EXAMPLE.of), question=tr(EXAMPLE.question))


def draw(view: ClassView) -> None:
    """Draw everything below the introduction."""
    panel.failure(view.failure)
    room = view.room
    if view.key_of_class and room is None:
        view.end_class()
        panel.note(tr("The class has ended; its guesses are forgotten."), "")
    keeper.keep(TEACHER_ITEM, view.key_of_class, view.resume)
    if room is None:
        _ways_in(view)
        return
    with st.container(key="class-desk"):
        _invitation(view, room)
        with st.container(key="class-live"):
            platform.poll(_live, lambda: POLL_SECONDS)(view, room)


def _ways_in(view: ClassView) -> None:
    """Draw what a teacher and a pupil can do, above an example of a class's guesses."""
    with st.container(key="pair"):
        left, right = st.columns(2, gap="small")
        with left, st.container(key="class-open", border=True, gap="small"):
            st.markdown(f"## {tr('For teachers')}")
            st.text(
                tr(
                    "You get a code and a link for up to 200 pupils. Guesses are counted "
                    "without names, kept in memory only, and forgotten when you end the "
                    "class, an hour after its last use, or after 12 hours."
                )
            )
            st.button(
                tr("Open a class"), key="open_class", type="primary", on_click=view.open_class
            )
        with right, st.container(key="class-join", border=True, gap="small"):
            st.markdown(f"## {tr('For pupils')}")
            own = Membership.current()
            with st.form("join_class", border=False, enter_to_submit=True):
                typed = st.text_input(tr("Code of your class"), key="class_code", max_chars=20,
                    placeholder="BCDF-2345", autocomplete="off")  # fmt: skip
                if st.form_submit_button(tr("Join the class")):
                    own.join(typed)
                    st.rerun()
    figure.chart(of_figure("class-guesses", figures.class_guesses, _example()), ("example",))


def link_of(room: Room) -> str:
    """Return the link that pupils open; empty if the browser's address isn't known."""
    here = urlsplit(session.browser_url())
    query = {CODE: room.code}
    if replica := reach.replica():
        query[reach.REPLICA] = replica
    path = registry.COURSE.path
    return f"{here.scheme}://{here.netloc}/{path}?{urlencode(query)}" if here.netloc else ""


def _invitation(view: ClassView, room: Room) -> None:
    """Draw the code, the link with its QR code, and the end of the class."""
    link = link_of(room)
    with st.container(key="class-invitation", border=True, gap="small"):
        is_local = urlsplit(link).hostname in LOOPBACK
        if link and not is_local:
            from pages.ui.classroom import qr

            st.html(qr.picture(link))
        words = escape(tr("Code of the class"))
        st.html(f'<p class="de-hint">{words}</p><p class="de-code">{room.code}</p>')
        if link:
            st.code(link, language=None, wrap_lines=True)
            if is_local:
                st.html(f'<p class="de-hint">{escape(tr(ONLY_HERE), quote=False)}</p>')
        with st.popover(tr("End the class"), key="end_class"):
            st.text(tr("All guesses are forgotten, and the code stops working."))
            st.button(tr("End it now"), key="end_class_now", on_click=view.end_class)


def _live(view: ClassView, room: Room) -> None:
    """Draw the present guesses; the page's timer calls this again."""
    if view.room is None:
        st.rerun()
    tally = ROOMS.tally(room.code)
    with st.container(key="class-bar", horizontal=True, vertical_alignment="bottom", gap="medium"):
        LESSON.draw()
        words = trn("{count} pupil in the class", "{count} pupils in the class", tally.pupils)
        st.text(words, width="content")
    questions = _questions(room, tally)
    if not questions:
        st.text(tr(WAITING))
        platform.mark_ready()
        return
    at = lessons.find(questions, view.question)
    asked = questions[at]
    address.write(QUESTION, asked.name if at else None)
    shows = (asked.lesson, asked.name) in view.revealed
    guesses = _guesses(room, asked, tally.pupils, shows=shows)
    _buttons(view, questions, at, shows=shows)
    with st.container(key="class-question"):
        st.text(f"{nth(at)}. {asked.words}")
    part = of_figure("class-guesses", figures.class_guesses, guesses)
    figure.chart(part, (guesses,), across=True)
    if shows:
        _of_own_runs(room, asked)
    _overview(view, questions, tally)
    platform.mark_ready()


def _questions(room: Room, tally: Tally) -> list[Asked]:
    """Return the questions of the chosen lesson."""
    lesson = str(value("class_lesson"))
    if lesson == NEWEST:
        lesson = next((of for of, _ in reversed(tally.asked)), "")
    names = [name for of, name in tally.asked if of == lesson]
    return lessons.questions(room, lesson, names)


def _guesses(room: Room, asked: Asked, pupils: int, *, shows: bool) -> ClassGuesses:
    counts = ROOMS.counts(room.code, asked.lesson, asked.name)
    right = ROOMS.right(room.code, asked.lesson, asked.name).most_common(1) if shows else []
    return ClassGuesses(
        asked.title,
        asked.words,
        asked.choices,
        tuple(counts[place] for place in range(len(asked.choices))),
        max(pupils, counts.total()),
        right[0][0] if right and right[0][0] < len(asked.choices) else None,
    )


def _buttons(view: ClassView, questions: list[Asked], at: int, *, shows: bool) -> None:
    """Draw the buttons to the neighbouring questions, of the right answer, and of clearing."""
    asked = questions[at]
    with st.container(
        key="class-buttons", horizontal=True, vertical_alignment="center", gap="small"
    ):
        for words, icon, to in (
            (tr("Previous question"), "chevron_left", at - 1),
            (tr("Next question"), "chevron_right", at + 1),
        ):
            st.button(
                words,
                icon=f":material/{icon}:",
                key=f"class_to_{icon}",
                disabled=to not in range(len(questions)),
                on_click=view.ask,
                args=(questions[to % len(questions)].name,),
            )
        st.button(
            tr("Hide the answer") if shows else tr("Show the answer"),
            key="reveal_answer",
            type="primary",
            on_click=view.reveal_or_hide,
            args=(asked.lesson, asked.name),
        )
        st.button(
            tr("Clear the guesses"),
            key="clear_guesses",
            help=tr("Pupils who have answered begin the lesson again to answer anew."),
            on_click=view.clear_question,
            args=(asked.lesson, asked.name),
        )


def _of_own_runs(room: Room, asked: Asked) -> None:
    """Say whose runs the right answer is from; pupils may have moved knobs before."""
    right = ROOMS.right(room.code, asked.lesson, asked.name)
    if not right:
        st.text(tr("No pupil's page has shown the answer yet."))
    elif len(right) > 1:
        most, count = right.most_common(1)[0]
        st.text(
            tr(
                "In {shown} of {runs} of your pupils answer {most} is right; the others "
                "were run with other settings.",
                shown=count,
                runs=counted(right.total(), "run"),
                most=nth(most),
            )
        )


def _overview(view: ClassView, questions: list[Asked], tally: Tally) -> None:
    """Draw a row for each question of the lesson; a click shows it."""
    answered = [tally.asked.get((asked.lesson, asked.name), 0) for asked in questions]
    table.draw(
        "class-questions",
        {
            "question": [nth(place) for place in range(len(questions))],
            "text": [asked.words for asked in questions],
            "answered": answered,
        },
        numbers={"question": "%d", "answered": "%d"},
        widths={"question": 70, "answered": 80},
        most_rows=8,
        on_pick=partial(_picked, view, questions),
    )


def _picked(view: ClassView, questions: list[Asked], at: int) -> None:
    view.ask(questions[at].name)
