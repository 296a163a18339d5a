"""Draft by the target's own first layers (LayerSkip, Elhoushi et al. 2024)."""

from __future__ import annotations

from ....language import Message
from ...errors import ConfigError, ModelError
from ...protocol import LanguageModel, Layered, Layers, offers
from ..config import Speculative


def first_layers(
    target: LanguageModel, _: LanguageModel | None, config: Speculative
) -> LanguageModel:
    """Return the model of the target's first layers.

    Raises:
        ConfigError: the target has no more layers than that.
        ModelError: the target's layers can't be run apart.
    """
    layers = require_layers(target)
    if config.exit_layer >= layers.count:
        raise ConfigError(
            Message(
                "must lie below the target's {layers} layers, got {given}.",
                layers=layers.count,
                given=config.exit_layer,
            ),
            "exit_layer",
            "Speculative",
        )
    return layers.first(config.exit_layer)


def require_layers(target: LanguageModel) -> Layers:
    """Return the target's layers.

    Raises:
        ModelError: they can't be run apart.
    """
    if not offers(target, Layered):
        raise ModelError(
            Message(
                "The layers of {target} can't be run apart here: take another draft source.",
                target=target.model_id,
            )
        )
    return target.layers
