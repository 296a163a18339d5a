"""Strategies with the same token limit: one long attempt, a majority vote, best of N."""

from __future__ import annotations

from collections.abc import Sequence

from ...evaluation.types import RULES, AnswerRule, Rivalry, StrategyResult, Vote
from ..base.axes import PERCENT_TICKS, axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, config_caption, table_text
from ..base.marks import label_pair
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme
from .words import (
    problems_words,
    share_bars,
    share_record,
    share_words,
    strong_words,
)

_BOUNDS = ("max_thinking_tokens", "max_new_tokens")
RULE_WORDS: dict[AnswerRule, str] = {
    "greedy": "single, greedy",
    "single": "single, drawn",
    "majority": "majority vote",
    "best_of_n": "likeliest of N",
    "reward": "reward model",
    "verifier": "checked by arithmetic",
}


@table("rule samples budget correct problems accuracy wilson_low wilson_high tokens seconds")
def reason_rivals_data(rivalry: Rivalry) -> TableRows:
    """Return one row for each strategy; tokens and seconds are means per problem."""
    return [
        (r.rule, r.samples, r.budget, *share_record(r.correct), r.tokens, r.seconds)
        for r in rivalry.rivals
    ]


@figure(
    "Strategies with the same budget",
    lambda rivalry: " · ".join(
        [
            *(
                [config_caption(rivalry.model_id, rivalry.config, _BOUNDS)]
                if rivalry.config
                else ()
            ),
            f"at most {rivalry.total_tokens:,} tokens a problem",
            problems_words(rivalry.problems),
        ]
    ),
    reason_rivals_data,
    subtitle=lambda rivalry, shares: (
        f"Right answers where each way may spend {rivalry.total_tokens:,} tokens on a problem at "
        f"most. The number at the right is what it spent. The line is the 95{NBSP}% interval.",
        strong_words(shares),
    ),
    alt=lambda rivalry, rivals: (
        f"Right answers at {rivalry.total_tokens:,} tokens at most a problem:",
        "; ".join(
            f"{RULE_WORDS[r.rule]} with {r.samples} times {r.budget} tokens "
            f"{r.correct.percent:g} % ({r.correct.hits} of {r.correct.total}), "
            f"{r.tokens:,.0f} tokens spent"
            for r in rivals
        )
        + ".",
    ),
)
def reason_rivals(rivalry: Rivalry, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw the accuracy of each strategy with Wilson's 95 % interval, and its actual cost."""
    rivals = rivalry.rivals
    if not rivals:
        return "Nothing was compared yet."
    texts = [
        f"<b>{RULE_WORDS[rival.rule]}</b><br>{share_words(rival.correct)}<br>{_spent(rival)}"
        for rival in rivals
    ]
    shares = [rival.correct for rival in rivals]
    sheet = Sheet(
        theme,
        paper,
        facts={"rivals": rivals, "shares": shares},
        plot_height=62 * len(rivals),
        left=EDGE,
        right=EDGE,
        below=44,
        traces=[share_bars(shares, texts, theme, name="rivals", below=0.15, width=0.32)],
        layout={
            "xaxis": axis(theme, "right answers", 4, range=[0, 1.02], **PERCENT_TICKS),
            "yaxis": axis(theme, range=[len(rivals) - 0.42, -0.5], visible=False),
        },
    )
    for at, rival in enumerate(rivals):
        name = (
            f"<b>{RULE_WORDS[rival.rule]}</b>{NBSP} {rival.samples}{NBSP}×{NBSP}{rival.budget} · "
            f"{rival.correct.percent:g}{NBSP}%"
        )
        label_pair(sheet, at - 0.04, name, _spent(rival))
    return sheet


def vote_caption(vote: Vote) -> str:
    """Return the settings of a vote's samples; plain text, empty if unknown."""
    if vote.config is None:
        return ""
    return f"{config_caption(vote.model_id, vote.config)} · {len(vote.attempts)} samples"


def _spent(rival: StrategyResult) -> str:
    return f"<b>{rival.tokens:,.0f}</b> tokens · {rival.seconds:.2f}{NBSP}s"


@table(
    f"problem steps expected ballots margin drawn_with {' '.join(RULES)} "
    f"{' '.join(f'{rule}_right' for rule in RULES)}",
    whole="steps",
)
def reason_votes_data(votes: Sequence[Vote]) -> TableRows:
    """Return one row for each problem: its ballots, and each rule's answer."""
    for vote in votes:
        known = bool(vote.problem.answer)
        yield (
            table_text(vote.problem.key),
            vote.problem.steps,
            vote.problem.answer,
            ballot_words(vote),
            vote.margin,
            vote_caption(vote),
            *[vote.answer_by(rule) for rule in RULES],
            *[vote.is_right(rule) if known else None for rule in RULES],
        )


def ballot_words(vote: Vote) -> str:
    """Return the answers and the number of samples for each; plain text."""
    return ", ".join(f"{answer} ×{votes}" for answer, votes in vote.ballots) or "no answer"
