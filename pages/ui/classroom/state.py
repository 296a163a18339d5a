"""Session state of the Class page: the teacher's class, and the question that is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import streamlit as st

from pages.ui import platform
from pages.ui.classroom.refusals import ClassError
from pages.ui.classroom.rooms import ROOMS, Room
from pages.ui.platform import reach, session
from pages.ui.run.view import PageView
from pages.ui.widgets.controls.control import in_words

# In the address: the question that is shown.
QUESTION = "question"


@dataclass(eq=False)
class ClassView(PageView):
    """One session's view of its class.

    Args:
        key_of_class: the teacher's secret; empty without a class.
        question: name of the shown question within the chosen lesson.
        revealed: lessons and names of the questions whose right answer is shown.
    """

    key: ClassVar[str] = "class-view"

    key_of_class: str = ""
    question: str = ""
    revealed: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def initial(cls) -> Self:
        """Return the view at the question that the address names."""
        return cls(question=st.query_params.get(platform.key(QUESTION), "")[:80])

    @property
    def room(self) -> Room | None:
        """The teacher's class; None before it is opened, and once it has ended."""
        return ROOMS.room(self.key_of_class) if self.key_of_class else None

    def open_class(self) -> None:
        """Open a class; a refusal becomes the page's failure."""
        self.failure = ""
        try:
            self.key_of_class = ROOMS.open_room(session.current() or "", reach.client()).key
        except ClassError as error:
            self.failure = in_words(error)

    def resume(self, key: str) -> None:
        """Go on with the class that this browser opened before a reload."""
        if self.room is None and ROOMS.room(key) is not None:
            self.key_of_class = key

    def end_class(self) -> None:
        """End the class."""
        ROOMS.end(self.key_of_class)
        self.key_of_class = ""
        self.revealed.clear()

    def ask(self, name: str) -> None:
        """Show another question."""
        self.question = name

    def reveal_or_hide(self, lesson: str, name: str) -> None:
        """Show the right answer of a question, or hide it again."""
        self.revealed ^= {(lesson, name)}

    def clear_question(self, lesson: str, name: str) -> None:
        """Forget the guesses for a question, whose right answer is hidden again."""
        ROOMS.clear(self.key_of_class, lesson, name)
        self.revealed.discard((lesson, name))
