"""A trace as a live widget for notebooks: token strip, candidates of a step, knobs; no server.

The script of the saved web page (`knobs.js`) shapes a step anew in the browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...decoding.errors import FigureError
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import SETTINGS, STAGES
from ...figures.base.labels import stage_name, visible_token
from ...figures.base.theme import DARK, LIGHT
from ...figures.decode.knobs import NAMES, knobs_of
from ...figures.decode.strip import shown_texts, step_label, token_colors
from ...figures.opening import contested_step
from ...language import N_, Message, current, tr, use
from ...language.catalogue import ENGLISH
from .page import knob_ranges, words_of_script

if TYPE_CHECKING:
    from anywidget import AnyWidget

_FOLDER = Path(__file__).parent
_MOST_PROMPT = 400
_FIXED = N_(
    "This step was shaped by other settings too, or its other tokens are unknown, so knobs can't "
    "shape it anew."
)
# Texts of the widget's scripts.
_SCRIPT_WORDS = (
    N_("Generated tokens"),
    N_("Reset"),
    N_("{token}: {share} by the model"),
    N_(
        "As it was run; pale bars are the model's own probabilities. Move a knob: this step is "
        "worked out anew."
    ),
    N_("All {count} other tokens: {share}."),
    N_("greedy"),
    N_("off"),
)


def explore(trace: Trace, *, step: int | None = None) -> AnyWidget:
    """Return a widget of a trace; its `step` is the index of the chosen step.

    Args:
        step: index of the step that it shows first; by default one with several likely tokens.

    Raises:
        FigureError: anywidget isn't installed, or the run has no steps of one token.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=4))
        >>> explore(trace, step=2).step
        2
    """
    if not trace.token_steps:
        raise FigureError(
            Message(
                "A run of {method} has no steps of one token to explore; draw its "
                "figures with core.figures.",
                method=trace.config.method,
            )
        )
    first = contested_step(trace) if step is None else min(step, len(trace.token_steps) - 1)
    return _widget_class(current())(data=widget_data(trace), step=first)


@cache
def _widget_class(language: str) -> type[AnyWidget]:
    """Return the widget's class, whose script is that of a language."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise FigureError(
            N_("The widget needs anywidget: install it with pip install anywidget.")
        ) from None

    class TraceWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """Token strip, candidates and knobs of a trace."""

        _esm = script(language)
        _css = (_FOLDER / "widget.css").read_text(encoding="utf-8")
        data = traitlets.Dict().tag(sync=True)
        step = traitlets.Int(0).tag(sync=True)

    return TraceWidget


@cache
def script(language: str = ENGLISH) -> str:
    """Return the widget's script, with its texts in a language."""
    with use(language):
        words = words_of_script(_SCRIPT_WORDS)
    scripts = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("knobs.js", "widget.js"))
    return "".join([words, *scripts])


def widget_data(trace: Trace) -> dict[str, Any]:
    """Return what the script draws, as JSON values; texts are plain."""
    steps = trace.token_steps
    colors = zip(token_colors(trace, theme=LIGHT), token_colors(trace, theme=DARK), strict=True)
    drawn = zip(steps, shown_texts(steps), colors, strict=True)
    listed = [_step(trace, step, text, pair) for step, text, pair in drawn]
    ranked = max((own["knobs"]["ranked"] for own in listed if own["knobs"]), default=2)
    starts = [own["knobs"]["start"] for own in listed if own["knobs"]]
    start = starts[0] if starts else {name: float(SETTINGS[name].off) for name in NAMES}
    prompt = trace.rendered_prompt or trace.prompt
    return {
        "prompt": prompt if len(prompt) <= _MOST_PROMPT else f"… {prompt[-_MOST_PROMPT:]}",
        "steps": listed,
        "knobs": [knob._asdict() for knob in knob_ranges(start, ranked)],
        "start": start,
        "removed": {
            **{name: tr("removed by {stage}", stage=stage_name(name)) for name in STAGES},
            "either": tr("removed"),
        },
        "fixed": tr(_FIXED),
    }


def _step(
    trace: Trace, step: TokenStep, text: str, colors: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    knobs = knobs_of(step, trace, 0.0)
    if knobs is not None:
        del knobs["axes"]
    return {
        "text": text,
        "label": step_label(step, trace),
        "colors": dict(zip(("light", "dark"), colors, strict=True)),
        "token": step.token_id,
        "candidates": [
            {
                "id": candidate.token_id,
                "text": visible_token(candidate.text),
                "raw": candidate.raw_prob,
                "prob": candidate.prob,
                "gone": candidate.removed_by or "",
            }
            for candidate in step.candidates
        ],
        "knobs": knobs,
    }
