"""Check of a run's text against the decoding of the model's tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise

from ...language import N_, Message
from ..counting import nth
from ..errors import DecodingError
from ..loop.text import encode_plain, join_prompt, join_text
from ..protocol import Chats, Decodes, LanguageModel, offers
from ..record.trace import Trace

_LOST = re.compile("\ufffd+")
# Conversations that show the text that a template puts around each message; the number of
# characters that are compared.
_ROLES = (("user",), ("system", "user"), ("user", "assistant", "user"))
_AROUND = 6
_START, _END = "\x02", "\x03"


def run_text_faults(trace: Trace, model: LanguageModel) -> list[str]:
    """List faults of a run's texts, which must follow from the tokens in any method.

    If the model has its own tokenizer here, the run's text must also be the tokenizer's decoding.
    """
    wrong = join_text(model, trace.token_ids) != trace.text
    if offers(model, Decodes):
        decoded = model.decode(trace.token_ids, trace.prompt_ids)
        wrong = wrong or not _is_decoded(trace.text, decoded)
    faults = [N_("the model's tokenizer decodes the tokens to another text")] if wrong else []
    return [*faults, *_prompt_faults(trace, model)]


def _prompt_faults(trace: Trace, model: LanguageModel) -> Iterator[str]:
    """Yield texts of the prompt and its positions that don't follow from the ids."""
    seen, ids = trace.rendered_prompt, list(trace.prompt_ids)
    whole = join_prompt(model, ids)
    if seen != whole and _encoded(model, seen) != ids:
        yield N_("the prompt's text is not its tokens'")
    if trace.prompt != seen and not _is_part(model, trace.prompt, seen, whole):
        yield N_("what was asked is not the part of the prompt that a template puts it in")
    for position in trace.prompt_step.positions if trace.prompt_step else ():
        shown = [(position.token_id, position.text)]
        shown += [(c.token_id, c.text) for c in position.candidates]
        if any(text != model.token_text(token) for token, text in shown):
            yield Message(
                "prompt position {index}: a text is not its token's", index=nth(position.index)
            )


def _is_part(model: LanguageModel, prompt: str, seen: str, whole: str) -> bool:
    """Return whether the prompt stands in the rendered prompt at a place that a template or run
    allows.

    Args:
        whole: decoded text of the ids; a tokenizer may change letters and spaces.
    """
    spelled = join_prompt(model, _encoded(model, prompt, encode_plain))
    return any(
        re.search(_spaced(before, part.strip(), after), f"{_START}{text}{_END}")
        for before, after in _surroundings(model)
        for part, text in ((prompt, seen), (spelled, whole))
        if part.strip() or not prompt.strip()
    )


def _spaced(before: str, part: str, after: str) -> str:
    """Return a pattern for a text between two others, with optional white space around and inside
    them.
    """
    ends = [r"\s*".join(map(re.escape, end)) for end in (before, after)]
    return r"\s*".join(filter(None, (ends[0], re.escape(part), ends[1])))


def _surroundings(model: LanguageModel) -> set[tuple[str, str]]:
    """Return the texts that may stand directly before and after a prompt, without white space.

    For plain text these are only special tokens and the instruction how to think.
    """
    instruction = getattr(getattr(model, "think_marks", None), "instruction", "")
    special = join_prompt(model, _encoded(model, ""))
    plain = {
        (_START + _dense(first + more), _END)
        for first in ("", special)
        for more in ("", instruction)
    }
    if not offers(model, Chats) or not model.has_chat_template:
        return plain
    ends = set[tuple[str, str]]()
    for roles in _ROLES:
        with suppress(DecodingError):  # A template may refuse roles.
            names = [f"message{at}of{len(roles)}" for at in range(len(roles))]
            messages = [{"role": r, "content": n} for r, n in zip(roles, names, strict=True)]
            text = f"{_START}{_dense(join_prompt(model, model.encode_chat(messages)))}{_END}"
            pieces = re.split("|".join(names), text)
            ends.update((before[-_AROUND:], after[:_AROUND]) for before, after in pairwise(pieces))
    # A tokenizer may lack all words that mark the places; then a prompt may stand anywhere.
    return plain | (ends or {("", "")})


def _dense(text: str) -> str:
    return "".join(text.split())


def _encoded(
    model: LanguageModel,
    text: str,
    encode: Callable[[LanguageModel, str], list[int]] = lambda model, text: model.encode(text),
) -> list[int]:
    """Return the ids of a text; none if the tokenizer refuses it."""
    try:
        return encode(model, text)
    except DecodingError:
        return []


def _is_decoded(text: str, decoded: str) -> bool:
    """Return whether a text equals the library's decoding, which may lose characters next to broken
    ones.
    """
    first, *parts = _LOST.split(decoded)
    if not parts or not text.startswith(first):
        return text == decoded
    at = len(first)
    for part in parts:
        at = text.find(part, at) + len(part)
        if at < len(part):
            return False
    return text.endswith(parts[-1])
