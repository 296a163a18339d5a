"""Masked diffusion: a step is one forward of the whole canvas, a token for every open position, and
the choice of those that stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count
from time import perf_counter
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ...language import Message
from ..autoregressive.engine import Picker
from ..autoregressive.picked import Picked
from ..errors import ModelError
from ..loop.run import token_limit
from ..loop.text import Ending
from ..protocol import LanguageModel, offers
from ..record.steps import Step, TokenStep
from .canvas import (
    Slots,
    canvas_ids,
    change,
    clear_text,
    listed_in,
    open_positions,
)
from .config import Diffusion
from .gained import with_text
from .noise import Denoises, generate_from_noise
from .order import FillChoice, candidates_of, draw_uniform, reading_of
from .types import CanvasSeconds, CanvasStep, OpenCandidate, Unguided


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


def is_diffusion_model(model: LanguageModel) -> bool:
    """Return whether a model fills a canvas and has no next token."""
    return offers(model, FillsMasks) or offers(model, Denoises)


def require_masks(model: LanguageModel) -> FillsMasks:
    """Return the model as one that fills masks.

    Raises:
        ModelError: it predicts the next token.
    """
    if offers(model, Denoises):
        raise ModelError(
            Message(
                "{model} denoises a canvas of random tokens and fills no masks: set "
                "the canvas to noise, or take embedded:diffusion.",
                model=model.model_id,
            )
        )
    if not offers(model, FillsMasks):
        raise ModelError(
            Message(
                "{model} predicts the next token, and masked diffusion needs a model "
                "that fills masks: take embedded:diffusion, or another method.",
                model=model.model_id,
            )
        )
    return model


def generate(model: LanguageModel, prompt_ids: Sequence[int], config: Diffusion) -> Iterator[Step]:
    """Yield the steps until the text before the first mask ends.

    Raises:
        ModelError: the model fills no masks; on the canvas noise, it denoises none.
        DecodingError: the model returned no distribution, or every token is banned.
    """
    if config.canvas == "noise":
        yield from generate_from_noise(model, prompt_ids, config)
        return
    masks, limit = require_masks(model), token_limit(model, prompt_ids, config)
    tokens: list[int | None] = [None] * limit
    ending, shown = Ending(model, config, limit), 0
    picker = PositionPicker(model, prompt_ids, config, masks.mask_id)
    choice = FillChoice(config)
    for index in count():
        opened = open_positions(tokens, config.block_length)
        started = perf_counter()
        rows = forward_canvas(masks, prompt_ids, tokens, config)
        ran = perf_counter()
        proposed = {at: picker.propose(index, at, rows.logits[at], tokens) for at in opened}
        readings = [reading_of(step, config) for step in proposed.values()]
        candidates = tuple(c for step in proposed.values() for c in candidates_of(step))
        kept, remasked = choice.of(readings, listed_in(candidates), tokens)
        seconds = CanvasSeconds(ran - started, perf_counter() - ran)
        step = CanvasStep(
            index=index,
            limit=limit,
            open=tuple(one._replace(filled=one.position in kept) for one in readings),
            candidates=candidates,
            filled=tuple(proposed[at] for at in kept),
            remasked=tuple(remasked),
            unguided=rows.unguided(candidates),
            emitted=(),
            texts=(),
            seconds=seconds,
        )
        change(tokens, step)
        step = with_text(step, ending, shown, clear_text(tokens, config)[shown:])
        yield step
        shown += len(step.emitted)
        if step.finish_reason:
            return


class CanvasLogits(NamedTuple):
    """Logits of the new positions, `[n, vocab]`; with guidance also those before it."""

    logits: Tensor
    with_prompt: Tensor | None = None
    without_prompt: Tensor | None = None

    def unguided(self, candidates: Sequence[OpenCandidate]) -> tuple[Unguided, ...]:
        """Return the candidates' probabilities before guidance; empty without guidance."""
        if self.with_prompt is None or self.without_prompt is None:
            return ()
        places = [c.position for c in candidates], [c.token_id for c in candidates]
        probs = [rows.softmax(-1)[places].tolist() for rows in self[1:] if rows is not None]
        return tuple(map(Unguided._make, zip(*probs, strict=True)))


def forward_canvas(
    masks: FillsMasks, prompt_ids: Sequence[int], tokens: Slots, config: Diffusion
) -> CanvasLogits:
    """Run the canvas; with guidance a second time with a masked prompt (LLaDA's formula)."""
    begin, ids = len(prompt_ids), canvas_ids(prompt_ids, tokens, masks.mask_id, config)
    logits = masks.fill(ids)[begin:]
    if not config.cfg_scale:
        return CanvasLogits(logits)
    without = masks.fill([masks.mask_id] * begin + ids[begin:])[begin:]
    guided = without + (config.cfg_scale + 1) * (logits - without)
    guided[:, masks.mask_id] = -math.inf
    return CanvasLogits(guided, logits, without)


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
