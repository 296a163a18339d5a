"""Another token at the selected step, and the tree of the runs that went on from each other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from core import figures
from core.decoding.autoregressive.config import Sampling, drawn_by
from core.decoding.config import MethodConfig
from core.decoding.counting import nth
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.figures.base.labels import percent, visible_token
from core.figures.base.records import forced_words
from pages.ui import registry
from pages.ui.decode.state import DecodeView
from pages.ui.run import shared
from pages.ui.run.display import bar, history
from pages.ui.run.figures import figure
from pages.ui.run.parts import PagePart
from pages.ui.run.request import Fork, Request
from pages.ui.run.view import Source
from pages.ui.widgets.controls.control import value

TITLE = "Branches"
_MENU = "fork"
_LONGEST_TEXT = 400


class Run(NamedTuple):
    """A run of the session in its tree, with what it was asked for and where it is from."""

    trace: Trace
    asked: Request | None
    source: Source


class Family(NamedTuple):
    """A tree of runs, the runs by their places in it, and the place of the one that is shown."""

    tree: RunTree
    runs: list[Run]
    shown: int


def family_of(view: DecodeView) -> Family | None:
    """The tree that the shown run belongs to; None where no run went on from another."""
    if view.trace is None:
        return None
    asked = {_key(trace): request for trace, request in view.runs}

    def parent(trace: Trace) -> Fork | None:
        request = asked.get(_key(trace))
        return request.fork if request else None

    root = Run(view.trace, view.asked, view.source)
    while fork := parent(root.trace):
        root = Run(fork.trace, asked.get(_key(fork.trace)), fork.source)
    tree, runs = RunTree.of(root.trace, _name(view, root)), [root]
    for trace, request in view.runs:
        places = {_key(run.trace): place for place, run in enumerate(runs)}
        fork = parent(trace)
        if fork is not None and _key(fork.trace) in places:
            run = Run(trace, request, "run")
            at = min(fork.at_step, len(trace.token_ids))
            tree = tree.grown(places[_key(fork.trace)], at, trace, _name(view, run))
            runs.append(run)
    if len(runs) < 2:
        return None
    return Family(tree, runs, [_key(run.trace) for run in runs].index(_key(view.trace)))


def _key(trace: Trace) -> int:
    """The identity of a run, which stays when its proof is attached."""
    return id(trace.steps)


def _name(view: DecodeView, run: Run) -> str:
    keys = [_key(trace) for trace, _ in view.runs]
    if _key(run.trace) in keys:
        return f"Run {nth(keys.index(_key(run.trace)))}"
    return {"example": "Example", "file": "File", "request": "Request"}.get(run.source, "First")


def _of(view: DecodeView, _: Trace) -> dict[str, Any] | None:
    family = family_of(view)
    return family and {"tree": family.tree, "selected": family.shown}


TREE = PagePart("branches", figures.run_tree, _of)


def draw_menu(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    """The menu that goes on from the selected step with another token."""
    popover = st.popover(
        "Another token", icon=":material/alt_route:", type="tertiary", key=_MENU, on_change="rerun"
    )
    if not popover.open:
        return
    labels = {
        c.token_id: f"{visible_token(c.text, 24)} · {percent(c.raw_prob)} · rank {c.rank:,}"
        for c in step.candidates
        if c.token_id != step.token_id
    }
    with popover:
        # Not in a label, which would take a token's text for markup.
        st.text(f"In place of {visible_token(step.chosen.text, 24)} at step {nth(step.index)}")
        token = st.selectbox(
            "Candidate",
            list(labels),
            format_func=labels.__getitem__,
            key=_key_of(view, step, "token"),
        )
        text = st.text_input(
            "or type a text", key=_key_of(view, step, "text"), max_chars=_LONGEST_TEXT
        )
        seed = None
        if drawn := drawn_by(trace.config):
            seed = st.number_input(
                "Seed of the steps after it",
                0,
                shared.MAX_SEED,
                min(drawn.seed, shared.MAX_SEED),
                key=_key_of(view, step, "seed"),
                help="The run's own seed throws the same dice at each step as the run itself.",
            )
        ids = () if text or token is None else (token,)
        fork = Fork(trace, view.source, step.index, ids, text)
        bar.button(
            view,
            "decode",
            "Go on with this one",
            partial(_go_on, view, fork, seed),
            key="go_on",
            icon="alt_route",
            disabled=not (text or ids) or not view.may_load(str(value("model"))),
        )


def _key_of(view: DecodeView, step: TokenStep, name: str) -> str:
    """The key of a field of the menu; another step has other fields."""
    return f"{_MENU}_{name}_{view.number}_{step.index}"


def _go_on(view: DecodeView, fork: Fork, seed: int | None) -> None:
    st.session_state[_MENU] = False
    trace = fork.trace
    base = view.asked or Request(trace.model_id, trace.prompt, trace.config, ids=trace.prompt_ids)
    request = replace(base, config=_config(trace.config, seed), given=(), fork=fork)
    bar.start(view, lambda _: request)


def _config(config: MethodConfig, seed: int | None) -> MethodConfig:
    """The settings of the run, with this seed where it draws by another one."""
    from core.decoding.autoregressive.branches import single_token_config

    config = single_token_config(config)
    if isinstance(config, Sampling) and seed is not None:
        return replace(config, seed=seed)
    return config


def draw(view: DecodeView) -> None:
    """The figure of the tree and its runs, each of which can be shown again."""
    family = family_of(view)
    if family is None or view.trace is None:
        return
    figure.chart(
        TREE.part(view, view.trace),
        (view.number, *(_key(run.trace) for run in family.runs)),
        on_click=lambda custom: _choose(view, family, custom),
        across=True,
    )
    with st.container(key="branches", gap=None):
        for place in range(len(family.runs)):
            _row(view, family, place)


def _row(view: DecodeView, family: Family, place: int) -> None:
    """A run of the tree: its name, which shows it, what it took, and its removal."""
    branch, shown = family.tree.branches[place], place == family.shown
    with st.container(
        key=f"branch-{place}", horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.button(
            branch.name,
            key=f"branch_{place}",
            type="tertiary",
            icon=":material/visibility:" if shown else ":material/alt_route:",
            disabled=shown or "decode" in view.jobs,
            on_click=_show,
            args=(view, family.runs[place]),
        )
        st.text(_words(family.tree, place), width="stretch")
        if place and not shown:
            st.button(
                "Remove",
                key=f"branch_remove_{place}",
                type="tertiary",
                icon=":material/close:",
                on_click=_remove,
                args=(view, family.runs[place]),
            )


def _words(tree: RunTree, place: int) -> str:
    branch = tree.branches[place]
    total = f"ln p {branch.logprob:.1f} nats".replace("-", "−")
    if branch.parent is None:
        return total
    steps = branch.trace.token_steps
    token = steps[branch.at_step].chosen.text if branch.at_step < len(steps) else ""
    where = f"{tree.branches[branch.parent].name}, step {nth(branch.at_step)}"
    numbers = forced_words(steps[branch.at_step]) if branch.at_step < len(steps) else ""
    return " · ".join(filter(None, [f"{where}: {visible_token(token, 24)}", numbers, total]))


def _choose(view: DecodeView, family: Family, custom: list[object]) -> None:
    if custom and isinstance(custom[0], int | float) and "decode" not in view.jobs:
        place = int(custom[0])
        if 0 <= place < len(family.runs) and place != family.shown:
            _show(view, family.runs[place])


def _show(view: DecodeView, run: Run) -> None:
    history.show_again(view, run.trace, run.asked, run.source, registry.PAGES[0])
    st.rerun()


def _remove(view: DecodeView, run: Run) -> None:
    """Forget a run; those that went on from it go on from its own parent."""
    others = (pair for pair in view.runs if _key(pair[0]) != _key(run.trace))
    view.runs = [(trace, _without(asked, run)) for trace, asked in others]


def _without(asked: Request | None, removed: Run) -> Request | None:
    fork, behind = (asked.fork if asked else None), removed.asked and removed.asked.fork
    if asked is None or fork is None or not behind or _key(fork.trace) != _key(removed.trace):
        return asked
    at = min(fork.at_step, behind.at_step)
    ids = fork.token_ids if at == fork.at_step else ()
    return replace(asked, fork=Fork(behind.trace, behind.source, at, ids, fork.text))
