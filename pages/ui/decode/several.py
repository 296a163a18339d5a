"""Part of the menu “Another token”: runs that go on with several tokens at once."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.counting import counted, sentences
from core.decoding.record.forks import MOST_DEPTH, MOST_GROWN, candidates_above
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.language import N_, tr, trn
from pages.ui import platform
from pages.ui.decode.branches import config_of, request_of
from pages.ui.decode.state import DecodeView
from pages.ui.decode.trees import SessionTree, room_beside
from pages.ui.run import jobs
from pages.ui.run.display import bar
from pages.ui.run.jobs import Job
from pages.ui.run.request import Fork, Request
from pages.ui.widgets.controls.control import value

# Key of the menu that this is a part of; a press closes it.
MENU = "fork"
_TOP_HELP = N_(
    "The branches run in one batch with the run's settings and seed. Tokens that already have a "
    "run in the tree are left out."
)
_ALL_GROWN = N_("The tree has a run with each of these tokens already.")


def draw(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    """Draw the two ways to go on with several tokens, and their buttons."""
    busy = not view.may_load(str(value("model"))) or "decode" in view.jobs
    length = config_of(trace.config, None).max_new_tokens
    tree = view.tree_of(trace)
    room = tree.room(length) if tree else room_beside(trace, length)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        count = st.number_input(
            tr("Number of the likeliest tokens"),
            2,
            MOST_GROWN,
            4,
            key=platform.key("fork_top"),
            help=tr(_TOP_HELP),
        )
        forks = _new_forks(tree, trace, step, int(count))
        bar.button(
            view,
            "grow",
            N_("Grow"),
            partial(_grow, view, trace, step),
            key="grow",
            icon="account_tree",
            disabled=busy or not forks,
        )
    if not busy and not forks:
        st.text(tr(_ALL_GROWN))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        share = st.number_input(
            tr("Or each token of at least, %"),
            0.1,
            50.0,
            10.0,
            format="%.1f",
            key=platform.key("fork_above"),
            help=tr(
                "Each other candidate of the step to which the model itself gives this probability "
                "or more."
            ),
        )
        depth = st.number_input(
            tr("Steps in a row"),
            1,
            MOST_DEPTH,
            1,
            key=platform.key("fork_depth"),
            help=tr(
                "With 2 or more the run and the new runs fork at the next steps in the same way."
            ),
        )
        bar.button(
            view,
            "grow",
            N_("Grow"),
            partial(_grow_above, view, trace, step),
            key="grow_above",
            icon="account_tree",
            disabled=busy or not _most_runs(step, share / 100, int(depth), room),
        )
    st.text(_bounds(step, share / 100, int(depth), room, length))


def _most_runs(step: TokenStep, least: float, depth: int, room: int) -> int:
    """Return how many runs a growth by a threshold makes at most."""
    return room if depth > 1 else min(room, len(candidates_above(step, least)))


def _bounds(step: TokenStep, least: float, depth: int, room: int, length: int) -> str:
    """Return what a growth by a threshold makes, in words."""
    words = [
        trn(
            "{count} other candidate of this step reaches it.",
            "{count} other candidates of this step reach it.",
            len(candidates_above(step, least)),
        ),
        tr(
            "At most {runs} of {tokens} each.",
            runs=counted(_most_runs(step, least, depth, room), "run"),
            tokens=counted(length, "token"),
        ),
    ]
    last = max(step.candidates, key=lambda candidate: candidate.rank)
    if last.raw_prob >= least and last.token_id != step.token_id:
        held = len(step.candidates)
        words.append(tr("The step holds its {count} likeliest candidates only.", count=held))
    if not room:
        words.append(tr("The tree has no room for a run more: remove one first."))
    return tr(sentences(*words))


def _new_forks(tree: SessionTree | None, trace: Trace, step: TokenStep, count: int) -> list[Fork]:
    """Return the forks to a step's likeliest tokens that have no run in the tree yet."""
    at, prefix = step.index, trace.token_ids[: step.index]
    runs = [branch.trace for branch in tree.tree.branches] if tree else [trace]
    taken = {
        run.token_ids[at]
        for run in runs
        if run.token_ids[:at] == prefix and len(run.token_ids) > at
    }
    likeliest = sorted(step.candidates, key=lambda candidate: candidate.rank)[:count]
    return [Fork(trace, at, (c.token_id,)) for c in likeliest if c.token_id not in taken]


def _grow(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    """Go on with each of the step's likeliest tokens that has no run in the tree yet."""
    st.session_state[platform.key(MENU)] = False
    count = int(st.session_state[platform.key("fork_top")])
    tree = view.ensure_tree(trace)
    forks = _new_forks(tree, trace, step, count)
    view.failure = "" if forks else _ALL_GROWN
    if forks:
        requests = [request_of(view, fork) for fork in forks]
        view.attempt("grow", partial(_start, tree, requests))
        view.failure = view.failures["grow"]


def _grow_above(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    """Go on with each other candidate of a probability, at so many steps in a row."""
    st.session_state[platform.key(MENU)] = False
    least = float(st.session_state[platform.key("fork_above")]) / 100
    depth = int(st.session_state[platform.key("fork_depth")])
    tree = view.ensure_tree(trace)
    request = request_of(view, Fork(trace, step.index))
    room = tree.room(request.config.max_new_tokens)
    known = [branch.trace.token_ids for branch in tree.tree.branches]

    def start() -> Job:
        tree.require_room(1, request.config.max_new_tokens)
        return jobs.grow_above(request, least, depth, room, known)

    view.attempt("grow", start)
    view.failure = view.failures["grow"]


def _start(tree: SessionTree, requests: list[Request]) -> Job:
    tree.require_room(len(requests), requests[0].config.max_new_tokens)
    return jobs.grow(requests)


def growing(job: Job) -> None:
    job.watch()
    done, total = job.counts
    st.button(
        tr("Stop · {done} of {total}", done=done, total=total),
        key=platform.key("stop_grow"),
        icon=":material/stop:",
        disabled=job.stopping.is_set(),
        on_click=job.stop,
        help=tr("Stop the new branches. Their tokens so far are kept."),
    )
