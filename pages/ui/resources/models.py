"""Models for the pages: a small cache, the picker's entries and hints, and the warm-up."""

from __future__ import annotations

import gc
import json
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any

import streamlit as st

from core.decoding.counting import sentences
from core.decoding.errors import LoadingStoppedError, ModelError
from core.language import N_, Message, tr
from core.models import recent
from core.models.packaged import PACKAGED, is_installed
from core.models.places import EMBEDDED_FOLDER
from core.models.remote.address import is_remote, read_address
from core.models.remote.keys import give_key, key_for
from core.models.reporting import Report, unheard
from core.models.stopping import ShouldStop
from core.models.store import ModelStore
from core.server.settings import settings
from core.server.worker.reference import ModelReference, UnloadedModel, share
from core.server.worker.workers import Workers
from pages.ui.platform import reach, session

DEFAULT_MODEL = "embedded:target"
DEFAULT_REWARD = "embedded:reward"
WARM_UP_DELAY = 1.5
NOT_OFFERED = N_("This server doesn't offer that model: choose one of its list.")
NOT_LOADED = N_("{where} can't be loaded now; who runs this server finds the reason in its log.")
NO_MODEL_THERE = N_(
    "No model can be read at {where}: give a GGUF file, the folder that "
    "holds config.json and safetensors weights, a hub id (OWNER/NAME), or a "
    "built-in model."
)
EMBEDDED_KNOWS = N_(
    "Knows English stories, lists, short facts and sums; no Japanese, Korean or emoji."
)
PACKAGED_KNOWS = N_("For real English and a chat template choose smollm2.")

_TOKENIZER = "tokenizer.json"


@st.cache_resource(show_spinner=False)
def _templates() -> dict[str, bool]:
    """Return the cache of the models' chat template flags, by model name."""
    return {}


@st.cache_resource(show_spinner=False)
def _described() -> dict[str, str]:
    """Return the cache of the servers' descriptions of models, by model name."""
    return {}


def embedded() -> list[str]:
    """Return the names of the embedded models, the target first."""
    from core.models.places import list_embedded

    names = [name if ":" in name else f"embedded:{name}" for name in list_embedded()]
    return sorted(set(names) | {DEFAULT_MODEL}, key=lambda name: (name != DEFAULT_MODEL, name))


def diffusion() -> list[str]:
    """Return the names of the embedded models that fill masks, which one page alone offers."""
    from core.models.places import list_diffusion

    return [f"embedded:{name}" for name in list_diffusion()]


def heads() -> list[str]:
    """Return the names of the embedded draft heads, which one source of drafts alone takes."""
    from core.models.places import list_heads

    return [f"embedded:{name}" for name in list_heads()]


def offered() -> list[str]:
    """Return the embedded, the operator's and, on one's own machine, the installed models."""
    packaged = filter(is_installed, PACKAGED) if free_choice() else ()
    return list(dict.fromkeys([*embedded(), *diffusion(), *packaged, *settings().models]))


def options() -> list[str]:
    """Return the picker's models: on one's own machine also all in packages and the last used."""
    local = [*PACKAGED, *recent.worth_offering()] if free_choice() else []
    return list(dict.fromkeys([*embedded(), *local, *settings().models]))


def hint(where: str) -> str:
    """Return the note that the picker shows for a model; empty for none."""
    if where in PACKAGED and not is_installed(where):
        return tr("{words} is not installed yet.", words=tr(PACKAGED[where].words))
    if where in PACKAGED:
        return f"{tr(PACKAGED[where].words)}: {tr(PACKAGED[where].look_for)}"
    if is_embedded(where):
        return tr(sentences(*(EMBEDDED_KNOWS, PACKAGED_KNOWS)[: 1 + free_choice()]))
    if where not in _described() and is_on_server(where):
        return tr("On a server: what it gives is asked at the first run.")
    return _described().get(where, "")


def is_on_server(where: str) -> bool:
    """Return whether a model is on a server, by the operator's list or its typed address."""
    return is_remote(settings().models.get(where, where))


def wants_key_of(where: str) -> str:
    """Return the origin of the server that a key may be typed for; empty if none may.

    Keys may be typed on one's own machine only, as they apply to the whole process.
    """
    if not (free_choice() and is_on_server(where)):
        return ""
    try:
        return read_address(settings().models.get(where, where)).origin
    except ModelError:
        return ""


def take_key(where: str, key: str) -> None:
    """Keep a server's key in memory, and forget the model that was loaded without it.

    Raises:
        ConfigError: it can't be a key.
    """
    give_key(wants_key_of(where), key.strip())
    MODELS.drop(where)


def has_key(where: str) -> bool:
    """Return whether there is a key for the model's server."""
    return bool(key_for(wants_key_of(where)))


def free_choice() -> bool:
    """Return whether any other folder or hub id may be typed: on one's own machine only."""
    return not reach.shared()


def is_embedded(where: str) -> bool:
    """Return whether a model ships with the app, so that loading needs nothing else."""
    return where in (*embedded(), *diffusion(), *heads())


def may_have_embedded_tokens(where: str) -> bool:
    """Return whether a model may have the embedded models' tokenizer, by comparing the files;
    true for a model on a server."""
    embedded_tokenizer = EMBEDDED_FOLDER / "target" / _TOKENIZER
    place = settings().models.get(where, where)
    if is_embedded(where) or is_remote(place):
        return True
    try:
        tokenizer = Path(place).expanduser() / _TOKENIZER
        same_size = tokenizer.stat().st_size == embedded_tokenizer.stat().st_size
        return same_size and tokenizer.read_bytes() == embedded_tokenizer.read_bytes()
    except (OSError, RuntimeError, ValueError):  # No folder, or the home of an unknown user.
        return False


