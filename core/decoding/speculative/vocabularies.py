"""Comparison of two models' vocabularies: a draft needs the target's tokens."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ...language import N_, Message
from ..errors import ModelError
from ..protocol import LanguageModel

_MATCHED: WeakKeyDictionary[LanguageModel, WeakKeyDictionary[LanguageModel, bool]] = (
    WeakKeyDictionary()
)
_TARGET = N_(
    "the target has {targets} tokens and the draft {drafts}, and token {token_id} of the target, "
    "{text!r}, is no padding"
)
_DRAFT = N_(
    "the target has {targets} tokens and the draft {drafts}, and token {token_id} of the draft, "
    "{text!r}, is no padding"
)


def require_same_vocabulary(target: LanguageModel, draft: LanguageModel) -> None:
    """Raise an error unless every token has the same text and bytes in both models; equal pairs are
    cached.

    Ids beyond the shorter vocabulary must be padding, not tokens.

    Raises:
        ModelError: the vocabularies differ; the message names the first difference.
    """
    known = _MATCHED.setdefault(target, WeakKeyDictionary())
    if draft in known:
        return
    difference = vocabulary_difference(target, draft)
    shared = min(target.vocab_size, draft.vocab_size)
    named = shared - len(_unknown(target) | _unknown(draft))
    if not difference and 2 * named < shared:
        raise ModelError(
            Message(
                "The servers of {target} and {draft} tell the text of {named:,} "
                "tokens only, too few to compare their vocabularies: name a tokenizer, "
                "?tokenizer=FOLDER before the # of the address.",
                target=target.model_id,
                draft=draft.model_id,
                named=named,
            )
        )
    if difference:
        raise ModelError(
            Message(
                "{draft} can't draft for {target}, whose vocabulary is another: "
                "{difference}. Take a draft with the same tokenizer.",
                draft=draft.model_id,
                target=target.model_id,
                difference=difference,
            )
        )
    known[draft] = True


def vocabulary_difference(target: LanguageModel, draft: LanguageModel) -> str:
    """Describe the first token that differs; empty if both vocabularies are equal.

    If a server doesn't give a token's bytes, the token is a part of a character, which differs from
    any whole text.
    """
    shared = min(target.vocab_size, draft.vocab_size)
    unknown = _unknown(target) | _unknown(draft)
    for token_id in range(shared):
        texts = [model.token_text(token_id) for model in (target, draft)]
        raw = [model.token_bytes(token_id) for model in (target, draft)]
        if texts[0] == texts[1] and raw[0] == raw[1]:
            continue
        parts = all("\ufffd" in token.decode("utf-8", "replace") for token in raw)
        if token_id not in unknown or not parts:
            return Message(
                "token {token_id} is {there!r} in the target and {here!r} in the draft "
                "(of {targets} and {drafts} tokens)",
                token_id=token_id,
                there=texts[0],
                here=texts[1],
                targets=target.vocab_size,
                drafts=draft.vocab_size,
            )
    longer, template = (target, _TARGET) if target.vocab_size > shared else (draft, _DRAFT)
    for token_id in range(shared, longer.vocab_size):
        if longer.token_text(token_id) != f"<unused {token_id}>":  # A token, not padding.
            return Message(
                template,
                targets=target.vocab_size,
                drafts=draft.vocab_size,
                token_id=token_id,
                text=longer.token_text(token_id),
            )
    return ""


def _unknown(model: LanguageModel) -> frozenset[int]:
    return getattr(model, "unknown_tokens", frozenset())
