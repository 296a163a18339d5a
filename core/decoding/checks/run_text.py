"""Check of a run's text against what the model's tokenizer decodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from core.decoding.counting import nth
from core.decoding.errors import DecodingError
from core.decoding.loop.text import encode_plain, join_prompt, join_text
from core.decoding.protocol import Decodes, LanguageModel, offers
from core.decoding.trace import Trace

_LOST = re.compile("\ufffd+")


def run_text_faults(trace: Trace, model: LanguageModel) -> list[str]:
    """Faults of a run's texts, the prompt's too: they must be what the tokens of any method say.

    The run's must also be what the tokenizer itself decodes, where the model has one here.
    """
    wrong = join_text(model, trace.token_ids) != trace.text
    if offers(model, Decodes):
        decoded = model.decode(trace.token_ids, trace.prompt_ids)
        wrong = wrong or not _is_decoded(trace.text, decoded)
    faults = ["the model's tokenizer decodes the tokens to another text"] if wrong else []
    return [*faults, *_prompt_faults(trace, model)]


def _prompt_faults(trace: Trace, model: LanguageModel) -> Iterator[str]:
    """Texts of the prompt and of its positions that don't follow from the ids."""
    seen, ids = trace.rendered_prompt, list(trace.prompt_ids)
    whole = join_prompt(model, ids)
    if seen != whole and _encoded(model, seen) != ids:
        yield "the prompt's text is not its tokens'"
    asked = trace.prompt.strip()
    if asked not in seen and (
        # What was asked as the tokenizer spells it: it may change letters and spaces.
        not (spelled := join_prompt(model, _encoded(model, asked, encode_plain))).strip()
        or spelled.strip() not in whole
    ):
        yield "what was asked is not in the prompt that the model saw"
    for position in trace.prompt_step.positions if trace.prompt_step else ():
        shown = [(position.token_id, position.text)]
        shown += [(c.token_id, c.text) for c in position.candidates]
        if any(text != model.token_text(token) for token, text in shown):
            yield f"prompt position {nth(position.index)}: a text is not its token's"


def _encoded(
    model: LanguageModel,
    text: str,
    encode: Callable[[LanguageModel, str], list[int]] = lambda model, text: model.encode(text),
) -> list[int]:
    """No ids where the tokenizer refuses the text."""
    try:
        return encode(model, text)
    except DecodingError:
        return []


def _is_decoded(text: str, decoded: str) -> bool:
    """Return whether a text equals the library's, which may lose characters beside broken ones."""
    first, *parts = _LOST.split(decoded)
    if not parts or not text.startswith(first):
        return text == decoded
    at = len(first)
    for part in parts:
        at = text.find(part, at) + len(part)
        if at < len(part):
            return False
    return text.endswith(parts[-1])
