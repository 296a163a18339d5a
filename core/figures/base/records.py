"""A candidate as hover text, as the label of its row, and as a row of a table."""

from __future__ import annotations

from collections.abc import Iterable

from core.decoding.counting import nth
from core.decoding.record.steps import Candidate, TokenStep
from core.figures.base.labels import (
    NBSP,
    escaped,
    percent,
    show_token,
    stage_name,
    table_text,
    text_columns,
    visible_token,
)
from core.figures.base.paper import SMALL
from core.figures.base.theme import Theme

CANDIDATE_COLUMNS = "step rank token_id token chosen logit raw_prob final_prob removed_by"


def shaped_words(prob: str) -> str:
    """The probability that the settings left a candidate."""
    return f"after shaping {prob}"


def removed_words(stage: str) -> str:
    """The stage that removed a candidate; escaped Plotly text."""
    return "removed by " + escaped(stage_name(stage))


def state_line(step: TokenStep, candidate: Candidate) -> int:
    """Index of the line of `candidate_hover` that the settings decide."""
    return 3 + (candidate.token_id == step.token_id)


def candidate_hover(step: TokenStep, candidate: Candidate) -> str:
    """The hover text of a candidate; escaped Plotly text."""
    state = removed_words(candidate.removed_by or "")
    shaped = shaped_words(percent(candidate.prob))
    lines = [
        f"<b>{show_token(candidate.text, 40)}</b>",
        f"step {nth(step.index)} · rank {candidate.rank:,} · id {candidate.token_id}",
        f"model {percent(candidate.raw_prob)}",
        # What a server drew from is not known.
        *([] if step.origin == "server" else [state if candidate.removed_by else shaped]),
        f"logit {candidate.logit:.3f}",
    ]
    if candidate.token_id == step.token_id:
        lines.insert(1, "chosen")
    return "<br>".join(lines)


def forced_words(step: TokenStep) -> str:
    """The numbers of a token that was given in place of a pick, and the pick; plain text.

    Empty for any other step.
    """
    if step.forced_as != "given":
        return ""
    chosen = step.chosen
    picked = next((c for c in step.candidates if c.token_id == step.instead_of), None)
    named = f"{visible_token(picked.text, 24)}, {percent(picked.raw_prob)}" if picked else ""
    return (
        f"forced; the model picked {named or f'token #{step.instead_of}'}; this token had "
        f"{percent(chosen.raw_prob)}, rank {chosen.rank:,}"
    )


def widest(texts: Iterable[str], limit: int) -> int:
    """The columns that the widest of some tokens takes as a label of at most `limit` columns."""
    return max(text_columns(visible_token(text, limit)) for text in texts)


def chosen_label(token: str, theme: Theme) -> str:
    """The chosen token among others (Plotly text)."""
    return f'<span style="color:{theme.accent_text()};font-weight:700">{token}</span>'


def ranked_label(
    candidate: Candidate, theme: Theme, *, limit: int, digits: int, chosen: bool, faint: bool
) -> str:
    """A candidate's token and, smaller, its rank, filled up to so many digits (Plotly text)."""
    token = show_token(candidate.text, limit)
    if chosen:
        token = chosen_label(token, theme)
    elif faint:
        token = f'<span style="color:{theme.muted}">{token}</span>'
    rank = str(candidate.rank).rjust(digits).replace(" ", NBSP)
    return f'{token} <span style="color:{theme.muted};font-size:{SMALL}px">{rank}</span> '


def candidate_record(step: TokenStep, candidate: Candidate) -> tuple[object, ...]:
    """The values of `CANDIDATE_COLUMNS`; the token's text is raw."""
    head = (
        nth(step.index),
        candidate.rank,
        candidate.token_id,
        table_text(candidate.text),
        candidate.token_id == step.token_id,
    )
    return (*head, candidate.logit, candidate.raw_prob, candidate.prob, candidate.removed_by)
