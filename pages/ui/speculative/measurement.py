"""One row of what is measured of a speculative run on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.language import N_
from pages.ui.run.display import bar
from pages.ui.run.jobs import Job
from pages.ui.speculative.state import SpecView
from pages.ui.widgets.controls.control import value


def row(
    view: SpecView,
    name: str,
    label: str,
    start: Callable[[], Job],
    hint: str,
    *,
    options: Sequence[str] = (),
) -> None:
    """Options, the button, and how far it is.

    Args:
        name: of the measurement in the view, and of its job.
        hint: shown beside the button before anything was measured.
        options: keys of the controls before the button.
    """
    may_load = view.may_load(str(value("model")))

    def begin() -> None:
        if not view.measuring():
            view.begin(name, start())

    if not may_load:
        hint = N_("Choose this run's models first.")
    elif getattr(view, name) is not None:
        hint = ""
    bar.measure(
        view,
        name,
        label,
        begin,
        hint,
        row=f"measure-{name}",
        key=f"start-{name}",
        stop_key=f"stop-{name}",
        disabled=not may_load or view.measuring(),
        options=options,
    )
