"""A candidate as hover text, row label, and table row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from core.decoding.counting import nth
from core.decoding.record.steps import Candidate, TokenStep
from core.figures.base.labels import (
    NBSP,
    escaped,
    lines,
    percent,
    show_token,
    stage_name,
    table_text,
    text_columns,
    visible_token,
)
from core.figures.base.paper import SMALL
from core.figures.base.theme import Theme

# Maximum columns of a token beside its bar.
LABEL_LIMIT = 12
CANDIDATE_COLUMNS = "step rank token_id token chosen logit raw_prob final_prob removed_by"


def shaped_words(prob: str) -> str:
    """Return the words for a candidate's probability after the settings."""
    return f"after shaping {prob}"


def removed_words(stage: str) -> str:
    """Return the words for the stage that removed a candidate; escaped Plotly text."""
    return f"removed by {escaped(stage_name(stage))}"


def state_line(step: TokenStep, candidate: Candidate) -> int:
    """Return the index of the line of `candidate_hover` that depends on the settings."""
    return 3 + (candidate.token_id == step.token_id)


def candidate_hover(step: TokenStep, candidate: Candidate) -> str:
    """Return the hover text of a candidate; escaped Plotly text."""
    out = candidate.removed_by and removed_words(candidate.removed_by)
    return lines(
        f"<b>{show_token(candidate.text, 40)}</b>",
        candidate.token_id == step.token_id and "chosen",
        f"step {nth(step.index)} · rank {candidate.rank:,} · id {candidate.token_id}",
        f"model {percent(candidate.raw_prob)}",
        # A server's final distribution is unknown.
        step.origin != "server" and (out or shaped_words(percent(candidate.prob))),
        f"logit {candidate.logit:.3f}",
    )


def forced_words(step: TokenStep, limit: int = 24) -> str:
    """Return the numbers of a token that replaced a pick, and the pick; plain text.

    Empty for any other step.

    Args:
        limit: maximum columns of the pick's text.
    """
    if step.forced_as != "given":
        return ""
    chosen = step.chosen
    picked = next((c for c in step.candidates if c.token_id == step.instead_of), None)
    pick = f"token #{step.instead_of}"
    if picked:
        pick = f"{visible_token(picked.text, limit)}, {percent(picked.raw_prob)}"
    return f"forced: {percent(chosen.raw_prob)}, rank {chosen.rank:,}; the pick was {pick}"


def widest(texts: Iterable[str], limit: int) -> int:
    """Return the number of columns of the widest token, as a label of at most `limit` columns."""
    return max(text_columns(visible_token(text, limit)) for text in texts)


def chosen_label(token: str, theme: Theme, chosen: bool = True) -> str:
    """Return a token's label; the chosen token is bold (Plotly text)."""
    style = f"color:{theme.accent_text()};font-weight:700"
    return f'<span style="{style}">{token}</span>' if chosen else token


def ranked_labels(
    step: TokenStep, shown: Sequence[Candidate], theme: Theme, faint: Collection[Candidate]
) -> list[str]:
    """Return each candidate's token and, smaller, its rank; the chosen one is bold (Plotly
    text).
    """
    digits = max(len(str(candidate.rank)) for candidate in shown)
    labels = []
    for candidate in shown:
        chosen = candidate.token_id == step.token_id
        token = chosen_label(show_token(candidate.text, LABEL_LIMIT), theme, chosen)
        if candidate in faint and not chosen:
            token = f'<span style="color:{theme.muted}">{token}</span>'
        rank = str(candidate.rank).rjust(digits).replace(" ", NBSP)
        look = f"color:{theme.muted};font-size:{SMALL}px"
        labels.append(f'{token} <span style="{look}">{rank}</span> ')
    return labels


def candidate_record(step: TokenStep, candidate: Candidate) -> tuple[object, ...]:
    """Return the values of `CANDIDATE_COLUMNS`; the token's text is raw."""
    return (
        nth(step.index),
        candidate.rank,
        candidate.token_id,
        table_text(candidate.text),
        candidate.token_id == step.token_id,
        candidate.logit,
        candidate.raw_prob,
        candidate.prob,
        candidate.removed_by,
    )
