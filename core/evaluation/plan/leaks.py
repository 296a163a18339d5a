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
    """Where template text stands in what a model generated: `(first character, end, what)`.

    Args:
        text: with special tokens written out, those that end a run left out.
        system: the prompt's own; its repetition is a leak too, from ten characters on.
    """
    found = [
        (match.start() + len(match[0]) - len(match[0].lstrip()), match.end(), what)
        for what, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    told = system.strip()
    if len(told) >= 10 and (at := text.find(told)) >= 0:
        found.append((at, at + len(told), "system prompt"))
    kept: list[Leak] = []
    for leak in sorted(found):
        if not kept or leak[0] >= kept[-1][1]:
            kept.append(leak)
    return tuple(kept)
