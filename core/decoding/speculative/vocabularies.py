"""Comparison of two models' vocabularies: a draft needs the target's tokens."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ..errors import ModelError
from ..protocol import LanguageModel

_MATCHED: WeakKeyDictionary[LanguageModel, WeakKeyDictionary[LanguageModel, bool]] = (
    WeakKeyDictionary()
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
            f"The servers of {target.model_id} and {draft.model_id} tell the text of {named:,} "
            "tokens only, too few to compare their vocabularies: name a tokenizer, "
            "?tokenizer=FOLDER before the # of the address."
        )
    if difference:
        raise ModelError(
            f"{draft.model_id} can't draft for {target.model_id}, whose vocabulary is another: "
            f"{difference}. Take a draft with the same tokenizer."
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
            return (
                f"token {token_id} is {texts[0]!r} in the target and {texts[1]!r} in the draft "
                f"(of {target.vocab_size} and {draft.vocab_size} tokens)"
            )
    longer, name = (target, "target") if target.vocab_size > shared else (draft, "draft")
    for token_id in range(shared, longer.vocab_size):
        if longer.token_text(token_id) != f"<unused {token_id}>":  # A token, not padding.
            return (
                f"the target has {target.vocab_size} tokens and the draft {draft.vocab_size}, and "
                f"token {token_id} of the {name}, {longer.token_text(token_id)!r}, is no padding"
            )
    return ""


def _unknown(model: LanguageModel) -> frozenset[int]:
    return getattr(model, "unknown_tokens", frozenset())
