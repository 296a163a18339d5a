"""Template text in an answer: role marks, turns that the model goes on to write, instructions.

A model that is asked without its chat template, or whose draft is, may write the template itself;
metrics then judge an answer that isn't one.
"""

from __future__ import annotations

import re

_ROLES = r"(?:human|user|assistant|system|instruction|response|question|answer)"
_PATTERNS = (
    ("control token", re.compile(r"<\|[A-Za-z0-9_]{1,40}\|>|</?s>|<(?:start|end)_of_turn>")),
    ("instruction mark", re.compile(r"\[/?INST\]|<</?SYS>>")),
    ("role mark", re.compile(rf"(?:^|(?<=[\n.!?])) ?(?:###? ?)?{_ROLES} ?:", re.I | re.M)),
    ("system prompt", re.compile(r"(?:^|(?<=[\n.!?:])) ?You are (?:an? |the )?[\w -]{0,60}", re.M)),
)

Leak = tuple[int, int, str]


def find_leaks(text: str, system: str = "") -> tuple[Leak, ...]:
    """Return the template text in a generated text: `(first character, end, kind)`.

    Args:
        text: with special tokens written out, those that end a run left out.
        system: the prompt's own; its repetition is a leak too, from ten characters on.
    """
    matches = [
        (match.start() + len(match[0]) - len(match[0].lstrip()), match.end(), what)
        for what, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    prompt = system.strip()
    if len(prompt) >= 10 and (at := text.find(prompt)) >= 0:
        matches.append((at, at + len(prompt), "system prompt"))
    leaks: list[Leak] = []
    for leak in sorted(matches):
        if not leaks or leak[0] >= leaks[-1][1]:
            leaks.append(leak)
    return tuple(leaks)
