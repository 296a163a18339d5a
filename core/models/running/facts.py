"""Properties of a transformers model, from its configuration and from trials on a few tokens."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .cache import GrowingCache, attention_layer_types
from .tree import tree_input

_Forward = Callable[..., torch.Tensor]
"""`forward(ids, cache)` returns logits `[rows, n, vocab]`; it may take `tree`."""

_FAILURES = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
# A tree behind two tokens: two siblings, and below the first another two; and its leaves' paths.
_LINE, _PARENTS, _PATHS = 2, (-1, -1, 0, 0), ((0, 2), (0, 3), (1,))
TOKENS = _LINE + len(_PARENTS)


def named_eos_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Return the ids that the model's configs and the tokenizer name as ends."""
    named = (
        getattr(model.generation_config, "eos_token_id", None),
        getattr(model.config.get_text_config(decoder=True), "eos_token_id", None),
        tokenizer.eos_token_id,
    )
    ids: set[int] = set()
    for value in named:
        ids.update([value] if isinstance(value, int) else value or [])
    return ids


def vocab_size_of(model: PreTrainedModel) -> int:
    """Return the length of a row of logits."""
    weight = getattr(model.get_output_embeddings(), "weight", None)
    if isinstance(weight, torch.Tensor) and weight.ndim == 2:
        return int(weight.shape[0])
    return int(model.config.get_text_config(decoder=True).vocab_size)


def cacheable_layers(model: PreTrainedModel) -> list[str] | None:
    """Return the kinds of the layers; None if no cache of theirs can be rolled back."""
    takes_cache = "past_key_values" in inspect.signature(model.forward).parameters
    if model._is_stateful or not takes_cache or not model._supports_default_dynamic_cache():
        return None
    return attention_layer_types(model.config)


def _close(logits: torch.Tensor, expected: torch.Tensor, tolerance: float) -> bool:
    deviation = (logits - expected).abs().max().item()
    return deviation <= tolerance * expected.abs().max().item()


def caches_right(
    forward: _Forward, ids: torch.Tensor, layer_types: list[str] | None, tolerance: float
) -> bool:
    """Return whether three tokens have the same logits with a cache as without it.

    Args:
        ids: `[1, TOKENS]`.
        tolerance: largest deviation, as a share of the largest logit.
    """
    if layer_types is None:
        return False
    cache = GrowingCache(layer_types)
    try:
        with torch.inference_mode():
            expected = forward(ids[:, :3], None)
            forward(ids[:, :2], cache)
            logits = forward(ids[:, 2:3], cache)
    except (AttributeError, IndexError, TypeError, ValueError):
        return False
    return cache.get_seq_length() == 3 and _close(logits[:, -1], expected[:, -1], tolerance)


def attends_trees(
    forward: _Forward, ids: torch.Tensor, layer_types: list[str] | None, tolerance: float
) -> bool:
    """Return whether each path of a tree has the logits that it has as a line.

    Args:
        layer_types: kinds of the cache's layers; None runs the tree without a cache.
        tolerance: as of `caches_right`.
    """
    try:
        with torch.inference_mode():
            if layer_types is None:
                line = [*range(-1, _LINE - 1), *(_LINE + parent for parent in _PARENTS)]
                tree = tree_input(0, line, 0, ids.device)
                logits = forward(ids, None, tree=tree)[0, _LINE:]
            else:
                cache = GrowingCache(layer_types)
                forward(ids[:, :_LINE], cache, tree=None)
                tree = tree_input(_LINE, _PARENTS, 0, ids.device)
                logits = forward(ids[:, _LINE:], cache, tree=tree)[0]
            for path in _PATHS:
                nodes = [_LINE + node for node in path]
                expected = forward(ids[:, [*range(_LINE), *nodes]], None, tree=None)
                if not _close(logits[list(path)], expected[0, _LINE:], tolerance):
                    return False
    except _FAILURES:
        return False
    return True
