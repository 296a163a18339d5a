"""Texts, colours and shares for budgets, outcomes and settings of reasoning runs."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted
from ...decoding.reasoning.config import LEVELS
from ...evaluation.sweep.curves import BudgetPoint
from ...evaluation.sweep.fair import whole_problems
from ...evaluation.sweep.types import BudgetField, BudgetSweep, SweepPlan
from ...evaluation.types import AttemptOutcome, ProblemSet, Share
from ...language import N_, tr, trn
from ..base.color import blend
from ..base.labels import NBSP, config_caption, set_name
from ..base.marks import hover_texts
from ..base.sheet import Properties
from ..base.theme import Theme

OUTCOME_WORDS: dict[AttemptOutcome, str] = {
    "correct": N_("correct"),
    "wrong": N_("wrong"),
    "truncated": N_("truncated before answering"),
    "unparsable": N_("unparsable"),
}
LEVEL_WORDS = {"low": N_("low"), "medium": N_("medium"), "high": N_("high")}
NOTHING_YET = N_("No problem has been run at every budget yet.")
BUDGET_WORDS: dict[BudgetField, str] = {
    "max_thinking_tokens": N_("thinking budget, tokens"),
    "max_new_tokens": N_("bound on the whole run, tokens"),
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
    parts = [config, problems_words(plan.problems)]
    if plan.samples > 1:
        parts.append(tr("{samples} samples each", samples=plan.samples))
    return " · ".join(parts)


def problems_words(problems: ProblemSet) -> str:
    """Return the number of problems and their source; plain text."""
    return tr(
        "{problems}: {name}",
        problems=counted(len(problems.problems), "problem"),
        name=set_name(problems.name),
    )


def band_words(plan: SweepPlan) -> str:
    """Return the meaning of a curve's band."""
    if plan.samples > 1:
        return tr("The band is the 95{nbsp}% interval over problems.", nbsp=NBSP)
    return tr("The band is the 95{nbsp}% interval.", nbsp=NBSP)


def so_far(sweep: BudgetSweep) -> str:
    """Return the progress of an unfinished sweep; empty for a complete one."""
    if sweep.complete:
        return ""
    done, all_of_them = len(whole_problems(sweep)), len(sweep.plan.problems.problems)
    return trn(
        "So far the first problem of {total:,}, each at every budget.",
        "So far the first {count} problems of {total:,}, each at every budget.",
        done,
        total=all_of_them,
    )


def budget_head(budget: int) -> str:
    """Return the first line of a budget's hover text; Plotly text."""
    return tr("<b>budget {budget}</b>", budget=budget)


def share_words(share: Share) -> str:
    """Return a share with its interval; escaped Plotly text."""
    return tr(
        "{percent:g}{nbsp}% ({hits} of {total}), 95{nbsp}% interval {low:.1f} to {high:.1f}{nbsp}%",
        percent=share.percent,
        hits=share.hits,
        total=share.total,
        low=100 * share.low,
        high=100 * share.high,
        nbsp=NBSP,
    )


def point_words(point: BudgetPoint) -> str:
    """Return the share of right answers at a budget; plain text."""
    correct = point.correct
    return tr(
        "{percent:g} % at {budget} tokens ({hits} of {total})",
        percent=correct.percent,
        budget=point.budget,
        hits=correct.hits,
        total=correct.total,
    )


def strong_words(shares: Sequence[Share]) -> str:
    """Explain the strong colour of `share_bars`; empty if all shares are equal."""
    if len({share.value for share in shares}) < 2:
        return ""
    return tr("The strongest bar is the highest share.")


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
