"""Sentences on the patterns of a broken draft."""

from __future__ import annotations

from ....decoding.record.trace import Trace
from ....decoding.speculative.analysis.patterns import Pattern, pattern_of
from ....language import tr
from ...base.labels import percent, visible_token


def pattern_words(trace: Trace) -> str:
    """Return a sentence on the pattern that a run's drafts show; empty for none, plain text."""
    found = pattern_of(trace)
    return "" if found is None else _words(found)


def _words(found: Pattern) -> str:
    values = {"rounds": found.rounds, "of": found.of, "contexts": found.contexts}
    if found.name == "constant_draft":
        return tr(
            "Constant draft: in all {of} rounds, after {contexts} different tokens, the draft "
            "gives the same probabilities, so the text doesn't reach it (its cache, its hidden "
            "states or its weights are wrong).",
            **values,
        )
    if found.name == "constant_token":
        return tr(
            "Constant draft: {rounds} of {of} rounds begin with the same drafted token, {token}, "
            "after {contexts} different tokens, and it was accepted {accepted} times: the text "
            "hardly reaches the draft (its cache, its hidden states or its weights are wrong).",
            token=visible_token(found.token, 24),
            accepted=found.accepted,
            **values,
        )
    if found.name == "other_text":
        return tr(
            "Wrong template: in {rounds} of {of} rounds draft and target have less than {overlap} "
            "in common, though the draft is sure of its token ({sure} in the median): it reads "
            "another text than the target (another chat template, other ids of tokens, or a wrong "
            "cache).",
            overlap=percent(_ceiling(found.overlap)),
            sure=percent(found.sure),
            **values,
        )
    return tr(
        "Wrong template: in the first {rounds} rounds draft and target have less than {overlap} in "
        "common, in the later ones {later} in the median: the draft seems to read another prompt "
        "or chat template than the target.",
        overlap=percent(_ceiling(found.overlap)),
        later=percent(found.later),
        **values,
    )


def _ceiling(overlap: float) -> float:
    """Return a round percentage above an overlap."""
    return (int(100 * overlap) + 1) / 100
