"""The tab of the tree of runs: its figure, its runs as a list, and tools for the shown one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core import figures
from core.decoding.autoregressive.config import Sampling
from core.decoding.config import MethodConfig
from core.decoding.counting import nth
from core.decoding.errors import DecodingError
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.export.part import stem
from core.figures.base.labels import percent, visible_token
from core.installation import COMMAND
from core.language import tr
from core.traces.tree_file import tree_json
from pages.ui import platform, registry
from pages.ui.decode.state import DecodeView
from pages.ui.decode.trees import SessionTree
from pages.ui.run.display import history
from pages.ui.run.figures import figure
from pages.ui.run.files import save
from pages.ui.run.parts import PagePart
from pages.ui.run.request import Fork, Request
from pages.ui.widgets.component import component, source
from pages.ui.widgets.controls.control import in_words
from pages.ui.widgets.render_clock import drawn_at

_KEY = "branch-list"
_TEXT_SHOWN = 120
# Of what was wrong with a typed name.
_NAME = "branch_name"
_HTML = """
<div class="table">
<div class="head" aria-hidden="true"><span></span><span>run</span><span>goes on from</span
><span title="The model's own probability of the forced token, and its rank">forced</span
><span>text from there</span><span title="Sum of ln p of the run's tokens, nats">ln p</span></div>
<div class="rows" role="listbox" aria-label="Runs of the tree"></div>
</div>
"""
_list = component(
    "branch_list",
    html=_HTML,
    css=source("decode/branch_list.css"),
    js=source("widgets/row_list.js"),
)


def shown_tree(view: DecodeView) -> SessionTree | None:
    """Return the tree of the shown run; None where no run went on from another."""
    tree = view.tree_of(view.trace)
    return tree if tree and len(tree.tree.branches) > 1 else None


def _of(view: DecodeView, trace: Trace) -> dict[str, Any] | None:
    tree = shown_tree(view)
    return {"tree": tree.tree, "selected": tree.place(trace)} if tree else None


TREE = PagePart("branches", figures.run_tree, _of)


def draw(view: DecodeView) -> None:
    """The figure of the tree and its runs, each of which can be shown again."""
    tree = shown_tree(view)
    if tree is None or view.trace is None or (shown := tree.place(view.trace)) is None:
        return
    trace = view.trace
    names = tuple(branch.name for branch in tree.tree.branches)
    figure.chart(
        TREE.part(view, view.trace),
        (view.number, names),
        on_click=lambda custom: _choose(view, tree, custom[0] if custom else None),
        across=True,
    )
    _draw_list(view, tree, shown)
    with st.container(
        key=platform.key("branch-tools"), horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        key = platform.key(f"branch_name_{view.number}")
        st.text_input(
            tr("Name of the shown run"),
            tree.tree.branches[shown].name,
            key=key,
            on_change=partial(_rename, view, tree, trace, key),
        )
        st.button(
            tr("Remove run"),
            key=platform.key("branch_remove"),
            icon=":material/delete:",
            disabled=not shown or "decode" in view.jobs,
            on_click=partial(_remove, view, tree, trace),
            help=tr("Runs that branched off it stay. The first run of a tree can't be removed."),
        )
        st.download_button(
            tr("Tree file (JSON)"),
            lambda: tree_json(tree.tree).encode(),
            f"{stem('tree', view.trace.config)}.json",
            "application/json",
            key=platform.key("save_tree"),
            icon=":material/data_object:",
            on_click="ignore",
            help=tr(
                "All runs in one file, which “Open a trace” (5 MB at most) and `{command} figure` "
                "read. A reload of the page keeps the shown run only.",
                command=COMMAND,
            ),
        )
    if wrong := view.failures.get(_NAME):
        st.text(tr(wrong))


def _draw_list(view: DecodeView, tree: SessionTree, shown: int) -> None:
    def picked() -> None:
        _choose(view, tree, (st.session_state.get(platform.key(_KEY)) or {}).get("picked"))

    _list(
        key=platform.key(_KEY),
        data={"rows": _rows(tree.tree), "chosen": str(shown), "drawn": drawn_at()},
        on_picked_change=picked,
    )


def _rows(tree: RunTree) -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
    """For each run its id, its state, its words for a screen reader, and its cells."""
    cells = [_cells(tree, place) for place in range(len(tree.branches))]
    return tuple(
        (str(at), "", tr(", ").join(filter(None, row)), row) for at, row in enumerate(cells)
    )


def _cells(tree: RunTree, place: int) -> tuple[str, ...]:
    branch = tree.branches[place]
    steps = branch.trace.token_steps[branch.at_step :]
    numbers, text = "", branch.trace.text
    if steps and steps[0].forced_as == "given":
        numbers = tr(
            "{probability}, rank {rank:,}",
            probability=percent(steps[0].chosen.raw_prob),
            rank=steps[0].chosen.rank,
        )
    if branch.parent is not None:
        text = "".join(step.text for step in steps)
    parent = None if branch.parent is None else tree.branches[branch.parent]
    return (
        tr("{name} · stopped", name=branch.name)
        if branch.trace.finish_reason == "cancelled"
        else branch.name,
        tr("{run}, step {number}", run=parent.name, number=nth(branch.at_step)) if parent else "",
        numbers,
        visible_token(" ".join(text[: 2 * _TEXT_SHOWN].split()), _TEXT_SHOWN).replace("␣", " "),
        f"{branch.logprob:.1f}".replace("-", "−"),
    )


def _choose(view: DecodeView, tree: SessionTree, choice: object) -> None:
    """Show the run of this place, as a click on the figure or the list names it."""
    if not isinstance(choice, str | int | float) or "decode" in view.jobs:
        return
    place = int(choice) if str(choice).isdecimal() else -1
    if 0 <= place < len(tree.tree.branches) and place != tree.place(view.trace):
        _show(view, tree, place)


def _show(view: DecodeView, tree: SessionTree, place: int) -> None:
    trace, request, from_ = (
        tree.tree.branches[place].trace,
        tree.requests[place],
        tree.sources[place],
    )
    page = registry.page_of(trace.config.method)
    if page is not registry.DECODE:
        save.turn_to(page, trace, source=from_)
    else:
        history.show_again(view, trace, request, from_, page)
    st.rerun()


def _rename(view: DecodeView, tree: SessionTree, trace: Trace, key: str) -> None:
    """Give the shown run the typed name; a refused one is replaced by the name that it keeps."""
    place = tree.place(trace)
    view.failures[_NAME] = ""
    try:
        tree.rename(trace, str(st.session_state[key]))
    except DecodingError as error:
        view.failures[_NAME] = in_words(error)
    if place is not None:
        st.session_state[key] = tree.tree.branches[place].name


def show_made(view: DecodeView, fork: Fork, trace: Trace) -> None:
    """Show a run that went on from another one, and put it into its tree if it isn't there.

    Raises:
        TraceError: the tree has no room for it.
    """
    tree = view.ensure_tree(fork.trace)
    if tree.place(trace) is None:
        tree.require_room(1, len(trace.token_ids))
        view.keep(trace, request_of(view, fork))
    place = tree.place(trace)
    assert place is not None
    _show(view, tree, place)


def request_of(view: DecodeView, fork: Fork, seed: int | None = None) -> Request:
    """Return the request of a run that goes on from another one, with another seed if one is
    given."""
    trace, config = fork.trace, config_of(fork.trace.config, seed)
    made = Request(trace.model_id, trace.prompt, config, ids=trace.prompt_ids)
    return replace(view.shown_request or made, config=config, draft="", given=(), fork=fork)


def config_of(config: MethodConfig, seed: int | None) -> MethodConfig:
    """Return the settings of a run that goes on, with this seed where it draws by another one."""
    from core.decoding.autoregressive.branches import single_token_config

    config = single_token_config(config)
    if isinstance(config, Sampling) and seed is not None:
        return replace(config, seed=seed)
    return config


def _remove(view: DecodeView, tree: SessionTree, trace: Trace) -> None:
    """Forget a run; those that went on from it go on from its own parent, which is shown."""
    if place := tree.place(trace):  # None where it was removed already; the first run stays.
        _show(view, tree, tree.remove(place))
