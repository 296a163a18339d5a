"""Sentences on a source whose drafts hardly save forwards of the target."""

from __future__ import annotations

from ....decoding.counting import sentences
from ....decoding.record.trace import Trace
from ....decoding.speculative.config import Speculative
from ....decoding.speculative.measurement.metrics import counts, tokens_per_round
from ....decoding.speculative.measurement.report import Comparison
from ....language import N_, tr
from ..time import headline

# A smaller bound of the speed-up is lost, as scoring a draft takes longer than one token.
_LEAST_SPEEDUP = 1.1
_LEAST_ROUNDS = 8
# Least time of proposing that the sentence names, in forwards of the target.
_LEAST_PROPOSING = 0.1
_OWN_FORWARDS = N_(
    "A high acceptance rate alone makes nothing faster: the draft's own forwards take time too. "
    "The tab Time measures both."
)
_NO_FORWARDS = N_(
    "A high acceptance rate alone makes nothing faster: these drafts take no forward of their own, "
    "but scoring them takes longer than scoring one token. The tab Time measures both."
)


def cost_words(trace: Trace) -> str:
    """Return what drafts cost besides their rejected tokens; plain text."""
    source = trace.require(Speculative).config.source
    return tr(_OWN_FORWARDS if source.draws or source.needs_draft else _NO_FORWARDS)


def little_benefit_words(trace: Trace, measured: Comparison | None = None) -> str:
    """Return why the drafts of a run hardly help; empty if they may help; plain text.

    A forward that scores a draft takes at least as long as one for a single token. So the speed-up
    is at most the tokens of a round, divided by the round's time in forwards that score a draft.

    Args:
        measured: times against the target alone, which then decide in place of the bound.
    """
    rounds = trace.rounds
    totals, emitted = counts(rounds), tokens_per_round(rounds)
    if emitted is None or not totals.drafted or len(rounds) < _LEAST_ROUNDS:
        return ""
    score = sum(step.seconds.score for step in rounds)
    proposing = sum(step.seconds.propose for step in rounds) / score if score > 0 else 0.0
    speedup = measured.speedup if measured else emitted / (1 + proposing)
    if speedup >= _LEAST_SPEEDUP:
        return ""
    values = {"accepted": totals.accepted, "drafted": totals.drafted, "emitted": emitted}
    if proposing < _LEAST_PROPOSING:
        words = tr(
            "These drafts hardly help here: with {accepted} of {drafted} drafted tokens accepted, "
            "a round emits {emitted:.2f} tokens.",
            **values,
        )
    else:
        words = tr(
            "These drafts hardly help here: with {accepted} of {drafted} drafted tokens accepted, "
            "a round emits {emitted:.2f} tokens, and proposing them takes as long as "
            "{proposing:.1f} forwards of the target.",
            proposing=proposing,
            **values,
        )
    if measured is not None:
        after = tr("{headline}, as measured.", headline=headline(measured.speedup))
    else:
        after = tr(
            "The target alone emits 1 in a shorter round, so it is probably faster; the tab Time "
            "measures both."
        )
    return tr(sentences(words, after))
