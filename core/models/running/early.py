"""Logits of a model's earlier layers, by its own head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...decoding.protocol import LanguageModel
from .cache import GrowingCache
from .contexts import CachedContext, InputLimits, UncachedContext
from .rope import AnglesOfRun
from .truncated import first_layers


class EarlyLayers:
    """Contexts of a transformers model whose logits are those of earlier layers.

    Args:
        model: transformers' model.
        layer_types: kinds of its cache's layers; None if it runs without a cache.
        angles: gives the rotary angles of a run, from its prompt's length and whether it is cached.
        as_model: makes a model of transformers' model.
    """

    def __init__(
        self,
        model: Any,
        limits: InputLimits,
        layer_types: list[str] | None,
        angles: Callable[[int, bool], AnglesOfRun | None],
        as_model: Callable[[Any], LanguageModel],
    ) -> None:
        self._model, self._limits, self._layer_types = model, limits, layer_types
        self._angles, self._as_model = angles, as_model
        self._short: dict[int, LanguageModel] = {}
        config = model.config.get_text_config(decoder=True)
        self.count = int(getattr(config, "num_hidden_layers", 0))
        self.ties_embeddings = bool(config.tie_word_embeddings)

    def start(
        self, prompt_ids: Sequence[int], layers: Sequence[int], *, use_cache: bool = True
    ) -> CachedContext | UncachedContext:
        """Run the prompt and return a context whose logits are those of some layers, one after the
        other: `[rows, layers * vocab]`; the head's, without the last norm.

        Raises:
            PromptError: an empty prompt, an id outside the vocabulary, or too many tokens.
        """
        prompt = self._limits.as_rows(prompt_ids, 1, 0)[0]
        angles = self._angles(len(prompt), use_cache)

        def forward(
            ids: torch.Tensor,
            cache: GrowingCache | None,
            keep: int = 0,
            hidden: list[torch.Tensor] | None = None,  # noqa: ARG001
        ) -> torch.Tensor:
            return self._logits(ids, cache, layers)[:, -keep:]

        run = forward, self._limits, self._model.device
        context: CachedContext | UncachedContext
        if use_cache and self._layer_types is not None:
            context = CachedContext(*run, GrowingCache(self._layer_types), angles)
        else:
            context = UncachedContext(*run, angles)
        context.extend(prompt, keep=1)
        return context

    def first(self, count: int) -> LanguageModel:
        """Return a model of the first layers with the last norm and the output head; it shares the
        weights and is kept.

        Raises:
            ModelError: the layers can't be run apart.
        """
        if count not in self._short:
            self._short[count] = self._as_model(first_layers(self._model, count))
        return self._short[count]

    def _logits(
        self, ids: torch.Tensor, cache: GrowingCache | None, layers: Sequence[int]
    ) -> torch.Tensor:
        """Return `[rows, n, layers * vocab]` logits in float32 on the CPU."""
        cached = {} if cache is None else {"past_key_values": cache}
        output = self._model(
            input_ids=ids,
            return_dict=True,
            output_hidden_states=True,
            use_cache=cache is not None,
            **cached,
        )
        head = self._model.get_output_embeddings()
        rows = [head(output.hidden_states[layer]) for layer in layers]
        return torch.cat(rows, dim=-1).to("cpu", torch.float32)
