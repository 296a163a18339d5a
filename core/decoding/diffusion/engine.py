"""Masked diffusion: a step is one forward of the whole canvas, a token for every open position, and
the choice of those that stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from time import perf_counter
from typing import Protocol

import torch
from torch import Tensor

from core.decoding.autoregressive.engine import Picked, Picker
from core.decoding.diffusion.canvas import Slots, canvas_ids, clear_text, open_positions
from core.decoding.diffusion.config import Diffusion
from core.decoding.diffusion.order import candidates_of, chosen, draw_uniform, reading_of
from core.decoding.diffusion.types import CanvasSeconds, CanvasStep
from core.decoding.errors import ModelError
from core.decoding.loop.run import token_limit
from core.decoding.loop.text import Ending
from core.decoding.protocol import LanguageModel, offers
from core.decoding.record.steps import Step, TokenStep


class FillsMasks(Protocol):
    """A model that predicts every position of a canvas at once."""

    @property
    def mask_id(self) -> int:
        """Id of the mask token."""
        ...

    def fill(self, ids: Sequence[int]) -> Tensor:
        """Return the logits at every position, `[n, vocab]`, float32 on the CPU; -inf for the
        mask.
        """
        ...


def require_masks(model: LanguageModel) -> FillsMasks:
    """Return the model as one that fills masks.

    Raises:
        ModelError: it predicts the next token.
    """
    if not offers(model, FillsMasks):
        raise ModelError(
            f"{model.model_id} predicts the next token, and masked diffusion needs a model that "
            "fills masks: take embedded:diffusion, or another method."
        )
    return model


def generate(model: LanguageModel, prompt_ids: Sequence[int], config: Diffusion) -> Iterator[Step]:
    """Yield the steps until the text before the first mask ends.

    Raises:
        ModelError: the model fills no masks.
        DecodingError: the model returned no distribution, or every token is banned.
    """
    masks, limit = require_masks(model), token_limit(model, prompt_ids, config)
    tokens: list[int | None] = [None] * limit
    ending, shown = Ending(model, config, limit), 0
    picker = PositionPicker(model, prompt_ids, config, masks.mask_id)
    for index in count():
        opened = open_positions(tokens, config.block_length)
        started = perf_counter()
        logits = masks.fill(canvas_ids(prompt_ids, tokens, masks.mask_id, config))
        ran = perf_counter()
        proposed = {
            at: picker.propose(index, at, logits[len(prompt_ids) + at], tokens) for at in opened
        }
        readings = [reading_of(step, config) for step in proposed.values()]
        kept = chosen(readings, config)
        for at in kept:
            tokens[at] = proposed[at].token_id
        seconds = CanvasSeconds(ran - started, perf_counter() - ran)
        emitted, texts, reason = [], [], None
        for token_id in clear_text(tokens)[shown:]:
            text, reason = ending.after(shown, token_id)
            emitted.append(token_id)
            texts.append(text)
            shown += 1
            if reason:
                break
        yield CanvasStep(
            index=index,
            limit=limit,
            open=tuple(one._replace(filled=one.position in kept) for one in readings),
            candidates=tuple(c for step in proposed.values() for c in candidates_of(step)),
            filled=tuple(proposed[at] for at in kept),
            emitted=tuple(emitted),
            texts=tuple(texts),
            seconds=seconds,
            finish_reason=reason,
        )
        if reason:
            return


class PositionPicker:
    """Picker of a masked position's token, by the rules of sampling or greedy decoding.

    Penalties read the prompt and the canvas before the position, masks included.
    """

    def __init__(
        self, model: LanguageModel, prompt_ids: Sequence[int], config: Diffusion, mask_id: int
    ) -> None:
        self.config = config
        self._picker, self._prompt_ids = Picker(model, config.chooser), list(prompt_ids)
        self._mask_id = mask_id

    def ids_before(self, position: int, tokens: Slots) -> list[int]:
        """Return the prompt's tokens and those of the canvas before a position."""
        before = (self._mask_id if token is None else token for token in tokens[:position])
        return [*self._prompt_ids, *before]

    def pick(self, step: int, position: int, logits: Tensor, tokens: Slots) -> Picked:
        """Pick a position's token at a step, given `[vocab]` logits."""
        uniform = draw_uniform(self.config, step, position)
        noise = torch.tensor(uniform, dtype=torch.float64)
        return self._picker.pick(position, logits, self.ids_before(position, tokens), noise)

    def propose(self, step: int, position: int, logits: Tensor, tokens: Slots) -> TokenStep:
        """Return the recorded pick; its text is empty, as the text before it may have holes."""
        picked = self.pick(step, position, logits, tokens)
        return self._picker.record(position, picked, 0.0, "", None)
