"""A pupil's part in a class: joined by a link or a code, said on every page, left by a press."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

from core.decoding.counting import sentences
from core.language import Message, tr
from pages.ui import platform, registry
from pages.ui.classroom import keeper
from pages.ui.classroom.refusals import ENDED, RELEASED, ClassError
from pages.ui.classroom.rooms import ROOMS, written
from pages.ui.classroom.state import ClassView
from pages.ui.course.state import Course, listeners
from pages.ui.platform import session

# Name of the code in the address.
CODE = "class"
# A pupil's page looks so often whether the class goes on.
LOOK_SECONDS = 4.0
_STATE = "membership"


@dataclass(eq=False)
class Membership:
    """A session's class.

    Args:
        code, pupil: the class and the pupil's random id; empty outside of a class.
        handled: code of the address that was joined, refused or left, which isn't tried again.
        message: a sentence for the pupil, such as the reason of a refusal.
        recalled: names of lessons whose former guesses were sent to the class, and whether the
            browser had handed over the progress by then.
    """

    code: str = ""
    pupil: str = ""
    handled: str = ""
    message: str = ""
    recalled: set[tuple[str, bool]] = field(default_factory=set)

    @staticmethod
    def current() -> Membership:
        """Return this session's."""
        return platform.keep(_STATE, Membership)

    @property
    def is_in(self) -> bool:
        """Return whether the session is in a class that is open."""
        return bool(self.pupil) and ROOMS.is_in(self.code, self.pupil)

    def join(self, typed: str) -> None:
        """Join a class in place of the present one; a refusal becomes the message."""
        code = written(typed)
        self.handled, self.message = code, ""
        if code == self.code and self.is_in:
            return
        try:
            pupil = ROOMS.join(code, session.current() or "")
        except ClassError as error:
            self.message = error.shown
            return
        ROOMS.leave(self.code, self.pupil)
        self.code, self.pupil = code, pupil
        self.recalled.clear()

    def resume(self, kept: str) -> None:
        """Go on as the pupil that this browser was before a reload, or in another tab."""
        code, _, pupil = kept.partition(" ")
        if self.code in ("", code) and pupil != self.pupil and ROOMS.is_in(code, pupil):
            ROOMS.leave(code, self.pupil)
            self.code, self.pupil = code, pupil

    def leave(self) -> None:
        """Leave the class, with the guesses."""
        ROOMS.leave(self.code, self.pupil)
        # The address may still name it.
        self.handled = self.code or self.handled
        self.code = self.pupil = self.message = ""

    def answer(self, lesson: str, question: str, choice: int, right: int | None = None) -> None:
        """Send a guess to the class, if the session is in one.

        Args:
            right: number of the right answer in this session's run; None before it is known.
        """
        self._send(lambda: ROOMS.answer(self.code, self.pupil, lesson, question, choice, right))

    def recall(self, course: Course) -> None:
        """Send the guesses that the open lesson has from before the joining."""
        if course.lesson is None or (course.lesson.name, course.restored) in self.recalled:
            return
        lesson, choices = course.lesson.name, dict[str, int]()
        self.recalled.add((lesson, course.restored))
        for at, answer in course.own.answers.items():
            choices[str(at)] = answer.choice
        if choices:
            self._send(lambda: ROOMS.recall(self.code, self.pupil, lesson, choices))

    def _send(self, send: Callable[[], None]) -> None:
        """Send guesses if the session is in a class; a refusal becomes the message."""
        if not self.pupil:
            return
        self.message = ""
        try:
            send()
        except ClassError as error:
            self.message = error.shown


def _tell(lesson: str, at: int, choice: int, right: int | None) -> None:
    """Send a guess that the panel of a lesson has taken, or the right answer of its run."""
    if _STATE not in st.session_state:
        return
    given = Course.current().progress[lesson].answers[at]
    if right is not None or not given.judged:
        Membership.current().answer(lesson, str(at), choice, right)


listeners.append(_tell)


def resume(stored: str) -> None:
    """Go on with the class that this browser has stored, on a page without the link."""
    Membership.current().resume(stored)


def show() -> None:
    """Join the class that the address names, and draw the line of the class on every page."""
    if ClassView.current().key_of_class:
        return  # The pupil's page of a teacher's browser is another tab.
    linked = st.query_params.get(CODE, "")
    if not linked and _STATE not in st.session_state:
        return
    own, code = Membership.current(), written(linked)
    is_new = bool(linked) and code not in (own.handled, own.code)
    if is_new and not keeper.is_told(registry.PUPIL_ITEM):
        # Before the browser says which pupil it was, it would join as another, who stays if the
        # page is left at once.
        keeper.keep(registry.PUPIL_ITEM, "", own.resume, prefix=f"{code} ", asks=True)
        return
    with platform.critical():
        if is_new:
            own.join(linked)
        if own.pupil and not own.is_in:
            own.message = RELEASED if ROOMS.is_open(own.code) else ENDED
            own.code = own.pupil = own.handled = ""
        if own.pupil:
            own.recall(Course.current())
    session.write_address(CODE, own.code or None)
    kept = f"{own.code} {own.pupil}" if own.pupil else ""
    # Without a class, this removes what the browser has stored.
    keeper.keep(registry.PUPIL_ITEM, kept, own.resume, prefix=kept and f"{own.code} ")
    if own.pupil:
        platform.poll(_line, lambda: LOOK_SECONDS)(own)
    elif own.message:
        with _row():
            st.text(tr(own.message), width="stretch")
            st.button(tr("Close"), key="close_class", on_click=own.leave)


def _line(own: Membership) -> None:
    """Draw the line of the class; the page's timer calls this again, until the class is over."""
    if not own.is_in:
        st.rerun()
    with _row():
        words = Message(
            "You are in class {code}. Your guesses are counted without a name.", code=own.code
        )
        st.text(tr(sentences(words, own.message)), width="stretch")
        st.button(tr("Leave"), key="leave_class", on_click=own.leave)


@contextmanager
def _row() -> Iterator[None]:
    with st.container(key="class-line", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/groups:", width="content")
        yield
