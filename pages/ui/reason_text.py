"""A reasoning run's text: the thinking in its own colour, forced tokens and calls marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import streamlit as st

from core.decoding.configs import Reasoning
from core.decoding.reasoning_read import pieces_of, read_run
from core.decoding.types import ForcedAs, TokenStep, Trace
from core.figures.labels import visible_token
from core.figures.theme import OKABE_ITO, Theme
from pages.ui import style
from pages.ui.drawn import drawn_at
from pages.ui.figure import source

_HTML = """
<div class="reason">
  <div class="text" role="group" aria-label="The question, the thinking and the answer" tabindex="0"
  ><span class="question"></span><span class="tokens"></span></div>
  <ul class="key"></ul>
</div>
"""
_WHY: dict[ForcedAs, str] = {
    "think_start": "Forced: the mark that opens the thinking.",
    "think_end": "Forced: the budget is spent, so the thinking is closed.",
    "wait": "Forced instead of the end of the thinking.",
    "result": "Put in by the calculator, not written by the model.",
}
_NAMES = {
    "thinking": "thinking",
    "answer": "answer",
    "forced": "forced, not the model's choice",
    "call": "the model's call",
    "result": "the calculator's result",
}

_component = st.components.v2.component(
    "decoding_explorer.reason_text",
    html=_HTML,
    css=source("reason_text.css"),
    js=source("reason_text.js"),
)

Piece = tuple[str, str, str]


def draw(name: str, trace: Trace, *, live: bool = False) -> None:
    """The question and all that was written after it.

    Args:
        name: of this text on the page.
        live: the run goes on.
    """
    theme = style.theme()
    pieces = pieces_to_show(trace)
    used = {word for _, kind, _ in pieces for word in kind.split()}
    colors = _colors(theme)
    _component(
        key=f"reason-text-{name}",
        data={
            "question": trace.prompt,
            # A tuple: in a list Streamlit would look for a data frame, and load pandas for it.
            "pieces": tuple(pieces),
            "key": tuple((_NAMES[kind], colors[kind]) for kind in _NAMES if kind in used),
            "colors": {name: color for name, color in colors.items() if name != "answer"},
            "live": live,
            "drawn": drawn_at(),
        },
    )


def _colors(theme: Theme) -> dict[str, str]:
    return {
        "thinking": theme.first,
        "answer": theme.ink,
        "forced": theme.accent,
        "call": OKABE_ITO["purple"],
        "result": OKABE_ITO["green"],
        "muted": theme.muted,
        "panel": theme.panel,
    }


def pieces_to_show(trace: Trace) -> list[Piece]:
    """The run in runs of one kind: text, kind (CSS classes), and what the pointer tells of it."""
    assert isinstance(trace.config, Reasoning)
    steps = trace.token_steps
    pieces = pieces_of(steps)
    calls = read_run(pieces, trace.config).calls
    calling = {at for call in calls for at in range(call.first, call.last + 1)}
    shown = [
        (
            _text(step),
            _kind(step, visible != text, at in calling),
            _title(steps, at),
        )
        for at, (step, (text, visible, *_)) in enumerate(zip(steps, pieces, strict=True))
    ]
    grouped = groupby(shown, key=lambda piece: piece[1:])
    return [("".join(text for text, *_ in run), kind, title) for (kind, title), run in grouped]


def _text(step: TokenStep) -> str:
    return step.text or visible_token(step.chosen.text)


def _kind(step: TokenStep, special: bool, calling: bool) -> str:
    if step.forced_as == "result":
        return "result"
    if calling:
        return "call"
    if step.forced_as in ("think_start", "think_end") or special:
        return "mark forced" if step.forced_as else "mark"
    return f"{step.phase} forced" if step.forced_as else step.phase


def _title(steps: Sequence[TokenStep], at: int) -> str:
    """Why a token was forced, and what the model would have written."""
    step = steps[at]
    if step.forced_as is None:
        return ""
    wanted = next((c.text for c in step.candidates if c.token_id == step.instead_of), None)
    words = _WHY[step.forced_as]
    if wanted is not None and step.instead_of != step.token_id:
        words += f" The model would have written {visible_token(wanted, 24)}"
    return words
