"""Block diffusion models on a canvas of random tokens (`diffusion_gemma` of transformers)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

import torch
from transformers import DynamicCache, PreTrainedModel, PreTrainedTokenizerBase

from ...decoding.diffusion.config import MAX_CANVAS
from ...decoding.errors import ModelError
from ...language import Message
from ..transformers_model import TransformersModel
from .limits import InputLimits


class NoiseModel(TransformersModel):
    """A loaded encoder and decoder that denoise a canvas behind the encoded text.

    It has no next token: `start` raises ModelError.

    Args:
        as of `TransformersModel`.
    """

    has_next_token = False

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        model_id: str,
        **options: Any,
    ) -> None:
        plain = {"fuse_single_tokens": False, "lay_out_weights": False}
        super().__init__(model, tokenizer, model_id=model_id, **{**options, **plain})
        self.canvas_length = int(cast(Any, model.config).canvas_length)
        if not 1 <= self.canvas_length <= MAX_CANVAS:
            raise ModelError(
                Message(
                    "{model} denoises a canvas of {canvas_length:,} tokens; 1 to "
                    "{max_canvas:,} can be recorded.",
                    model=model_id,
                    canvas_length=self.canvas_length,
                    max_canvas=MAX_CANVAS,
                )
            )

    def start(self, *_: object, **__: object) -> NoReturn:
        """Raise ModelError: there is no next token."""
        raise ModelError(
            Message(
                "{model} is a diffusion model: it denoises a canvas of random tokens "
                "and has no next token; take the method diffusion with the canvas "
                "noise, or another model.",
                model=self.model_id,
            )
        )

    def encode_text(self, ids: Sequence[int]) -> NoiseContext:
        """Run the encoder over the prompt and return its context.

        Raises:
            PromptError: an empty prompt, an id outside the vocabulary, or too many tokens.
        """
        text = NoiseContext(self, self._limits)
        text.extend(ids)
        return text

    def trial_logits(self) -> torch.Tensor:
        """Return the logits of a canvas behind one token."""
        return self.encode_text([0]).denoise([0] * self.canvas_length, None)


class NoiseContext:
    """Encoded text of a run, behind which a canvas is denoised.

    Args:
        limits: bounds on the tokens.
    """

    def __init__(self, model: NoiseModel, limits: InputLimits) -> None:
        self._hf: Any = model.hf_model
        self._device, self._limits, self._length = model.device, limits, 0
        self._cache = DynamicCache(config=self._hf.config.get_text_config(decoder=True))

    @torch.inference_mode()
    def extend(self, ids: Sequence[int]) -> None:
        """Run the encoder over further tokens.

        Raises:
            PromptError: as of `encode_text`.
        """
        table = torch.tensor(self._limits.as_rows(ids, 1, self._length), device=self._device)
        end = self._length + table.shape[1]
        positions = torch.arange(self._length, end, dtype=torch.int32, device=self._device)
        self._hf.model.encoder(
            input_ids=table, past_key_values=self._cache, position_ids=positions[None]
        )
        self._length = end

    @torch.inference_mode()
    def denoise(self, canvas: Sequence[int], conditioning: torch.Tensor | None) -> torch.Tensor:
        """Return the logits of a canvas behind the text, `[canvas_length, vocab]`.

        Args:
            conditioning: logits of the step before, after its temperature; None at the first step.

        Returns:
            float32 on the CPU.
        """
        end = self._length + len(canvas)
        positions = torch.arange(self._length, end, dtype=torch.int32, device=self._device)
        dtype = self._hf.model.decoder.embed_tokens.weight.dtype
        output = self._hf(
            decoder_input_ids=torch.tensor([canvas], device=self._device),
            past_key_values=self._cache,
            self_conditioning_logits=(
                None if conditioning is None else conditioning[None].to(self._device, dtype)
            ),
            decoder_position_ids=positions[None],
        )
        logits: torch.Tensor = output.logits[0].to("cpu", torch.float32)
        return logits
