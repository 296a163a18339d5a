"""Origin of a rejected token in words: what its source read or which probability it gave."""

from __future__ import annotations

from ....decoding.counting import nth
from ....decoding.record.trace import Trace
from ....decoding.speculative.analysis.rejections import Occurrence, Rejection
from ....decoding.speculative.config import Speculative
from ....decoding.speculative.drafters.guesses import window
from ....decoding.speculative.drafters.ngram_cache import ngram_size
from ....decoding.speculative.tree.shape import path_to
from ....language import tr, trn
from ...base.labels import percent, visible_token

LIMIT = 24


def origin_words(trace: Trace, found: Rejection) -> str:
    """Return what the source of a rejected token knew; plain text."""
    config = trace.require(Speculative).config
    token = visible_token(found.token.text, LIMIT)
    if found.earlier is not None:
        return _copied(trace, found, found.earlier, token)
    if config.drafter == "jacobi":
        return _guessed(trace, found, token)
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
    step = trace.rounds[found.round]
    again = step.tree[found.place] in step.tree[: found.place]
    if drew and again and config.tree_picks == "without_replacement":
        return tr(
            "The source: without the siblings drawn before it, the draft gave {token} {prob}.",
            token=token,
            prob=prob,
        )
    if config.drafter == "head":
        return tr("The source: the draft head gave {token} {prob}.", token=token, prob=prob)
    if config.drafter == "mtp":
        return tr(
            "The source: layer {number} of the target's own MTP layers gave {token} {prob}.",
            number=len(path_to(step.tree, found.place)),
            token=token,
            prob=prob,
        )
    if config.drafter == "early_exit":
        return trn(
            "The source: the target's first layer gave {token} {prob}.",
            "The source: the target's first {count} layers gave {token} {prob}.",
            config.exit_layer,
            token=token,
            prob=prob,
        )
    return tr("The source: the draft model gave {token} {prob}.", token=token, prob=prob)


def _copied(trace: Trace, found: Rejection, earlier: Occurrence, token: str) -> str:
    values = {"token": token, "at": nth(earlier.at)}
    if trace.require(Speculative).config.drafter != "ngram_cache":
        return trn(
            "The source: the text. {token} also stands at token {at} of prompt and text, after the "
            "same token as here.",
            "The source: the text. {token} also stands at token {at} of prompt and text, after the "
            "same {count} tokens as here.",
            earlier.same,
            **values,
        )
    step = trace.rounds[found.round]
    ids = [*trace.prompt_ids, *trace.token_ids[: step.start]]
    path = [step.drafted[node].token_id for node in path_to(step.tree, found.place)]
    return trn(
        "The source: the n-gram counts of the text. They read the last token here; {token} also "
        "follows it at token {at} of prompt and text.",
        "The source: the n-gram counts of the text. They read the last {count} tokens here; "
        "{token} also follows them at token {at} of prompt and text.",
        ngram_size(ids, path[:-1]),
        **values,
    )


def _guessed(trace: Trace, found: Rejection, token: str) -> str:
    rounds, step = trace.rounds[: found.round], trace.rounds[found.round]
    ids = [*trace.prompt_ids, *trace.token_ids[: step.start]]
    origin = window(rounds, ids, found.place + 1)[found.place].origin
    if origin == "predicted":
        return tr("The source: {token} is the target's own guess of the round before.", token=token)
    if origin == "repeated":
        return tr(
            "The source: no round before has a guess for this position, so {token} repeats the "
            "token before it.",
            token=token,
        )
    return tr(
        "The source: {token} is from the pool of bigrams. In an earlier round the target predicted "
        "it after the same token as here.",
        token=token,
    )
