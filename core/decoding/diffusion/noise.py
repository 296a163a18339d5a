"""Diffusion on a canvas of random tokens: each step draws all positions again, accepts the surest,
and puts new random tokens at the others.

The rules and the order of random numbers are those of `generate` of transformers' DiffusionGemma.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, Protocol

import torch
from torch import Tensor

from ...language import Message
from ..autoregressive.engine import Picker
from ..config import MAX_NEW_TOKENS
from ..errors import ModelError
from ..loop.run import token_limit
from ..loop.text import Ending
from ..protocol import LanguageModel, offers
from ..record.steps import Step, TokenStep
from ..shaping.draws import Pick
from .config import Diffusion
from .gained import with_text
from .types import (
    OPEN_CANDIDATES,
    CanvasSeconds,
    CanvasStep,
    CanvasToken,
    OpenCandidate,
    OpenPosition,
)


class EncodedText(Protocol):
    """The encoded text of a run, behind which a canvas is denoised."""

    def extend(self, ids: Sequence[int]) -> None:
        """Encode further tokens."""
        ...

    def denoise(self, canvas: Sequence[int], conditioning: Tensor | None) -> Tensor:
        """Return the logits of a canvas, `[n, vocab]`, float32 on the CPU.

        Args:
            conditioning: logits of the step before, after its temperature; None at the first step.
        """
        ...


class Denoises(Protocol):
    """A model that denoises a canvas of random tokens."""

    @property
    def canvas_length(self) -> int:
        """Number of positions of a canvas."""
        ...

    def encode_text(self, ids: Sequence[int]) -> EncodedText:
        """Return the context of an encoded prompt."""
        ...


def require_denoiser(model: LanguageModel) -> Denoises:
    """Return the model as one that denoises.

    Raises:
        ModelError: it is of another kind.
    """
    if not offers(model, Denoises):
        raise ModelError(
            Message(
                "{model} denoises no canvas of random tokens: take a diffusion_gemma "
                "model, or another canvas than noise.",
                model=model.model_id,
            )
        )
    return model


def canvas_count(model: LanguageModel, prompt_ids: Sequence[int], config: Diffusion) -> int:
    """Return the maximum number of canvases of a run."""
    return -(-token_limit(model, prompt_ids, config) // require_denoiser(model).canvas_length)


def generate_from_noise(
    model: LanguageModel, prompt_ids: Sequence[int], config: Diffusion
) -> Iterator[Step]:
    """Yield the denoising steps, canvas after canvas, until the text of a finished one ends.

    Raises:
        ModelError: the model denoises no canvas.
    """
    denoiser, limit = require_denoiser(model), token_limit(model, prompt_ids, config)
    canvases, length = canvas_count(model, prompt_ids, config), denoiser.canvas_length
    ending, dice = Ending(model, config, limit), NoiseDice(model.vocab_size, length, config.seed)
    text, recorder, index = denoiser.encode_text(prompt_ids), _Recorder(model, config), 0
    for first in range(0, canvases * length, length):
        canvas, conditioning, settling = dice.noise(), None, Settling(config)
        for left in range(config.max_denoising_steps, 0, -1):
            started = perf_counter()
            logits = text.denoise(canvas, conditioning)
            ran = perf_counter()
            tempered = logits / temperature_at(left, config)
            drawn, entropies = dice.draw(tempered), entropies_of(tempered)
            accepted, draft = accept(entropies, config.entropy_bound), tempered.argmax(-1).tolist()
            noise = dice.noise()
            ends = settling.after(draft, entropies) or left == 1
            read = recorder.read(first, logits, drawn, entropies, accepted)
            step = CanvasStep(
                index=index,
                limit=min(canvases * length, MAX_NEW_TOKENS),
                open=read,
                candidates=recorder.candidates(first, logits),
                canvas=tuple(CanvasToken(token, model.token_text(token)) for token in canvas),
                filled=recorder.filled(first, logits, draft) if ends else (),
                emitted=(),
                texts=(),
                seconds=CanvasSeconds(ran - started, perf_counter() - ran),
            )
            if ends:
                step = with_text(step, ending, first, draft[: limit - first])
            yield step
            index += 1
            if step.finish_reason:
                return
            if ends:
                text.extend(draft)
                break
            canvas = [
                token if kept else other
                for token, kept, other in zip(drawn, accepted, noise, strict=True)
            ]
            conditioning = tempered


def temperature_at(left: int, config: Diffusion) -> float:
    """Return the temperature with so many steps left, this one included: from `t_max` down to
    almost `t_min` (`LinearTemperatureScheduleLogitsProcessor`).
    """
    return config.t_min + (config.t_max - config.t_min) * (left / config.max_denoising_steps)


def entropies_of(logits: Tensor) -> Tensor:
    """Return the entropy of each row, nats, with the operations of transformers."""
    distribution: Any = torch.distributions.Categorical(logits=logits)
    entropies: Tensor = distribution.entropy()
    return entropies


def accept(entropies: Tensor, bound: float) -> list[bool]:
    """Return for each position whether its token is accepted: the lowest entropies, as many as
    their sum without the highest stays within the bound (`EntropyBoundSampler.accept_canvas`).
    """
    ordered, places = torch.sort(entropies)
    within = torch.cumsum(ordered, 0) - ordered <= bound
    return torch.zeros_like(within).scatter(0, places, within).tolist()


class Settling:
    """Rule for the end of a canvas (`StableAndConfidentStoppingCriteria`); off at threshold 0."""

    def __init__(self, config: Diffusion) -> None:
        self._config = config
        self._before = deque[list[int]](maxlen=config.stability_threshold)

    def after(self, draft: list[int], entropies: Tensor) -> bool:
        """Return whether the canvas ends with a step.

        Args:
            draft: the most probable token of each position.
            entropies: of the tempered distributions, `[n]`.
        """
        held = len(self._before) == self._config.stability_threshold
        stable = held and all(before == draft for before in self._before)
        self._before.append(draft)
        return stable and bool(torch.mean(entropies) < self._config.confidence_threshold)


class NoiseDice:
    """Random numbers of a run, in the order in which `generate` takes them from torch's generator:
    the noise of a canvas, then for each step its draws and new noise.
    """

    def __init__(self, vocab_size: int, length: int, seed: int) -> None:
        self._vocab, self._length = vocab_size, length
        self._generator = torch.Generator().manual_seed(seed)

    def noise(self) -> list[int]:
        """Return random tokens for a canvas."""
        size = (1, self._length)
        tokens = torch.randint(0, self._vocab, size, generator=self._generator)[0]
        return [int(token) for token in tokens]

    def draw(self, logits: Tensor) -> list[int]:
        """Draw a token of each row."""
        probs = torch.softmax(logits, dim=-1, dtype=torch.float32)
        drawn = torch.multinomial(probs, num_samples=1, generator=self._generator)
        return [int(token) for token in drawn[:, 0]]

    def scores(self, logits: Tensor) -> Tensor:
        """Return the numbers whose maximum `draw` takes, `[n, vocab]`: log-probabilities with the
        noise of `torch.multinomial`.
        """
        noise = torch.empty_like(logits).exponential_(generator=self._generator)
        return torch.log_softmax(logits, dim=-1) - noise.log()


class _Recorder:
    """Records of a step's positions."""

    def __init__(self, model: LanguageModel, config: Diffusion) -> None:
        self._model, self._picker = model, Picker(model, config.chooser)

    def read(
        self,
        first: int,
        logits: Tensor,
        drawn: Sequence[int],
        entropies: Tensor,
        accepted: Sequence[bool],
    ) -> tuple[OpenPosition, ...]:
        """Return the numbers of all positions; probabilities and entropies are unshaped."""
        probs = torch.softmax(logits, dim=-1)
        raw = entropies_of(logits).tolist()
        return tuple(
            OpenPosition(
                first + at,
                token,
                self._model.token_text(token),
                float(probs[at, token]),
                raw[at],
                -float(entropies[at]),
                accepted[at],
            )
            for at, token in enumerate(drawn)
        )

    def candidates(self, first: int, logits: Tensor) -> tuple[OpenCandidate, ...]:
        """Return the most probable tokens of each position, by their unshaped probabilities."""
        probs = torch.softmax(logits, dim=-1)
        highest, ids = torch.topk(probs, min(OPEN_CANDIDATES, logits.shape[-1]), dim=-1)
        return tuple(
            OpenCandidate(first + at, token, self._model.token_text(token), prob)
            for at, row in enumerate(zip(ids.tolist(), highest.tolist(), strict=True))
            for token, prob in zip(*row, strict=True)
        )

    def filled(self, first: int, logits: Tensor, draft: Sequence[int]) -> tuple[TokenStep, ...]:
        """Return the most probable tokens of all positions as steps of greedy decoding."""
        steps = []
        for at, token in enumerate(draft):
            picked = self._picker.pick(first + at, logits[at], [])._replace(pick=Pick(token))
            steps.append(self._picker.record(first + at, picked, 0.0, "", None))
        return tuple(steps)
