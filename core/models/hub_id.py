"""A model of the hub by name: OWNER/NAME, and behind an @ the revision that it is pinned to."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..decoding.errors import ModelError
from ..language import Message

_HUB_ID = re.compile(r"(?P<repo>[A-Za-z0-9_][\w.-]*(/[\w.-]+)?)(@(?P<revision>\w[\w.-]*))?\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_LONGEST_REPO = 96
_LONGEST_REVISION = 64


class HubId(NamedTuple):
    """A repository, and a branch, tag or commit of it; None for its main branch."""

    repo: str
    revision: str | None


def hub_id(model_id: str) -> HubId:
    """The parts of a hub id.

    Raises:
        ModelError: it can be none; says what can be given.
    """
    match = _HUB_ID.match(model_id)
    parts = HubId(match["repo"], match["revision"]) if match else HubId(model_id, None)
    fits = len(parts.repo) <= _LONGEST_REPO and len(parts.revision or "") <= _LONGEST_REVISION
    if not match or not fits:
        raise ModelError(
            Message(
                "{model!r} is neither a folder nor a hub id; give a local folder, "
                "OWNER/NAME or embedded:NAME.",
                model=model_id[:_LONGEST_REPO],
            )
        )
    return parts


def pinned(model_id: str, revision: str) -> str:
    """The name that loads this very version: with the commit where the model came from the hub."""
    if "@" in model_id or not _COMMIT.match(revision):
        return model_id
    return f"{model_id}@{revision}"
