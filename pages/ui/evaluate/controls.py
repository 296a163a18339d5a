"""The Evaluate page's controls: which stored plan is shown and run."""

from __future__ import annotations

from typing import Any

from pages.ui.widgets.control import Choice, declare

OWN = "own"
LESSONS = {
    "leak": "The template that leaked",
    "hot-draft": "The hot draft",
    "beam": "Beam is not better",
}
(LESSON,) = declare(
    Choice("lesson", "Evaluation", "leak", {**LESSONS, OWN: "My plan"}),
)  # fmt: skip


def load_controls(_: Any) -> None:
    """A file of another page sets nothing here."""
