"""A reasoning run's text: the thinking in its own colour, forced tokens and calls marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import cast

from core.decoding.counting import sentences
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import Piece, pieces_of, read_run
from core.decoding.record.steps import ForcedAs, TokenStep
from core.decoding.record.trace import Trace
from core.evaluation.types import Transcript
from core.figures.base.labels import visible_token
from core.figures.base.theme import OKABE_ITO, Theme
from core.language import N_, tr
from pages.ui import platform
from pages.ui.widgets import style
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_HTML = """
<div class="reason">
  <div class="text" role="group" aria-label="The question, the thinking and the answer" tabindex="0"
  ><span class="question"></span><span class="tokens"></span></div>
  <ul class="key"></ul>
</div>
"""
_WHY: dict[ForcedAs, str] = {
    "think_start": N_("Forced: the mark that opens the thinking."),
    "think_end": N_("Forced: the budget is spent, so the thinking is closed."),
    "wait": N_("Forced instead of the end of the thinking."),
    "result": N_("Put in by the calculator, not written by the model."),
}
_NAMES = {
    "thinking": N_("thinking"),
    "answer": N_("answer"),
    "forced": N_("forced, not the model's choice"),
    "call": N_("the model's call"),
    "result": N_("the calculator's result"),
}

_component = component(
    "reason_text",
    html=_HTML,
    css=source("reasoning/text.css"),
    js=source("reasoning/text.js"),
)

# Text, kind (CSS classes), and its hover text.
ShownToken = tuple[str, str, str]


def draw(trace: Trace, *, live: bool = False) -> None:
    """The question and all that was written after it.

    Args:
        live: the run goes on.
    """
    _draw("run", trace.prompt, pieces_of_trace(trace), live=live)


def draw_transcript(name: str, run: Transcript) -> None:
    """The same of a run without its numbers, beside the first one."""
    _draw(name, run.problem.question, pieces_to_show(run.pieces, run.config))


def _draw(name: str, question: str, pieces: Sequence[ShownToken], **flags: bool) -> None:
    colors = _colors(style.theme())
    used = {word for _, kind, _ in pieces for word in kind.split()}
    _component(
        key=platform.key(f"reason-text-{name}"),
        data={
            "question": question,
            # A tuple: in a list Streamlit would look for a data frame, and load pandas for it.
            "pieces": tuple(pieces),
            "key": tuple((tr(_NAMES[kind]), colors[kind]) for kind in _NAMES if kind in used),
            "colors": {name: color for name, color in colors.items() if name != "answer"},
            "drawn": drawn_at(),
            **flags,
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


def pieces_of_trace(trace: Trace) -> list[ShownToken]:
    """A trace's text as it is shown; a forced token says what the model would have written."""
    steps = trace.token_steps
    return pieces_to_show(
        pieces_of(steps), cast(Reasoning, trace.config), [_instead(step) for step in steps]
    )


def pieces_to_show(
    pieces: Sequence[Piece], config: Reasoning, instead: Sequence[str] | None = None
) -> list[ShownToken]:
    """A run's tokens, those of one kind together.

    Args:
        instead: for each token, the text of the one whose place it took; empty for none.
    """
    calls = read_run(pieces, config).calls
    calling = {at for call in calls for at in range(call.first, call.last + 1)}
    replaced = instead or [""] * len(pieces)
    shown = [
        (piece.text or visible_token(piece.visible), _kind(piece, at in calling), _title(piece, w))
        for at, (piece, w) in enumerate(zip(pieces, replaced, strict=True))
    ]
    grouped = groupby(shown, key=lambda token: token[1:])
    return [("".join(text for text, *_ in run), kind, title) for (kind, title), run in grouped]


def _kind(piece: Piece, calling: bool) -> str:
    if piece.forced_as == "result":
        return "result"
    if calling:
        return "call"
    if piece.forced_as in ("think_start", "think_end") or piece.text != piece.visible:
        return "mark forced" if piece.forced_as else "mark"
    return f"{piece.phase} forced" if piece.forced_as else piece.phase


def _title(piece: Piece, replaced: str) -> str:
    """Why a token was forced, and what the model would have written."""
    if piece.forced_as is None:
        return ""
    words = tr(_WHY[piece.forced_as])
    if not replaced:
        return words
    token = visible_token(replaced, 24)
    return tr(sentences(words, tr("The model would have written {token}", token=token)))


def _instead(step: TokenStep) -> str:
    """The text of the token whose place a forced one took, where it is another."""
    if step.instead_of is None or step.instead_of == step.token_id:
        return ""
    return next((c.text for c in step.candidates if c.token_id == step.instead_of), "")
