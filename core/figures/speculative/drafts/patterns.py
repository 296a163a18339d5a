"""Sentences on the patterns of a broken draft."""

from __future__ import annotations

from ....decoding.record.trace import Trace
from ....decoding.speculative.analysis.patterns import Pattern, is_judged, pattern_of
from ....decoding.speculative.config import Speculative
from ....language import N_, tr
from ...base.labels import percent, visible_token


def pattern_words(trace: Trace) -> str:
    """Return a sentence on the pattern that a run's drafts show; empty for none, plain text."""
    found = pattern_of(trace)
    return "" if found is None else _words(found)


NONE_FOUND = N_(
    "The draft shows none of the known patterns of a broken one: the same distribution or token "
    "everywhere, a token too late, another text than the target's. A draft can be broken without "
    "one: the checks against the models compare all its probabilities."
)
TOO_LITTLE = N_(
    "No pattern of a broken draft was looked for: that takes at least 6 rounds with drafts after 4 "
    "different tokens, and a rejected first token. The checks against the models compare all "
    "probabilities of the draft."
)


def pattern_note(trace: Trace) -> str:
    """Return the sentence on the pattern, or whether any was looked for; empty for a source without
    a draft model; plain text.
    """
    source = trace.require(Speculative).config.source
    if source.from_text or source.from_rounds:
        return ""
    return pattern_words(trace) or tr(NONE_FOUND if is_judged(trace) else TOO_LITTLE)


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
    if found.name == "late":
        return tr(
            "Late draft: in {rounds} of {of} rounds the draft's likeliest token is the one that "
            "stands there already: it reads the text without its last token (its cache or its "
            "positions are off by one).",
            **values,
        )
    if found.name == "other_text":
        return tr(
            "Wrong text: over {of} rounds the draft is sure of other tokens than the target "
            "(KL divergence {nats} nats in the mean; {sure} for its own likeliest token in the "
            "median). It seems to read another text: another chat template, other ids of tokens, "
            "or a cache that is wrong or loses tokens.",
            nats=f"{found.nats:.1f}",
            sure=percent(found.sure),
            **values,
        )
    return tr(
        "Wrong template: in the first {rounds} rounds draft and target are {nats} nats apart (mean "
        "KL divergence), in the later ones {later}: the draft seems to read another prompt or chat "
        "template than the target.",
        nats=f"{found.nats:.1f}",
        later=f"{found.later:.1f}",
        **values,
    )
