"""Class: pupils' guesses in lessons, live on the teacher's page."""

from __future__ import annotations

from core.language import N_
from pages.ui.classroom import page
from pages.ui.classroom.state import ClassView
from pages.ui.shell import frame

view = ClassView.current()
view.collect_results()

frame.intro(
    N_("Class"),
    N_(
        "Open a class, and your pupils' guesses in a lesson arrive here as a "
        "live chart, question by question. Pupils join by a link or a code, "
        "without a name."
    ),
)
page.draw(view)
