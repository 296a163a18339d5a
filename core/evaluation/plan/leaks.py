"""Find template text in an answer: role marks, further turns, instructions.

A model may write the template itself if it or its draft is prompted without the chat template;
metrics then judge text that is no answer.
"""

from __future__ import annotations

import re

from ...language import N_

_ROLES = r"(?:human|user|assistant|system|instruction|response|question|answer)"
_PATTERNS = (
    (N_("control token"), re.compile(r"<\|[A-Za-z0-9_]{1,40}\|>|</?s>|<(?:start|end)_of_turn>")),
    (N_("instruction mark"), re.compile(r"\[/?INST\]|<</?SYS>>")),
    (N_("role mark"), re.compile(rf"(?:^|(?<=[\n.!?])) ?(?:###? ?)?{_ROLES} ?:", re.I | re.M)),
    (
        N_("system prompt"),
        re.compile(r"(?:^|(?<=[\n.!?:])) ?You are (?:an? |the )?[\w -]{0,60}", re.M),
    ),
)

Leak = tuple[int, int, str]


def find_leaks(text: str, system: str = "") -> tuple[Leak, ...]:
    """Return the template text in a generated text: `(first character, end, kind)`.

    Args:
        text: generated text with special tokens, except those that end a run.
        system: the system prompt; a copy of at least ten characters is a leak too.
    """
    matches = [
        (match.start() + len(match[0]) - len(match[0].lstrip()), match.end(), what)
        for what, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    prompt = system.strip()
    if len(prompt) >= 10 and (at := text.find(prompt)) >= 0:
        matches.append((at, at + len(prompt), N_("system prompt")))
    leaks: list[Leak] = []
    for leak in sorted(matches):
        if not leaks or leak[0] >= leaks[-1][1]:
            leaks.append(leak)
    return tuple(leaks)
