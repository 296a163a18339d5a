"""Budget sweep over many problems: the project's own, or those of an uploaded file."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from core import figures
from core.decoding.counting import counted
from core.decoding.errors import ConfigError, DecodingError
from core.decoding.reasoning.config import Reasoning
from core.evaluation.sweep.fair import fair_rows
from core.evaluation.sweep.types import BudgetField, BudgetSweep, SweepPlan
from core.export.stored_parts import sweep_parts
from core.export.table import csv_text
from core.figures.reasoning.words import problems_words
from core.language import N_, Message, tr
from pages.ui import platform
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import own_problems, work
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import address, jobs, shared
from pages.ui.run.display import bar, panel
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import in_words, value

MAX_BUDGETS = 40
LIVE_SECONDS = 4.0
_FIELDS: dict[str, BudgetField] = {"close": "max_thinking_tokens", "cut": "max_new_tokens"}


def shown(view: ReasonView) -> BudgetSweep | None:
    """The sweep in sight: the one under way, else the last one of this bound."""
    field = _FIELDS[str(value("bound"))]
    live = view.live
    return live if live is not None and live.plan.budget_field == field else view.sweeps.get(field)


def identity(view: ReasonView, sweep: BudgetSweep) -> Hashable:
    """Tells sweeps apart, and the states of one."""
    rows = len(sweep.rows) if sweep.complete else len(fair_rows(sweep))
    return (view.version("sweep"), sweep.plan.budget_field, rows, sweep is view.live)


def draw(view: ReasonView) -> None:
    """Draw the settings of the budget sweep, its progress, and its figures."""
    with st.container(key=platform.key("many"), gap="small"):
        _controls(view)
        _state(view)
    if view.active("sweep") is not None:
        platform.part(_figures, run_every=LIVE_SECONDS)(view)
    else:
        _figures(view)


def _figures(view: ReasonView) -> None:
    """Draw the outcomes and the costs of the runs; during a sweep, of those so far."""
    sweep = shown(view)
    if sweep is None:
        return
    _words(view, sweep)
    key = identity(view, sweep)
    _, outcomes, spent, difficulty = sweep_parts(sweep)
    with st.container(key=platform.key("pair")):
        left, right = st.columns(2, gap="small")
        with left:
            figure.chart(outcomes, (key,))
        with right:
            figure.chart(spent, (key,))
    if difficulty.draw is not None:
        figure.chart(difficulty, (key,), across=True)


def _controls(view: ReasonView) -> None:
    with st.container(
        key=platform.key("many-row"), horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        control.draw("budgets")
        if view.uploaded is None:
            control.draw("many_problems")
        if float(value("reason_temperature")) > 0:
            control.draw("tries")
        own_problems.draw(view)
        _button(view)


def plan(view: ReasonView) -> SweepPlan:
    """The sweep that the controls describe.

    Raises:
        ConfigError: budgets that are no numbers, or settings that exclude each other.
    """
    field = _FIELDS[str(value("bound"))]
    heat = float(value("reason_temperature"))
    uploaded = len(view.uploaded.problems) if view.uploaded is not None else 0
    return SweepPlan(
        model_id=shared.model(),
        problems=own_problems.problems(view, uploaded or int(value("many_problems"))),
        config=reason_controls.reasoning(value, temperature=heat),
        budgets=budgets(str(value("budgets")), least=0 if field == "max_thinking_tokens" else 1),
        budget_field=field,
        samples=int(value("tries")) if heat > 0 else 1,
    )


def tokens(view: ReasonView) -> int:
    """The most tokens that the controls' sweep computes.

    Raises:
        as `plan`.
    """
    chosen = plan(view)
    each = sum(chosen.config_of(budget, 0).max_new_tokens for budget in chosen.budgets)
    return each * len(chosen.problems.problems) * chosen.samples


def budgets(text: str, least: int) -> tuple[int, ...]:
    """The budgets that were typed, rising; those below the least are left out.

    Raises:
        ConfigError: something else than whole numbers, none of them, or too many.
    """
    words = text.replace(",", " ").replace(";", " ").split()
    if not all(word.isascii() and word.isdigit() and len(word) <= 6 for word in words):
        raise ConfigError(
            Message(
                "Budgets must be whole numbers with commas or spaces between, such as 0, 32, 64."
            )
        )
    numbers = tuple(sorted({int(word) for word in words if int(word) >= least}))
    if not 1 <= len(numbers) <= MAX_BUDGETS:
        raise ConfigError(
            Message(
                "Give 1 to {most} budgets of {least} tokens or more.",
                most=MAX_BUDGETS,
                least=least,
            )
        )
    return numbers


def resumable(view: ReasonView, chosen: SweepPlan) -> BudgetSweep | None:
    """One's own unfinished sweep of just this plan."""
    unfinished = view.sweeps.get(chosen.budget_field)
    if unfinished is None or unfinished.complete or chosen.budget_field not in view.swept:
        return None
    marks = {name: getattr(unfinished.plan.config, name) for name in ("think_start", "think_end")}
    same = replace(
        chosen,
        model_revision=unfinished.plan.model_revision,
        config=replace(chosen.config, **marks),
    )
    return unfinished if same == unfinished.plan else None


