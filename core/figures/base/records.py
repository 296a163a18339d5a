"""A candidate as hover text, row label, and table row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ...decoding.counting import counted, nth
from ...decoding.record.forks import ForkPoint
from ...decoding.record.steps import Candidate, TokenStep
from ...decoding.record.trace import Trace
from ...decoding.speculative.rounds import positions_of
from ...decoding.speculative.types import PairCandidate
from ...language import N_, tr
from .labels import (
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
from .paper import SMALL
from .theme import Theme

if TYPE_CHECKING:
    import pandas as pd

NO_STAGES = N_("No step is selected, or it holds no stages.")
_PLACES = {"step": N_("step {number}"), "token": N_("token {number}")}
# Maximum columns of a token beside its bar.
LABEL_LIMIT = 12
CANDIDATE_COLUMNS = "step rank token_id token chosen logit raw_prob final_prob removed_by"


def shaped_words(prob: str) -> str:
    """Return the words for a candidate's probability after the settings."""
    return tr("after shaping {probability}", probability=prob)


def removed_words(stage: str) -> str:
    """Return the words for the stage that removed a candidate; escaped Plotly text."""
    return tr("removed by {stage}", stage=escaped(stage_name(stage)))


def state_line(step: TokenStep, candidate: Candidate) -> int:
    """Return the index of the line of `candidate_hover` that depends on the settings."""
    return 3 + (candidate.token_id == step.token_id)


def token_place(step: TokenStep, trace: Trace, *, reads: bool) -> tuple[str, int]:
    """Return the name and the index by which a figure counts a step.

    Args:
        reads: the trace is a text that was read: a token has its position in the text.
    """
    return ("token", step.index + len(trace.prompt_ids)) if reads else ("step", step.index)


def numbered_place(unit: str, at: int) -> str:
    """Return the words for a place as `token_place` returns it, such as "step 5"."""
    return tr(_PLACES[unit], number=nth(at))


def by_position(rows: pd.DataFrame, trace: Trace, *, reads: bool) -> pd.DataFrame:
    """Return a table of steps; of a text that was read, with the tokens' positions instead."""
    if not reads:
        return rows
    shifted = rows.assign(step=rows["step"] + len(trace.prompt_ids))
    return shifted.rename(columns={"step": "position"})


def candidate_hover(step: TokenStep, candidate: Candidate, place: tuple[str, int] = ("", 0)) -> str:
    """Return the hover text of a candidate; escaped Plotly text.

    Args:
        place: as `token_place` returns it; by default the step.
    """
    name, at = place if place[0] else ("step", step.index)
    out = candidate.removed_by and removed_words(candidate.removed_by)
    return lines(
        f"<b>{show_token(candidate.text, 40)}</b>",
        candidate.token_id == step.token_id and tr("chosen"),
        tr(
            "{name} {number} · rank {rank:,} · id {token_id}",
            name=tr(name),
            number=nth(at),
            rank=candidate.rank,
            token_id=candidate.token_id,
        ),
        tr("model {probability}", probability=percent(candidate.raw_prob)),
        # A server's final distribution is unknown.
        step.origin != "server" and (out or shaped_words(percent(candidate.prob))),
        tr("logit {logit:.3f}", logit=candidate.logit),
    )


def texts_in(trace: Trace) -> Callable[[int], str]:
    """Return what gives the text of a token that any step of a trace names; else empty."""

    @cache
    def texts() -> dict[int, str]:
        step = trace.prompt_step
        rows: list[Sequence[Candidate | PairCandidate]] = []
        rows += [position.candidates for position in step.positions] if step else []
        rows += [step.candidates for step in trace.token_steps]
        rows += [at for step in trace.rounds for at in positions_of(step)]
        return {candidate.token_id: candidate.text for row in rows for candidate in row}

    return lambda token_id: texts().get(token_id, "")


def forced_words(
    step: TokenStep, limit: int = 24, text_of: Callable[[int], str] = lambda _: ""
) -> str:
    """Return the numbers of a token that replaced a pick, and the pick; plain text.

    Empty for any other step.

    Args:
        limit: maximum columns of the pick's text.
        text_of: the text of a pick outside the step's candidates; empty where it is unknown.
    """
    if step.forced_as != "given":
        return ""
    chosen = step.chosen
    words = tr(
        "forced: {probability}, rank {rank:,}",
        probability=percent(chosen.raw_prob),
        rank=chosen.rank,
    )
    if step.instead_of is None:
        return words
    picked = next((c for c in step.candidates if c.token_id == step.instead_of), None)
    if picked:
        pick = f"{visible_token(picked.text, limit)}, {percent(picked.raw_prob)}"
    elif text := text_of(step.instead_of):
        pick = visible_token(text, limit)
    else:
        pick = tr("a token that the file does not name (id {token_id})", token_id=step.instead_of)
    return tr("{forced}; the pick was {pick}", forced=words, pick=pick)


def candidate_labels(step: TokenStep) -> dict[int, str]:
    """Return for each other candidate of a step, by its id, its text and its numbers."""
    return {
        c.token_id: tr(
            "{token} · {probability} · rank {rank:,}",
            token=visible_token(c.text, 24),
            probability=percent(c.raw_prob),
            rank=c.rank,
        )
        for c in step.candidates
        if c.token_id != step.token_id
    }


def fork_words(point: ForkPoint, limit: int = 24) -> str:
    """The measures of a fork point in words; plain text."""
    own, other = (visible_token(c.text, limit) for c in (point.step.chosen, point.other))
    change = f"{point.logprob_change:+.2f}".replace("-", "−")
    return tr(
        "{other} ({probability}, rank {rank:,}) in place of {own}: {changed} of "
        "{tokens} differ, {change} nats a token, {together}",
        other=other,
        probability=percent(point.other.raw_prob),
        rank=point.other.rank,
        own=own,
        changed=point.changed,
        tokens=counted(point.length, "token"),
        change=change,
        together=together_words(point),
    )


def together_words(point: ForkPoint) -> str:
    """Describe the place where a fork point's ending is its run's again; plain text."""
    if point.together_after is None:
        return tr("not together again")
    if point.together_after == 0:
        return tr("together again at once")
    return tr("together again after {tokens}", tokens=counted(point.together_after, "token"))


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
