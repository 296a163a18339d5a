"""Explain a reasoning level: the loop, its bound, and the number of its steps in the run."""

from __future__ import annotations

import streamlit as st

from core.decoding.counting import counted, duration
from core.decoding.reasoning.config import LEVELS, Reasoning
from core.decoding.reasoning.transcript import mark_sizes, pieces_of
from core.decoding.record.trace import Trace
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
_LEFT_OUT = (
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
            st.caption(_LEFT_OUT)
        with right, st.container(key=platform.key("loop-counts"), border=True, gap="small"):
            if view.trace is None:
                st.text("Run a problem to see how often its loop ran.")
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
    tokens = len(trace.token_steps)
    st.markdown("**The run that is shown**")
    rows = {
        "the bound": f"{counted(run.max_thinking_tokens, 'token')}{_level(run)}",
        "forwards": f"{tokens}: 1 reads the prompt, {max(tokens - 1, 0)} one token each"
        if tokens
        else "0",
        "the thinking loop ran": f"{counted(read.thinking_tokens, 'time')}, "
        + ("up to its budget" if read.closed_by_budget else "and ended before its budget"),
        "the answer's loop ran": counted(read.answer_tokens, "time"),
        "marks": counted(tokens - read.thinking_tokens - read.answer_tokens, "token"),
        "forced": f"{read.forced_tokens} of {counted(tokens, 'token')}",
        # Of the steps alone, as the figure of the time has it; not of showing them.
        "time": duration(trace.timings.prefill + trace.timings.decode),
    }
    with st.container(key=platform.key("loop-rows"), gap=None):
        for name, words in rows.items():
            with st.container(horizontal=True, wrap=False, gap="small"):
                st.text(name, width=190)
                st.text(words, width="stretch")
    st.caption(_marks(trace, run))
    levels = ", ".join(f"{name} {most}" for name, most in LEVELS.items())
    st.caption(f"The levels here: {levels} tokens. Other products choose other numbers.")


def _level(run: Reasoning) -> str:
    return f", the level {run.level}" if run.level else ""


def _marks(trace: Trace, run: Reasoning) -> str:
    """Describe how this model marks its thinking; omit the marks, which may be untrusted text."""
    if not run.think_end:
        return "This run has no think marks: it is an answer from its first token on."
    if not run.think_start:
        return "This model has no think marks: its prompt tells it to think and how to end."
    sizes = mark_sizes(pieces_of(trace.token_steps), run)
    if not any(sizes):
        return "No think mark was written in this run: its prompt holds the opening one."
    if max(sizes) == 1:
        return "This run's think marks are one token each."
    return (
        "This run's think marks are ordinary text of several tokens. If the closing mark is "
        "ignored, only its last token is replaced: its earlier tokens stay in the text."
    )