def is_at_hand(where: str) -> bool:
    """Return whether an example may run the model without a download or an installation."""
    return is_embedded(where) or is_installed(where)


def unknown(where: str) -> str:
    """Return why a model isn't offered, without reading any file of it; empty if it may be."""
    if where in options() or where in (*diffusion(), *heads()):
        return ""
    if not free_choice():
        return NOT_OFFERED
    if not where.startswith("embedded:"):
        return ""
    return Message(
        "There is no built-in model {where}: choose {embedded}.",
        where=where,
        embedded=tr(" or ").join(embedded()),
    )


def _load(where: str, should_stop: ShouldStop, report: Report) -> Any:
    from core import load_model
    from core.models.places import looks_like_path

    place = settings().models.get(where, where)
    if not is_embedded(where) and not is_remote(place) and looks_like_path(place):
        _see_folder(where, place)
    model = load_model(place, should_stop=should_stop, on_progress=report)
    # A trace stores the picker's name for a folder, not its path on this machine.
    model.model_id = where
    if not is_remote(place):
        share(model, ModelReference(place, where, revision=model.revision))
    return model


def _load_rewards(where: str, should_stop: ShouldStop, _: Report) -> Any:
    from core.models.registry import load_reward_model

    model = load_reward_model(where, should_stop=should_stop)
    share(model, ModelReference(where, where, "rewards"))
    return model


def find(reference: ModelReference) -> Any:
    """Return the model that a worker's result names."""
    return (REWARDS if reference.kind == "rewards" else MODELS).get(reference.name)


@cache
def workers() -> Workers:
    """Return the worker processes of this server."""
    return Workers(settings().workers, find)


MODELS, REWARDS = ModelStore(_load, most=2), ModelStore(_load_rewards, most=1)


def _see_folder(where: str, place: str) -> None:
    """Refuse, with the same message, any path that is no model's folder and no GGUF file.

    Raises:
        ModelError: it is none of them, or a folder with several GGUF files.
    """
    from core.models.gguf.source import gguf_in
    from core.models.loading.folder import check_folder
    from core.models.places import begins_as_gguf

    try:
        folder = Path(place).expanduser()
    except RuntimeError:  # The home of an unknown user.
        raise ModelError(Message(NO_MODEL_THERE, where=where)) from None
    file = gguf_in(folder, where)
    if file is None or not begins_as_gguf(file):
        try:
            check_folder(folder, where)
        except ModelError:
            raise ModelError(Message(NO_MODEL_THERE, where=where)) from None


def load(
    where: str, should_stop: Callable[[], bool] = lambda: False, report: Report = unheard
) -> Any:
    """Return the model, from the cache if it is there; call this in a worker thread only.

    Args:
        report: receives the progress.

    Raises:
        LoadingStoppedError: `should_stop` said so.
        ModelError: the model can't be found or used, or isn't offered here.
    """
    model = _offered(where, lambda: MODELS.get(where, should_stop, report))
    _templates()[where] = bool(getattr(model, "has_chat_template", False))
    _described()[where] = getattr(model, "described", "")
    if free_choice() and where not in (*PACKAGED, *offered()):
        recent.remember(where)
    return model


def _offered(where: str, make: Callable[[], Any]) -> Any:
    """Return the result of `make`, whose error a visitor of a shared server doesn't see."""
    if refusal := unknown(where):
        raise ModelError(refusal)
    try:
        return make()
    except LoadingStoppedError:
        raise
    except ModelError as error:
        if free_choice() or is_embedded(where):
            raise
        # The reason may contain details of this machine, which only its operator should see.
        print(f"{where}: {error}", file=sys.stderr)
        raise ModelError(Message(NOT_LOADED, where=where)) from None


def load_rewards(where: str, should_stop: Callable[[], bool]) -> Any:
    """Return the reward model, from the cache if it is there; call this in a worker thread only.

    Raises:
        LoadingStoppedError: `should_stop` said so.
        ModelError: it can't be found or used, or isn't offered here.
    """
    if where != DEFAULT_REWARD and not free_choice():
        raise ModelError(NOT_OFFERED)
    return REWARDS.get(where, should_stop)


def unloaded(where: str) -> UnloadedModel | None:
    """Return a reference for a worker to an embedded model not loaded in this process, or None."""
    if not (session.has_server() and workers().count and is_embedded(where)):
        return None
    if where in MODELS.loaded():
        return None
    return UnloadedModel(ModelReference(where, where), find)


def has_chat_template(where: str) -> bool | None:
    """Return whether the model has a chat template; None if that is unknown until it is loaded."""
    if where not in _templates() and is_embedded(where):
        _templates()[where] = _folder_has_template(
            EMBEDDED_FOLDER / where.removeprefix("embedded:")
        )
    return _templates().get(where)


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
        # Both loads at once would take longer, and a run needs only the worker's.
        workers().warm_up(ModelReference(DEFAULT_MODEL, DEFAULT_MODEL))
        load(DEFAULT_MODEL)
    except Exception:
        print("The warm-up of the embedded model failed:", file=sys.stderr)
        traceback.print_exc()
    # Exclude the imported modules from garbage collection: a full one would block all pages.
    gc.freeze()
