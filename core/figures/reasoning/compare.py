"""Strategies with the same token limit: one long attempt, a majority vote, best of N."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted
from ...evaluation.types import RULES, AnswerRule, Rivalry, StrategyResult, Vote
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, config_caption, lines, table_text, unspaced
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
    "greedy": N_("single, greedy"),
    "single": N_("single, drawn"),
    "majority": N_("majority vote"),
    "best_of_n": N_("likeliest of N"),
    "reward": N_("reward model"),
    "verifier": N_("checked by arithmetic"),
}


@table("rule samples budget correct problems accuracy wilson_low wilson_high tokens seconds")
def reason_rivals_data(rivalry: Rivalry) -> TableRows:
    """Return one row for each strategy; tokens and seconds are means per problem."""
    return [
        (r.rule, r.samples, r.budget, *share_record(r.correct), r.tokens, r.seconds)
        for r in rivalry.rivals
    ]


@figure(
    N_("Strategies with the same budget"),
    lambda rivalry: " · ".join(
        [
            *(
                [config_caption(rivalry.model_id, rivalry.config, _BOUNDS)]
                if rivalry.config
                else ()
            ),
            tr("at most {tokens:,} tokens a problem", tokens=rivalry.total_tokens),
            problems_words(rivalry.problems),
        ]
    ),
    reason_rivals_data,
    subtitle=lambda rivalry, shares: (
        tr(
            "Right answers where each way may spend {tokens:,} tokens on a problem at most. The "
            "number at the right is what it spent. The line is the 95{nbsp}% interval.",
            tokens=rivalry.total_tokens,
            nbsp=NBSP,
        ),
        strong_words(shares),
    ),
    alt=lambda rivalry, rivals: (
        tr(
            "Right answers at {tokens:,} tokens at most a problem:",
            tokens=rivalry.total_tokens,
        ),
        tr("; ").join(map(_result_words, rivals)) + tr("."),
    ),
)
def reason_rivals(rivalry: Rivalry, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw the accuracy of each strategy with Wilson's 95 % interval, and its actual cost."""
    rivals = rivalry.rivals
    if not rivals:
        return tr("Nothing was compared yet.")
    texts = [
        lines(f"<b>{tr(RULE_WORDS[rival.rule])}</b>", share_words(rival.correct), _spent(rival))
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
            "xaxis": axis(theme, tr("right answers"), 4, range=[0, 1.02], **PERCENT_TICKS),
            "yaxis": axis(theme, range=[len(rivals) - 0.42, -0.5], visible=False),
        },
    )
    for at, rival in enumerate(rivals):
        name = (
            f"<b>{tr(RULE_WORDS[rival.rule])}</b>{NBSP} "
            f"{rival.samples}{NBSP}×{NBSP}{rival.budget} · "
            + unspaced(f"{rival.correct.percent:g}{NBSP}%")
        )
        label_pair(sheet, at - 0.04, name, _spent(rival))
    return sheet


def vote_caption(vote: Vote) -> str:
    """Return the settings of a vote's samples; plain text, empty if unknown."""
    if vote.config is None:
        return ""
    samples = tr(counted(len(vote.attempts), "sample"))
    return f"{config_caption(vote.model_id, vote.config)} · {samples}"


def _spent(rival: StrategyResult) -> str:
    tokens = tr("<b>{tokens:,.0f}</b> tokens", tokens=rival.tokens)
    return f"{tokens} · {rival.seconds:.2f}{NBSP}s"


def _result_words(result: StrategyResult) -> str:
    """Return a strategy's share and cost; plain text."""
    return tr(
        "{rule} with {samples} times {budget} tokens {percent:g} % ({hits} of {total}), "
        "{tokens:,.0f} tokens spent",
        rule=tr(RULE_WORDS[result.rule]),
        samples=result.samples,
        budget=result.budget,
        percent=result.correct.percent,
        hits=result.correct.hits,
        total=result.correct.total,
        tokens=result.tokens,
    )


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
    return tr(", ").join(f"{answer} ×{votes}" for answer, votes in vote.ballots) or tr("no answer")
