"""A model's first layers as a model: they share its weights."""

from __future__ import annotations

from copy import copy, deepcopy

from torch import nn
from transformers import PreTrainedModel

from ...decoding.errors import ModelError
from ...language import Message


def layer_lists(model: PreTrainedModel) -> dict[str, nn.ModuleList]:
    """Return the lists of layers of a model's body, by their attributes."""
    return {
        name: child
        for name, child in model.base_model.named_children()
        if isinstance(child, nn.ModuleList) and len(child)
    }


def first_layers(model: PreTrainedModel, count: int) -> PreTrainedModel:
    """Return a model of the first layers, with the last norm and the output head.

    It equals transformers' early exit, which lowers `num_hidden_layers` for a while.

    Raises:
        ModelError: the body has no single list of layers.
    """
    lists, prefix = layer_lists(model), model.base_model_prefix
    if len(lists) != 1 or not hasattr(model, prefix):
        raise ModelError(
            Message("The layers of a {name} can't be run apart.", name=type(model).__name__)
        )
    [(name, layers)] = lists.items()
    short, body = _shared(model), _shared(model.base_model)
    config = deepcopy(model.config)
    config.num_hidden_layers = count
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:count]
    short.config = body.config = config
    body._modules[name] = nn.ModuleList(layers[:count])
    short._modules[prefix] = body
    return short


def _shared(module: PreTrainedModel) -> PreTrainedModel:
    """Return a module with the same parts, which can be replaced apart."""
    shared = copy(module)
    shared._modules = dict(module._modules)
    return shared
