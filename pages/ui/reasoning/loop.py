"""Explain a reasoning level: the loop, its bound, and the number of its steps in the run."""

from __future__ import annotations

import streamlit as st

from core.decoding.counting import counted, duration
from core.decoding.reasoning.config import LEVELS, Reasoning
from core.decoding.reasoning.transcript import mark_sizes, pieces_of
from core.decoding.record.trace import Trace
from core.figures.reasoning.words import LEVEL_WORDS
from core.language import N_, tr
from pages.ui import platform
from pages.ui.reasoning import state
from pages.ui.reasoning.state import ReasonView
from pages.ui.widgets import closed

_BEFORE = """logits = model(prompt)       # one forward
for token in think_start:    # forced
    logits = model(token)    # one forward each"""
_BOUND = "for spent in range(max_thinking_tokens):"
_AFTER = """    token = choose(logits)   # likeliest, or drawn
    if token == think_end:   # the model has done
        break
    logits = model(token)
else:
    token = think_end        # bound met: forced
logits = model(token)
for spent in range(max_answer_tokens):
    token = choose(logits)   # the same loop
    if token == end_of_text:
        break
    logits = model(token)    # but for the last"""
_LEFT_OUT = N_(
    "Left out here: the bound on the whole loop, the waits in place of an end, the results of "
    "calls, and closing marks of several tokens."
)


def draw(view: ReasonView) -> None:
    """The code on the left, the shown run's counts on the right."""
    with st.container(key=platform.key("pair-level")):
        left, right = st.columns(2, gap="small")
        with left:
            with st.container(key=platform.key("loop-code"), gap=None):
                # What colours code is a script of 1.6 MB, which a closed tab does without.
                if closed.state() != "closed":
                    _code()
            st.caption(tr(_LEFT_OUT))
        with right, st.container(key=platform.key("loop-counts"), border=True, gap="small"):
            if view.trace is None:
                st.text(tr("Run a problem to see how often its loop ran."))
            else:
                _counts(view.trace)


def _code() -> None:
    st.code(_BEFORE, language="python")
    with st.container(key=platform.key("loop-bound"), gap=None):
        st.code(_BOUND, language="python")
    st.code(_AFTER, language="python")


def _counts(trace: Trace) -> None:
    run = trace.config
    assert isinstance(run, Reasoning)
    read = state.reading(trace)
    tokens, times = len(trace.token_steps), counted(read.thinking_tokens, "time")
    st.markdown(tr("**The run that is shown**"))
    rows = {
        N_("the bound"): _bound(run),
        N_("forwards"): tr(
            "{forwards}: 1 reads the prompt, {others} one token each",
            forwards=tokens,
            others=max(tokens - 1, 0),
        )
        if tokens
        else "0",
        N_("the thinking loop ran"): tr("{times}, up to its budget", times=times)
        if read.closed_by_budget
        else tr("{times}, and ended before its budget", times=times),
        N_("the answer's loop ran"): tr(counted(read.answer_tokens, "time")),
        N_("marks"): tr(counted(tokens - read.thinking_tokens - read.answer_tokens, "token")),
        N_("forced"): tr(
            "{forced} of {tokens}", forced=read.forced_tokens, tokens=counted(tokens, "token")
        ),
        # Of the steps alone, as the figure of the time has it; not of showing them.
        N_("time"): duration(trace.timings.prefill + trace.timings.decode),
    }
    with st.container(key=platform.key("loop-rows"), gap=None):
        for name, words in rows.items():
            with st.container(horizontal=True, wrap=False, gap="small"):
                st.text(tr(name), width=190)
                st.text(words, width="stretch")
    st.caption(_marks(trace, run))
    levels = tr(", ").join(f"{tr(LEVEL_WORDS[name])} {most}" for name, most in LEVELS.items())
    st.caption(
        tr("The levels here: {levels} tokens. Other products choose other numbers.", levels=levels)
    )


def _bound(run: Reasoning) -> str:
    bound = counted(run.max_thinking_tokens, "token")
    if not run.level:
        return tr(bound)
    return tr("{tokens}, the level {level}", tokens=bound, level=tr(LEVEL_WORDS[run.level]))


def _marks(trace: Trace, run: Reasoning) -> str:
    """Describe how this model marks its thinking; omit the marks, which may be untrusted text."""
    if not run.think_end:
        return tr("This run has no think marks: it is an answer from its first token on.")
    if not run.think_start:
        return tr("This model has no think marks: its prompt tells it to think and how to end.")
    sizes = mark_sizes(pieces_of(trace.token_steps), run)
    if not any(sizes):
        return tr("No think mark was written in this run: its prompt holds the opening one.")
    if max(sizes) == 1:
        return tr("This run's think marks are one token each.")
    return tr(
        "This run's think marks are ordinary text of several tokens. If the closing mark is "
        "ignored, only its last token is replaced: its earlier tokens stay in the text."
    )
