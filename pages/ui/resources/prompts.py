"""Example prompts of a model's menu, each with a hint at the effect that it shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.installation import ASSETS
from core.language import current
from core.models.places import EMBEDDED_PREFIX

FILE = ASSETS / "models" / "target" / "prompts.json"
# Examples of models with their own prompts; all others use the embedded model's.
PROMPTS = ASSETS / "prompts"
_OWN = {"smollm2": PROMPTS / "smollm2.json"}


@dataclass(frozen=True)
class Example:
    """Entry of the menu."""

    label: str
    prompt: str
    chat: bool
    system: str
    look_for: str


def examples(model: str = "") -> tuple[Example, ...]:
    """Return the menu's entries for a model in their order, at least one.

    The embedded models know English alone; for any other one, entries in the reader's language
    follow.
    """
    entries = _entries(_OWN.get(model, FILE))
    reads_others = model and not model.startswith(EMBEDDED_PREFIX)
    file = PROMPTS / f"{current()}.json"
    return entries + (_entries(file) if reads_others and file.exists() else ())


@cache
def _entries(file: Path) -> tuple[Example, ...]:
    return tuple(Example(**entry) for entry in json.loads(file.read_text(encoding="utf-8")))


def shown(prompt: str, chat: bool, system: str, model: str) -> Example | None:
    """Return the model's example that the controls hold, or None."""
    held = (prompt, chat, system if chat else "")
    return next((e for e in examples(model) if (e.prompt, e.chat, e.system) == held), None)
