"""Whether the text of a run is the one that its model's tokenizer decodes."""

from __future__ import annotations

import re

from core.decoding.loop.text import join_text
from core.decoding.protocol import Decodes, LanguageModel
from core.decoding.trace import Trace

_LOST = re.compile("\ufffd+")


def run_text_faults(trace: Trace, model: LanguageModel) -> list[str]:
    """Faults of a run's text: it must be what its tokens add, and what the library decodes.

    The second text is that of the tokenizer's own decoding, where the model has a tokenizer here.
    """
    wrong = join_text(model, trace.token_ids) != trace.text
    if isinstance(model, Decodes):
        decoded = model.decode(trace.token_ids, trace.prompt_ids)
        wrong = wrong or not _is_decoded(trace.text, decoded)
    return ["the model's tokenizer decodes the tokens to another text"] if wrong else []


def _is_decoded(text: str, decoded: str) -> bool:
    """Whether a text is the library's, which may lose whole characters beside broken ones."""
    first, *parts = _LOST.split(decoded)
    if not parts or not text.startswith(first):
        return text == decoded
    at = len(first)
    for part in parts:
        at = text.find(part, at) + len(part)
        if at < len(part):
            return False
    return text.endswith(parts[-1])
