"""The example prompts of a model's menu, each with what to look for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ASSETS = Path(__file__).parents[3] / "assets"
FILE = _ASSETS / "models" / "target" / "prompts.json"
# Of models that have some of their own; all others have the embedded model's.
_OWN = {"smollm2": _ASSETS / "prompts" / "smollm2.json"}


@dataclass(frozen=True)
class Example:
    """An entry of the menu."""

    label: str
    prompt: str
    chat: bool
    system: str
    look_for: str


@cache
def examples(model: str = "") -> tuple[Example, ...]:
    """The menu's entries for a model in their order, at least one."""
    file = _OWN.get(model, FILE)
    return tuple(Example(**entry) for entry in json.loads(file.read_text(encoding="utf-8")))


def shown(prompt: str, chat: bool, system: str, model: str) -> Example | None:
    """The example of this model that the controls hold, if they hold one."""
    held = (prompt, chat, system if chat else "")
    return next((e for e in examples(model) if (e.prompt, e.chat, e.system) == held), None)
