"""Draft by the target's own multi-token-prediction layers (DeepSeek-AI 2024)."""

from __future__ import annotations

from typing import Protocol

from ....language import Message
from ...errors import ModelError
from ...protocol import LanguageModel, offers
from ..config import Speculative


class PredictsTokensAhead(Protocol):
    """A model that may bring layers of its own that draft for it."""

    def mtp_head(self) -> LanguageModel:
        """Return its multi-token-prediction layers as a head (`HeadModel`).

        Raises:
            ModelError: it has none, or they can't be loaded.
        """
        ...


def own_head(target: LanguageModel, _: LanguageModel | None, __: Speculative) -> LanguageModel:
    """Return the target's own head.

    Raises:
        ModelError: it has none, or it can't be loaded.
    """
    if not offers(target, PredictsTokensAhead):
        raise ModelError(
            Message(
                "{target} has no multi-token-prediction layers that can be run here: take another "
                "draft source.",
                target=target.model_id,
            )
        )
    return target.mtp_head()
