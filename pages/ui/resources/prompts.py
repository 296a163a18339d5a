"""Example prompts of a model's menu, each with a hint at the effect that it shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from core.installation import ASSETS

FILE = ASSETS / "models" / "target" / "prompts.json"
# Examples of models with their own prompts; all others use the embedded model's.
_OWN = {"smollm2": ASSETS / "prompts" / "smollm2.json"}


@dataclass(frozen=True)
class Example:
    """Entry of the menu."""

    label: str
    prompt: str
    chat: bool
    system: str
    look_for: str


@cache
def examples(model: str = "") -> tuple[Example, ...]:
    """Return the menu's entries for a model in their order, at least one."""
    file = _OWN.get(model, FILE)
    return tuple(Example(**entry) for entry in json.loads(file.read_text(encoding="utf-8")))


def shown(prompt: str, chat: bool, system: str, model: str) -> Example | None:
    """Return the model's example that the controls hold, or None."""
    held = (prompt, chat, system if chat else "")
    return next((e for e in examples(model) if (e.prompt, e.chat, e.system) == held), None)
