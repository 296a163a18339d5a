"""Rejected tokens in words and as a table: source, preference of the target, probability."""

from __future__ import annotations

from ....decoding.counting import nth, sentences
from ....decoding.record.trace import Trace
from ....decoding.speculative.analysis.rejections import Rejection, rejections
from ....decoding.speculative.config import Speculative
from ....decoding.speculative.rounds import candidate_of
from ....decoding.speculative.types import DraftToken, PairCandidate
from ....language import tr
from ...base.figure import TableRows, table
from ...base.labels import percent, stage_name, stage_setting, table_text, visible_token
from ..words import is_greedy, number, rule_of
from .origins import LIMIT, origin_words
from .removing import removing_stages


@table(
    "round position token source_token source_same draft_prob draft_raw_prob target_prob "
    "target_raw_prob preferred preferred_prob preferred_raw_prob rejection_prob uniform",
    whole="source_token source_same",
)
def spec_rejections_data(trace: Trace) -> TableRows:
    """Return a row for each rejected token.

    Of a source that copies the text, `source_token` is the number, from 1, of an earlier place of
    the token in prompt and text, and `source_same` the number of equal tokens before it;
    `preferred` is the target's likeliest token. The `raw` probabilities are unshaped, the others
    final.
    """
    for found in rejections(trace):
        yield (
            nth(found.round),
            nth(trace.rounds[found.round].depths[found.place]),
            table_text(found.token.text),
            found.earlier and nth(found.earlier.at),
            found.earlier and found.earlier.same,
            found.token.draft_prob,
            found.drafted.draft_raw_prob,
            found.token.target_prob,
            found.drafted.target_raw_prob,
            table_text(found.preferred.text),
            found.preferred.target_prob,
            found.preferred.target_raw_prob,
            found.likelihood,
            found.token.uniform,
        )


def rejection_words(trace: Trace, found: Rejection, *, verified: bool = False) -> str:
    """Return what the draft knew, what the target preferred, and the probability of the rejection;
    plain text.

    Args:
        verified: whether the sentence of the verification follows; a probability that it gives is
            then left out.
    """
    said_later = verified and not _adds_to_verification(trace, found)
    return tr(
        sentences(
            origin_words(trace, found),
            _preferred(trace, found),
            _fixed(trace, found),
            "" if said_later else _how_likely(trace, found),
        )
    )


def _adds_to_verification(trace: Trace, found: Rejection) -> bool:
    """Return whether the sentence of the verification leaves the probability of a rejection out:
    that of drawing another token (exact match), or that no later token passes either (block).
    """
    random = not (found.token.refused or is_greedy(trace))
    return random and rule_of(trace) in ("exact", "block")


def _preferred(trace: Trace, found: Rejection) -> str:
    best, greedy = found.preferred, is_greedy(trace)
    gives = percent(found.drafted.target_raw_prob if greedy else found.token.target_prob)
    values = {
        "token": visible_token(best.text, LIMIT),
        "prob": percent(best.target_raw_prob if greedy else best.target_prob),
        "gives": gives,
    }
    if first := _first_sibling(trace, found):
        if best.token_id == found.token.token_id:
            words = tr(
                "Without the siblings tried before it, it is the target's likeliest token, with "
                "{gives}.",
                gives=gives,
            )
        else:
            words = tr(
                "Without the siblings tried before it, the target prefers {token} with {prob} and "
                "gives the drafted token {gives}.",
                **values,
            )
        return tr(sentences(words, _before_siblings(found, first), _removed(trace, found, first)))
    if best.token_id == found.token.token_id:
        return tr("It is the target's likeliest token too, with {gives}.", gives=gives)
    if greedy and found.drafted.target_raw_prob > best.target_raw_prob:
        return tr(
            "With penalties, bans and constraint the target prefers {token}, whose own probability "
            "is {prob}; the drafted token's is {gives}.",
            **values,
        )
    words = tr(
        "The target prefers {token} with {prob} and gives the drafted token {gives}.", **values
    )
    return words if greedy else tr(sentences(words, _removed(trace, found, found.drafted)))


def _first_sibling(trace: Trace, found: Rejection) -> DraftToken | None:
    """Return the first sibling of a token that was verified without its earlier siblings; None for
    any other token.
    """
    step = trace.rounds[found.round]
    first = step.tree.index(step.tree[found.place])
    # Typical acceptance and one-hot distributions keep what a rejected sibling had.
    if first == found.place or rule_of(trace) == "typical" or is_greedy(trace):
        return None
    return step.drafted[first]


def _before_siblings(found: Rejection, first: DraftToken) -> str:
    pair = candidate_of(first.candidates, found.token.token_id)
    if pair is None or pair.target_prob == 0:
        return ""
    return tr(
        "Before they were rejected, the target gave it {prob}.", prob=percent(pair.target_prob)
    )


def _removed(trace: Trace, found: Rejection, before: PairCandidate | DraftToken | None) -> str:
    """Return which stage removed a token; empty if none did.

    Args:
        before: the token before its siblings were rejected, or the first of these.
    """
    if isinstance(before, DraftToken):
        before = candidate_of(before.candidates, found.token.token_id)
    own = found.drafted.target_raw_prob
    if before is None or before.target_prob > 0 or own == 0:
        return ""
    names = [
        # A constraint's rule is long.
        stage_name(name) if name == "constraint" else stage_setting(name, trace.config)
        for name in removing_stages(trace, found)
    ]
    if not names:
        return ""
    if len(names) == 1:
        return tr(
            "The stage {stage} removed it (the target's own probability is {prob}).",
            stage=names[0],
            prob=percent(own),
        )
    return tr(
        "One of the stages {stages} removed it (the target's own probability is {prob}).",
        stages=tr(", ").join(names),
        prob=percent(own),
    )


def _fixed(trace: Trace, found: Rejection) -> str:
    """Return why the rule reads a draft probability of 1; empty if it doesn't."""
    reads = rule_of(trace) in ("speculative", "block")
    drew = trace.require(Speculative).config.draft_draws
    if drew or not reads or is_greedy(trace) or found.token.refused:
        return ""
    return tr(
        "The candidate is fixed, not drawn, so its draft probability counts as {one}.",
        one=percent(1.0),
    )


def _how_likely(trace: Trace, found: Rejection) -> str:
    rule, token = rule_of(trace), found.token
    if token.refused:
        return tr("The constraint doesn't allow it, so the rejection was certain.")
    if is_greedy(trace):
        return tr(
            "At temperature 0 only the target's most probable token passes, so the rejection was "
            "certain."
        )
    if rule == "typical":
        return tr("It is not above the threshold, so the rejection was certain.")
    likelihood = number(found.likelihood)
    if rule == "exact":
        return tr(
            "The target draws another token with probability 1 − target_prob = {likelihood}.",
            likelihood=likelihood,
        )
    if rule == "block":
        return tr(
            "That neither it nor a later token passes has the probability {likelihood}.",
            likelihood=likelihood,
        )
    return tr(
        "So the rejection had the probability 1 − min(1, {target} / {draft}) = {likelihood}.",
        target=percent(token.target_prob),
        draft=percent(token.draft_prob),
        likelihood=likelihood,
    )
