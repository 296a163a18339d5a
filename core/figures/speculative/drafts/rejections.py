"""Rejected tokens in words and as a table: source, preference of the target, probability."""

from __future__ import annotations

from ....decoding.counting import nth
from ....decoding.record.trace import Trace
from ....decoding.speculative.analysis.rejections import Rejection, rejections
from ....decoding.speculative.config import Speculative
from ....language import tr, trn
from ...base.figure import TableRows, table
from ...base.labels import percent, table_text, visible_token
from ..words import is_greedy, number, rule_of

_LIMIT = 24


@table(
    "round position token source_token source_same draft_prob draft_raw_prob target_prob "
    "target_raw_prob preferred preferred_prob preferred_raw_prob rejection_prob uniform",
    whole="source_token source_same",
)
def spec_rejections_data(trace: Trace) -> TableRows:
    """Return a row for each rejected token.

    Of a source that copies the text, `source_token` is the number, from 1, of an earlier place of
    the token in prompt and text, and `source_same` the number of equal tokens before it;
    `preferred` is the target's likeliest token.
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


def rejection_words(trace: Trace, found: Rejection) -> str:
    """Return what the draft knew, what the target preferred, and the probability of the rejection;
    plain text.
    """
    return " ".join((_knew(trace, found), _preferred(trace, found), _how_likely(trace, found)))


def _knew(trace: Trace, found: Rejection) -> str:
    config = trace.require(Speculative).config
    token = visible_token(found.token.text, _LIMIT)
    if found.earlier is not None:
        return trn(
            "The source: the text. {token} also stands at token {at} of prompt and text, after the "
            "same token as here.",
            "The source: the text. {token} also stands at token {at} of prompt and text, after the "
            "same {count} tokens as here.",
            found.earlier.same,
            at=nth(found.earlier.at),
            token=token,
        )
    if config.drafter == "jacobi":
        return tr("The source: {token} is the target's own guess of the round before.", token=token)
    if config.drafter == "lookahead":
        return tr(
            "The source: {token} is from an n-gram that the window of guesses gave.", token=token
        )
    if found.drafted.draft_raw_prob is None:
        return tr(
            "The source: the draft with another tokenizer proposed {token}; it has no probability.",
            token=token,
        )
    drew = config.draft_draws
    prob = percent(found.token.draft_prob if drew else found.drafted.draft_raw_prob)
    if config.drafter == "head":
        return tr("The source: the draft head gave {token} {prob}.", token=token, prob=prob)
    if config.drafter == "early_exit":
        return trn(
            "The source: the target's first layer gave {token} {prob}.",
            "The source: the target's first {count} layers gave {token} {prob}.",
            config.exit_layer,
            token=token,
            prob=prob,
        )
    return tr("The source: the draft model gave {token} {prob}.", token=token, prob=prob)


def _preferred(trace: Trace, found: Rejection) -> str:
    greedy = is_greedy(trace)
    drafted, best = found.drafted, found.preferred
    gives = percent(drafted.target_raw_prob if greedy else found.token.target_prob)
    if best.token_id == found.token.token_id:
        return tr("It is the target's likeliest token too, with {gives}.", gives=gives)
    values = {
        "token": visible_token(best.text, _LIMIT),
        "prob": percent(best.target_raw_prob if greedy else best.target_prob),
        "gives": gives,
    }
    step = trace.rounds[found.round]
    if found.place and step.tree[found.place] in step.tree[: found.place]:
        return tr(
            "Without the siblings tried before it, the target prefers {token} with {prob} and "
            "gives the drafted token {gives}.",
            **values,
        )
    return tr(
        "The target prefers {token} with {prob} and gives the drafted token {gives}.", **values
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
