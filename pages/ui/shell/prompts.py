"""The example prompts that come with the embedded model, each with what to look for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[3] / "assets" / "models" / "target" / "prompts.json"


@dataclass(frozen=True)
class Example:
    """An entry of the menu."""

    label: str
    prompt: str
    chat: bool
    system: str
    look_for: str


@cache
def examples() -> tuple[Example, ...]:
    """The menu's entries in their order, at least one."""
    return tuple(Example(**entry) for entry in json.loads(FILE.read_text(encoding="utf-8")))


def named(label: object) -> Example | None:
    """The example of a label."""
    return next((example for example in examples() if example.label == label), None)


def shown(prompt: str, chat: bool, system: str) -> Example | None:
    """The example that the controls hold, if they hold one."""
    held = (prompt, chat, system if chat else "")
    return next((e for e in examples() if (e.prompt, e.chat, e.system) == held), None)
