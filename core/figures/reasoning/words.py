"""Texts, colours and shares for budgets, outcomes and settings of reasoning runs."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.reasoning.config import LEVELS
from ...evaluation.sweep.fair import whole_problems
from ...evaluation.sweep.types import BudgetField, BudgetSweep, SweepPlan
from ...evaluation.types import AttemptOutcome, ProblemSet, Share
from ..base.color import blend
from ..base.labels import NBSP, config_caption, plain_name
from ..base.marks import hover_texts
from ..base.sheet import Properties
from ..base.theme import Theme

OUTCOME_WORDS: dict[AttemptOutcome, str] = {
    "correct": "correct",
    "wrong": "wrong",
    "truncated": "truncated before answering",
    "unparsable": "unparsable",
}
NOTHING_YET = "No problem has been run at every budget yet."
BUDGET_WORDS: dict[BudgetField, str] = {
    "max_thinking_tokens": "thinking budget, tokens",
    "max_new_tokens": "bound on the whole run, tokens",
}


def quiet_color(theme: Theme) -> str:
    """Return a grey for secondary bars that is visible on the paper in both themes."""
    return blend(theme.muted, theme.paper, 0.35)


def outcome_color(outcome: AttemptOutcome, theme: Theme) -> str:
    """Return the fixed colour of an outcome; the colours are distinguishable for everyone, in print
    too.
    """
    if outcome == "truncated":
        return quiet_color(theme)
    names = {"correct": "green", "wrong": "vermillion", "unparsable": "purple"}
    return theme.named[names[outcome]]


def sweep_caption(sweep: BudgetSweep) -> str:
    """Return model, settings, problems and seeds of a sweep; plain text."""
    plan = sweep.plan
    config = config_caption(plan.model_id, plan.config, ("max_thinking_tokens", "max_new_tokens"))
    samples = f" · {plan.samples} samples each" if plan.samples > 1 else ""
    return f"{config} · {problems_words(plan.problems)}{samples}"


def problems_words(problems: ProblemSet) -> str:
    """Return the number of problems and their source; plain text."""
    count = len(problems.problems)
    noun = "problem" if count == 1 else "problems"
    return f"{count} {noun}: {plain_name(problems.name, 80)}"


def band_words(plan: SweepPlan) -> str:
    """Return the meaning of a curve's band."""
    over = " over problems" if plan.samples > 1 else ""
    return f"the band is the 95{NBSP}% interval{over}."


def so_far(sweep: BudgetSweep) -> str:
    """Return the progress of an unfinished sweep; empty for a complete one."""
    if sweep.complete:
        return ""
    done, all_of_them = len(whole_problems(sweep)), len(sweep.plan.problems.problems)
    first = "the first problem" if done == 1 else f"the first {done:,} problems"
    return f"So far {first} of {all_of_them:,}, each at every budget."


def share_words(share: Share) -> str:
    """Return a share with its interval; escaped Plotly text."""
    return (
        f"{share.percent:g}{NBSP}% ({share.hits} of {share.total}), "
        f"95{NBSP}% interval {100 * share.low:.1f} to {100 * share.high:.1f}{NBSP}%"
    )


def strong_words(shares: Sequence[Share]) -> str:
    """Explain the strong colour of `share_bars`; empty if all shares are equal."""
    if len({share.value for share in shares}) < 2:
        return ""
    return "The strongest bar is the highest share."


def share_bars(
    shares: Sequence[Share],
    texts: Sequence[str],
    theme: Theme,
    *,
    name: str,
    below: float,
    width: float,
) -> Properties:
    """Return horizontal bars with their intervals; the best ones have a colour.

    The colours are pale, so that the interval over a bar is visible up to its ends.

    Args:
        texts: hover texts, escaped.
        below: distance of each bar below its row's middle, in rows; `width` is in rows too.
    """
    best = max(share.value for share in shares)
    colors = [
        blend(theme.first, theme.paper, 0.45)
        if share.value == best
        else blend(theme.muted, theme.paper, 0.65)
        for share in shares
    ]
    return {
        "type": "bar",
        "name": name,
        "orientation": "h",
        "x": [share.value for share in shares],
        "y": [at + below for at in range(len(shares))],
        "width": width,
        "marker": {"color": colors, "line": {"width": 0}},
        "error_x": share_errors(shares, theme.ink),
        **hover_texts(texts),
    }


def share_errors(shares: Sequence[Share], color: str) -> Properties:
    """Return the intervals as Plotly's error bars."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [share.high - share.value for share in shares],
        "arrayminus": [share.value - share.low for share in shares],
        "color": color,
        "thickness": 1.5,
        "width": 5,
    }


def share_record(share: Share) -> tuple[float, ...]:
    """Return a share as five columns of a table: hits, total, value, and both ends of its
    interval.
    """
    return (share.hits, share.total, share.value, share.low, share.high)


def levels_within(budgets: Sequence[int], field: BudgetField) -> dict[str, int]:
    """Return the named levels within the range of these budgets; none for another field."""
    if field != "max_thinking_tokens" or not budgets:
        return {}
    return {name: most for name, most in LEVELS.items() if budgets[0] <= most <= budgets[-1]}
