"""A candidate as hover text and as a row of a table."""

from __future__ import annotations

from core.decoding.trace import Candidate, TokenStep
from core.figures.base.labels import escaped, percent, show_token, stage_name, table_text

CANDIDATE_COLUMNS = "step rank token_id token chosen logit raw_prob final_prob removed_by".split()


def candidate_hover(step: TokenStep, candidate: Candidate) -> str:
    """What the pointer tells of a candidate; escaped Plotly text."""
    state = "removed by " + escaped(stage_name(candidate.removed_by or ""))
    lines = [
        f"<b>{show_token(candidate.text, 40)}</b>",
        f"step {step.index} · rank {candidate.rank:,} · id {candidate.token_id}",
        f"model {percent(candidate.raw_prob)}",
        state if candidate.removed_by else f"after shaping {percent(candidate.prob)}",
        f"logit {candidate.logit:.3f}",
    ]
    if candidate.token_id == step.token_id:
        lines.insert(1, "chosen")
    return "<br>".join(lines)


def candidate_record(step: TokenStep, candidate: Candidate) -> tuple[object, ...]:
    """The values of `CANDIDATE_COLUMNS`; the token's text is raw."""
    return (
        step.index,
        candidate.rank,
        candidate.token_id,
        table_text(candidate.text),
        candidate.token_id == step.token_id,
        candidate.logit,
        candidate.raw_prob,
        candidate.prob,
        candidate.removed_by,
    )
