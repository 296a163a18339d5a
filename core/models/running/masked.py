"""Masked diffusion language models: a forward predicts every masked token of a canvas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...decoding.errors import ModelError
from ...language import Message
from ..loading.inspection import NOISE_TYPES
from ..transformers_model import TransformersModel
from .noise import NoiseModel


class MaskedModel(TransformersModel):
    """A loaded model whose attention runs both ways, with a mask token.

    It has no next token: `start`, which every autoregressive reading calls, raises ModelError.

    Args:
        as of `TransformersModel`.

    Raises:
        ModelError: neither the configuration nor the tokenizer names a mask token.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        model_id: str,
        **options: Any,
    ) -> None:
        # The fused step is causal.
        super().__init__(
            model, tokenizer, model_id=model_id, **{**options, "fuse_single_tokens": False}
        )
        mask_id = getattr(model.config, "mask_token_id", None)
        mask_id = tokenizer.mask_token_id if mask_id is None else mask_id
        if not isinstance(mask_id, int) or not 0 <= mask_id < self.vocab_size:
            raise ModelError(
                Message(
                    "{model} is bidirectional (is_causal is false in its config.json) "
                    "and names no mask token: it has neither a next token to decode "
                    "nor a mask to fill; use another model.",
                    model=model_id,
                )
            )
        self.mask_id = mask_id

    def start(self, *_: object, **__: object) -> NoReturn:
        """Raise ModelError: there is no next token."""
        raise ModelError(
            Message(
                "{model} is a diffusion model: it fills masked tokens and has no next "
                "token; take the method diffusion, or another model.",
                model=self.model_id,
            )
        )

    @torch.inference_mode()
    def fill(self, ids: Sequence[int]) -> torch.Tensor:
        """Return the logits at every position of a canvas, from one forward of the whole.

        The mask token itself has -inf: no text holds it (the zero masking probability of MDLM,
        Sahoo et al. 2024).

        Args:
            ids: tokens of the canvas, masks included.

        Returns:
            `[n, vocab]`, float32 on the CPU.

        Raises:
            PromptError: an empty canvas, an id outside the vocabulary, or too many tokens.
        """
        table = self._limits.as_rows(ids, 1, 0)
        logits = self._forward(torch.tensor(table, device=self.device), None)[0]
        logits[:, self.mask_id] = -math.inf
        return logits

    def trial_logits(self) -> torch.Tensor:
        """Return the logits of a canvas of one mask."""
        return self.fill([self.mask_id])


def wrapped(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, **options: Any
) -> TransformersModel:
    """Return the model as a `TransformersModel`, a bidirectional one as a `MaskedModel`, one with a
    canvas of noise as a `NoiseModel`.

    Args:
        options: of `TransformersModel`.
    """
    if model.config.model_type in NOISE_TYPES:
        return NoiseModel(model, tokenizer, **options)
    config = model.config.get_text_config(decoder=True)
    kind = MaskedModel if getattr(config, "is_causal", True) is False else TransformersModel
    return kind(model, tokenizer, **options)
