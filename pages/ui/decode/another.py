"""The menu of the selected step that goes on from there with another token or other dice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.autoregressive.config import drawn_by
from core.decoding.counting import nth
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.figures.base.labels import visible_token
from core.figures.base.records import candidate_labels
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.decode import controls, several
from pages.ui.decode.branches import config_of, request_of
from pages.ui.decode.state import DecodeView
from pages.ui.platform import slot
from pages.ui.run import jobs, shared
from pages.ui.run.display import bar
from pages.ui.run.files import save
from pages.ui.run.request import Fork, Request
from pages.ui.widgets.controls.control import Read, value
from pages.ui.widgets.controls.options import resend

# In place of a candidate's id.
NONE = -1
_LONGEST_TEXT = 400
# Of a run that would end with its given tokens.
_MORE_TOKENS = 40


def draw(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    """The menu; Stop in its place while branches grow; nothing for a run with a draft model."""
    if trace.config.shaping.contrastive_beta:
        return
    if job := view.active("grow"):
        platform.poll(several.growing, bar.poll_seconds)(job)
        return
    popover = st.popover(
        tr("Another token"),
        icon=":material/alt_route:",
        type="tertiary",
        key=platform.key(several.MENU),
        on_change="rerun",
    )
    if not popover.open:
        return
    with popover:
        _draw_one(view, trace, step)
        with st.expander(tr("Several tokens at once"), key=platform.key("fork-several")):
            several.draw(view, trace, step)


def _draw_one(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    """Draw the fields of one run that goes on, and its button."""
    drawn = drawn_by(trace.config)
    labels = candidate_labels(step)
    if drawn:
        labels[NONE] = tr("no token: another seed from this step on")
    # Not in a label, which would take a token's text for markup.
    place = {"token": visible_token(step.chosen.text, 24), "number": nth(step.index)}
    st.text(tr("In place of {token} at step {number}", **place))
    resend(_token_key(view, step))
    token = st.selectbox(
        tr("Candidate"),
        list(labels),
        format_func=labels.__getitem__,
        key=_token_key(view, step),
        persist_state="session",
        on_change=_clear_text,
        args=(view,),
    )
    text = st.text_input(
        tr("or type a text"),
        key=_key_of(view, "text"),
        persist_state="session",
        max_chars=_LONGEST_TEXT,
        help=tr(
            "A text of several tokens is inserted whole. A word after another word begins with a "
            "space."
        ),
    )
    if spaced := _spaced(trace, step, text):
        st.text(spaced)
    seed = run_seed = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if drawn:
            run_seed = min(drawn.seed, shared.MAX_SEED)
            seed = st.number_input(
                tr("Seed of the steps after it"),
                0,
                shared.MAX_SEED,
                run_seed,
                key=_key_of(view, "seed"),
                persist_state="session",
                help=tr(
                    "With the run's own seed every step gets the same random numbers as in the run."
                ),
            )
        candidate = token not in (None, NONE) and not text
        chosen = text or candidate
        bar.button(
            view,
            "decode",
            N_("Go on with this one") if candidate else N_("Go on from here"),
            partial(_go_on, view, trace, step, run_seed),
            key="go_on",
            icon="alt_route",
            type="primary",
            disabled=not (chosen or seed != run_seed) or not _may_load(view),
        )


def _spaced(trace: Trace, step: TokenStep, text: str) -> str:
    """Return where the typed text stands among the candidates with the space that it lacks after
    a word; empty without one."""
    before = (trace.rendered_prompt or trace.prompt) + "".join(
        earlier.text for earlier in trace.token_steps[: step.index]
    )
    spaced = next((c for c in step.candidates if c.text == f" {text}"), None)
    if not text or spaced is None or not before[-1:].isalnum():
        return ""
    return tr(
        "{token}, with a space, has rank {rank:,}.",
        token=visible_token(spaced.text, 24),
        rank=spaced.rank,
    )


def _may_load(view: DecodeView) -> bool:
    return view.may_load(str(value("model")))


def choose(view: DecodeView, step: TokenStep, custom: list[object]) -> None:
    """Open the menu with the candidate whose bar, or cell of the heatmap, was pressed."""
    token_id = custom[1] if len(custom) > 1 else None
    ids = [c.token_id for c in step.candidates if c.token_id != step.token_id]
    if token_id in ids:
        st.session_state[platform.key(several.MENU)] = True
        st.session_state[_token_key(view, step)] = token_id
        _clear_text(view)


def _clear_text(view: DecodeView) -> None:
    st.session_state[_key_of(view, "text")] = ""


def _key_of(view: DecodeView, name: str) -> str:
    """Return the key of a field of the menu.

    It is the same at every step: a step that is drawn late must not replace a field in use.
    """
    return platform.key(f"{several.MENU}_{name}_{view.number}")


def _token_key(view: DecodeView, step: TokenStep) -> str:
    """Return the key of the menu of a step's candidates."""
    return f"{_key_of(view, 'token')}_{step.index}"


def _go_on(view: DecodeView, trace: Trace, step: TokenStep, run_seed: int | None) -> None:
    """Go on with what the fields hold at the press, which may come with the text typed before."""

    def typed(key: str) -> Any:
        return st.session_state.get(key)

    def make_request(_: Read) -> Request:
        token, seed = typed(_token_key(view, step)), typed(_key_of(view, "seed"))
        text = str(typed(_key_of(view, "text")) or "")
        ids = () if text or token in (None, NONE) else (token,)
        fork = Fork(trace, step.index, ids, text)
        request = request_of(view, fork, None if seed == run_seed else seed)
        view.ensure_tree(trace).require_room(1, request.config.max_new_tokens)
        st.session_state[platform.key(several.MENU)] = False
        return request

    bar.start(view, make_request)


def go_on_from(trace: Trace, token_ids: Sequence[int]) -> None:
    """In a callback of another page: turn to Decode and run on behind a prompt and given tokens.

    Args:
        trace: of the other page, with the prompt and the settings.
    """
    view, config = DecodeView.elsewhere(), config_of(trace.config, None)
    if config.max_new_tokens <= len(token_ids):
        config = replace(config, max_new_tokens=len(token_ids) + _MORE_TOKENS)
    request = Request(
        trace.model_id, trace.prompt, config, ids=trace.prompt_ids, given=tuple(token_ids)
    )
    view.drop("decode")
    view.failure = ""
    view.begin("decode", jobs.decode(request))
    view.request = request
    controls.load_controls(replace(trace, config=config))
    save.go_to(registry.DECODE.path)
    st.rerun()


def compare(view: DecodeView, trace: Trace) -> None:
    """In a callback: turn to Compare with a run, and before it the one that it went on from, else
    the one that was made before it."""
    runs = [registry.SESSION_RUN("Decode", trace, view.shown_request, view.source)]
    tree, earlier = view.tree_of(trace), view.earlier(trace)
    if tree and (parent := tree.tree.branches[tree.place(trace) or 0].parent) is not None:
        branch = tree.tree.branches[parent]
        before = ("Decode", branch.trace, tree.requests[parent], tree.sources[parent])
        runs.insert(0, registry.SESSION_RUN(*before))
    elif earlier is not None:
        runs.insert(0, registry.SESSION_RUN("Decode", *earlier, view.source_of(earlier[0])))
    with slot.use(slot.PAGE):
        registry.OPEN_PAIR(runs)
    st.rerun()
