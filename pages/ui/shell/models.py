"""Models for the pages: a small cache, what is known of each, and the warm-up."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from threading import Timer
from typing import Any

import streamlit as st

ASSETS = Path(__file__).parents[3] / "assets" / "models"
DEFAULT_MODEL = "embedded:target"
WARM_UP_DELAY = 1.5

_templates: dict[str, bool] = {}


def options() -> list[str]:
    """The embedded models, the target first."""
    from core.models.registry import list_embedded

    names = [name if ":" in name else f"embedded:{name}" for name in list_embedded()]
    return sorted(set(names) | {DEFAULT_MODEL}, key=lambda name: (name != DEFAULT_MODEL, name))


def is_embedded(where: str) -> bool:
    """True for a model that ships with the app, so that loading it touches nothing else."""
    return where in options()


def unknown(where: str) -> str:
    """What is wrong with a name that says "built in" and isn't; empty where nothing is."""
    if not where.startswith("embedded:") or is_embedded(where):
        return ""
    return f"There is no built-in model {where}: choose {' or '.join(options())}."


@st.cache_resource(max_entries=2, show_spinner=False)
def _cached(where: str) -> Any:
    from core import load_model

    return load_model(where)


def load(where: str) -> Any:
    """The model, from the cache if it is there; call it from a worker thread only.

    Raises:
        ModelError: the model can't be found or used.
    """
    model = _cached(where)
    _templates[where] = bool(getattr(model, "has_chat_template", False))
    return model


def has_chat_template(where: str) -> bool | None:
    """Whether the model has a chat template; None while nobody can know without loading it."""
    if where not in _templates and is_embedded(where):
        _templates[where] = _folder_has_template(ASSETS / where.removeprefix("embedded:"))
    return _templates.get(where)


def _folder_has_template(folder: Path) -> bool:
    if (folder / "chat_template.jinja").is_file():
        return True
    try:
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(settings, dict) and bool(settings.get("chat_template"))


@st.cache_resource(show_spinner=False)
def warm_up() -> None:
    """Import torch and load the embedded model soon after the first paint, once for the server."""
    timer = Timer(WARM_UP_DELAY, _warm_up)
    timer.daemon = True
    timer.start()


def _warm_up() -> None:
    try:
        load(DEFAULT_MODEL)
    except Exception:
        print("The warm-up of the embedded model failed:", file=sys.stderr)
        traceback.print_exc()