def start(view: ReasonView) -> None:
    """Start the sweep, or go on where it was stopped."""

    def begin() -> Job:
        chosen = plan(view)
        unfinished = resumable(view, chosen)
        return work.sweep(view, chosen, unfinished.rows if unfinished else ())

    if view.attempt("sweep", begin):
        # A link can't carry the visitor's own problems.
        address.write("sweep", "1" if view.uploaded is None else None)


def _button(view: ReasonView) -> None:
    with st.container(key=platform.key("sweep-side"), width="content"):
        bar.button(
            view,
            "sweep",
            N_("Resume") if _left(view) else N_("Run sweep"),
            lambda: start(view),
            key="start_sweep",
            stop_key="stop_sweep",
            type="primary",
            disabled=bool(_refusal(view)),
        )


def _refusal(view: ReasonView) -> str:
    """Why the controls describe no sweep; empty where they do."""
    try:
        plan(view)
    except DecodingError as error:
        return in_words(error)
    return ""


def _left(view: ReasonView) -> bool:
    """Return whether the controls describe the visitor's own unfinished sweep."""
    try:
        return bool(view.swept) and resumable(view, plan(view)) is not None
    except DecodingError:
        return False


def _state(view: ReasonView) -> None:
    """Progress while a sweep goes on; else what the figures below are of."""
    with st.container(key=platform.key("sweep-state"), gap="small"):
        progress(view, "sweep", refusal=_refusal(view))


def progress(view: ReasonView, name: str, refusal: str = "") -> None:
    """A bar with how many runs have ended, while the work goes on; else why there is none."""
    if job := view.active(name):
        platform.poll(panel.progress, jobs.poll_seconds)(job)
    elif error := refusal or view.failures.get(name, ""):
        with st.container(key=platform.key("refused")):
            st.text(tr(error))


def _words(view: ReasonView, sweep: BudgetSweep) -> None:
    with st.container(
        key=platform.key("sweep-words"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.text(_about(view, sweep), width="stretch")
        st.download_button(
            tr("All runs (CSV)"),
            lambda: csv_text(figures.reason_rows_data(sweep)).encode("utf-8-sig"),
            "decoding-sweep.csv",
            "text/csv",
            key=platform.key("save_rows"),
            icon=":material/table_view:",
            type="tertiary",
            on_click="ignore",
        )


def _about(view: ReasonView, sweep: BudgetSweep) -> str:
    what = problems_words(sweep.plan.problems)
    if sweep is view.live:
        # Its progress is shown above, and moves on.
        return " · ".join((tr("Your sweep, under way"), what, _drawn(sweep)))
    if sweep.plan.budget_field in view.swept:
        source = tr("Your sweep") if sweep.complete else tr("Your sweep, stopped")
    else:
        source = tr("Example")
    count = tr("{count:,} of {runs}", count=len(sweep.rows), runs=counted(sweep.plan.total, "run"))
    return " · ".join((source, what, count, _drawn(sweep)))


def _drawn(sweep: BudgetSweep) -> str:
    config: Reasoning = sweep.plan.config
    drawn = (
        tr("temperature {heat:g}", heat=config.shaping.temperature)
        if config.draws
        else tr("greedy")
    )
    return f"{drawn} · {tr('calculator')}" if config.calculator else drawn
