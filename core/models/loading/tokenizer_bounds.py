"""Limit on how much text a tokenizer's steps, which are untrusted, may produce.

Two steps that each replace one character by a hundred turn it into ten thousand; eight such steps
exceed any machine's memory. A test of the tokenizer can't find the prompt that triggers this.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from transformers import PreTrainedTokenizerBase

from ...decoding.errors import ModelError
from ...language import Message
from .bounds import MOST

# Known normalizers produce at most 40 characters from one.
MOST_GROWTH = 1_000.0
# Ids that a tokenizer may add to a text; known tokenizers add two.
MOST_ADDED = 1_000
MOST_TOKEN_LENGTH = 10_000
_TEXT = "a b"


def check_growth(tokenizer: PreTrainedTokenizerBase, model_id: str) -> None:
    """Check that a tokenizer of the `tokenizers` library can't produce huge texts.

    Raises:
        ModelError: a step, a token or the added text is too long, or an id is too large.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return
    encoding = (backend.normalizer, backend.pre_tokenizer)
    growth = max(_growth(*encoding), _growth(backend.decoder))
    vocabulary = tokenizer.get_vocab()
    longest, last = max(map(len, vocabulary), default=0), max(vocabulary.values(), default=0)
    if last >= MOST["vocab_size"]:
        raise ModelError(
            Message(
                "The tokenizer of {model} has a token with the id {last:,}, more than "
                "any model has; use another model.",
                model=model_id,
                last=last,
            )
        )
    added = len(tokenizer.encode(_TEXT))
    if growth > MOST_GROWTH or longest > MOST_TOKEN_LENGTH or added > MOST_ADDED:
        raise ModelError(
            Message(
                "The tokenizer of {model} makes vast texts of short ones; use another model.",
                model=model_id,
            )
        )


def _growth(*components: Any) -> float:
    """Return the most characters that a chain of components may make from one character."""
    growth = 1.0
    for component in components:
        for step in _steps(json.loads(component.__getstate__())) if component else ():
            growth *= max(_factor(step), 1.0)
    return growth


def _steps(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the components of a sequence, at any depth."""
    waiting = [state]
    while waiting:
        step = waiting.pop()
        inner = [step.get(name) for name in ("normalizers", "pretokenizers", "decoders")]
        waiting.extend(inner_step for steps in inner for inner_step in steps or ())
        yield step


def _factor(step: dict[str, Any]) -> float:
    match step:
        case {"type": "Replace", "content": content, "pattern": {"String": pattern}} if pattern:
            return len(content) / len(pattern)
        case {"type": "Replace", "content": content}:  # It may match between any two characters.
            return len(content) + 1
        case {"type": "Precompiled", "precompiled_charsmap": charsmap}:
            # SentencePiece's table: the length of a trie, the trie, then zero-terminated texts.
            table = base64.b64decode(charsmap or "")
            texts = table[4 + int.from_bytes(table[:4], "little") :]
            return max(map(len, texts.split(b"\0")))
        case {"type": "ByteLevel"}:
            return 2  # A character of two bytes becomes two; the next step sees both.
        case {"type": "Prepend", "prepend": text}:
            return len(text) / 10
    return 1
