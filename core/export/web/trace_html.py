"""A trace as HTML for a notebook's cell: its text, its settings and its checks."""

from __future__ import annotations

from html import escape

from ...decoding.check import VERDICT_WORDS, verdict
from ...decoding.record.trace import Trace
from ...figures.base.labels import settings_caption
from ...figures.decode.strip import shown_texts, step_label, token_colors

_MOST_PROMPT = 400


def trace_html(trace: Trace) -> str:
    """Return the prompt, the generated tokens coloured by the model's probability, the settings
    and the checks' verdict; every text is escaped.
    """
    prompt = trace.rendered_prompt or trace.prompt
    shown = prompt if len(prompt) <= _MOST_PROMPT else f"… {prompt[-_MOST_PROMPT:]}"
    foot = [settings_caption(trace), f"{len(trace.token_ids)} tokens", trace.finish_reason]
    if trace.checks:
        passed = sum(check.passed for check in trace.checks)
        words = VERDICT_WORDS[verdict(trace.checks)]
        foot.append(f"{words}: {passed} of {len(trace.checks)} checks")
    return (
        '<div style="max-width:46em;line-height:1.7">'
        f'<div style="white-space:pre-wrap"><span style="opacity:.6">{escape(shown)}</span>'
        f"{_tokens(trace) or escape(trace.text)}</div>"
        f'<div style="opacity:.7;font-size:85%">{escape(" · ".join(foot))}</div></div>'
    )


def _tokens(trace: Trace) -> str:
    """Return the tokens' HTML; empty if the method's steps emit no single tokens."""
    steps = trace.token_steps
    drawn = zip(steps, shown_texts(steps), token_colors(trace), strict=True)
    return "".join(
        f'<bdi title="{escape(step_label(step, trace))}" '
        f'style="background:{ground};color:{ink}">{escape(text)}</bdi>'
        for step, text, (ground, ink) in drawn
    )
