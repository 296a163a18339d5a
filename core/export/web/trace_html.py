"""A trace as HTML for a notebook's cell: its text, its settings and its checks."""

from __future__ import annotations

from html import escape

from ...decoding.check import VERDICT_WORDS, verdict
from ...decoding.record.trace import Trace
from ...figures.base.labels import settings_caption
from ...figures.base.theme import DARK
from ...figures.decode.strip import shown_texts, step_label, token_colors

_MOST_PROMPT = 400
# The dark themes of JupyterLab and of VS Code.
_STYLE = (
    '<style>:is([data-jp-theme-light="false"],.vscode-dark) .decoding-explorer-run bdi'
    "{background:var(--ground)!important;color:var(--ink)!important}</style>"
)


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
        f'{_STYLE}<div class="decoding-explorer-run" style="max-width:46em;line-height:1.7">'
        f'<div style="white-space:pre-wrap"><span style="opacity:.6">{escape(shown)}</span>'
        f"{_tokens(trace) or escape(trace.text)}</div>"
        f'<div style="opacity:.7;font-size:85%">{escape(" · ".join(foot))}</div></div>'
    )


def _tokens(trace: Trace) -> str:
    """Return the tokens' HTML; empty if the method's steps emit no single tokens."""
    steps = trace.token_steps
    colors = zip(token_colors(trace), token_colors(trace, theme=DARK), strict=True)
    drawn = zip(steps, shown_texts(steps), colors, strict=True)
    return "".join(
        f'<bdi title="{escape(step_label(step, trace))}" style="background:{ground};color:{ink};'
        f'--ground:{dark[0]};--ink:{dark[1]}">{escape(text)}</bdi>'
        for step, text, ((ground, ink), dark) in drawn
    )
