"""Second forwards beside a run's own: of another prompt, of earlier layers, of a draft."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import torch
from torch import Tensor

from ...language import N_, Message
from ..config import MethodConfig
from ..errors import ConfigError, PromptError
from ..protocol import Context, LanguageModel, Layered, Wrapped, offers
from ..shaping.stage import SecondLogits, StepContext, shared_length


class FollowedText:
    """A context that follows a run's text, wherever the run goes on, back or to another branch.

    Args:
        start: starts the context with the ids of its prompt.
    """

    def __init__(self, start: Callable[[Sequence[int]], Context]) -> None:
        self._start = start
        self._prompt: tuple[int, ...] = ()
        self._text: list[int] = []
        self._context: Context | None = None

    def logits(self, prompt_ids: Sequence[int], text: Sequence[int]) -> Tensor:
        """Return the `[vocab]` logits after a prompt and a generated text."""
        context, kept = self._context, shared_length(self._text, text)
        if kept < len(self._text):  # Logits are known again after an `extend` only.
            kept = min(kept, len(text) - 1)
        if context is None or self._prompt != tuple(prompt_ids) or kept < 0:
            self._context = None
            context, self._text, kept = self._start(prompt_ids), [], 0
        if kept < len(self._text):
            context.rollback(len(self._text) - kept)
            del self._text[kept:]
        for token_id in text[kept:]:
            context.extend([token_id])
            self._text.append(token_id)
        self._context, self._prompt = context, tuple(prompt_ids)
        return context.logits[0]


class WithDraft(Wrapped):
    """A model with the draft model of contrastive decoding."""

    def __init__(self, model: LanguageModel, draft: LanguageModel) -> None:
        super().__init__(model)
        self.draft = draft


class SecondForwards:
    """The second forwards of a run, by the setting that needs them.

    Args:
        seconds: time of all forwards so far.
    """

    def __init__(self, model: LanguageModel, config: MethodConfig) -> None:
        self.seconds = 0.0
        makers = {
            "guidance_scale": _negative_prompt,
            "dola_layers": _earlier_layers,
            "contrastive_beta": _draft,
        }
        self._readers = {
            name: makers[name](model, config) for name in config.shaping.active(makers)
        }

    def __call__(self, name: str, context: StepContext) -> tuple[SecondLogits, ...]:
        """Return the second logits of a setting at a step."""
        started = perf_counter()
        prompt, text = context.ids[: context.prompt_length], context.ids[context.prompt_length :]
        second = self._readers[name](prompt, text)
        self.seconds += perf_counter() - started
        return second


def second_forwards(model: LanguageModel, config: MethodConfig) -> SecondForwards | None:
    """Return the second forwards that a run's settings need; None without any.

    Raises:
        ConfigError: the model lacks the layers, or gives none.
        PromptError: the negative prompt has no token, or fills the context window.
    """
    return SecondForwards(model, config) if config.shaping.contrasts else None


_Reader = Callable[[Sequence[int], Sequence[int]], tuple[SecondLogits, ...]]


def _negative_prompt(model: LanguageModel, config: MethodConfig) -> _Reader:
    """Read the text after the negative prompt, by default the prompt's last token."""
    negative = config.shaping.negative_prompt
    ids = model.encode(negative) if negative else []
    if negative and not ids:
        raise PromptError(N_("The negative prompt has no token: write another text."))
    if (window := model.context_window) is not None and len(ids) >= window:
        raise PromptError(
            Message(
                "The negative prompt has {ids} tokens, and this model's context window "
                "holds {window}: shorten the negative prompt.",
                ids=len(ids),
                window=window,
            )
        )
    followed = FollowedText(partial(model.start, use_cache=config.use_cache))

    def read(prompt: Sequence[int], text: Sequence[int]) -> tuple[SecondLogits, ...]:
        return (SecondLogits(followed.logits(ids or prompt[-1:], text)),)

    return read


def _earlier_layers(model: LanguageModel, config: MethodConfig) -> _Reader:
    """Read the logits of earlier layers."""
    if not offers(model, Layered):
        raise ConfigError(
            Message(
                "{model} doesn't give the outputs of its layers, which DoLa contrasts: "
                "take another model, or switch it off.",
                model=model.model_id,
            ),
            "dola_layers",
        )
    count, ties = model.layers.count, model.layers.ties_embeddings
    layers = candidate_layers(config.shaping.dola_layers, count, ties)
    if not layers:
        raise ConfigError(
            Message(
                "names no layer before the last of {model}, which has {count}: give "
                "high, low or smaller numbers.",
                model=model.model_id,
                count=count,
            ),
            "dola_layers",
            "Shaping",
        )
    followed = FollowedText(partial(model.layers.start, layers=layers, use_cache=config.use_cache))

    def read(prompt: Sequence[int], text: Sequence[int]) -> tuple[SecondLogits, ...]:
        rows = followed.logits(prompt, text).view(len(layers), -1)
        return tuple(SecondLogits(row, layer) for row, layer in zip(rows, layers, strict=True))

    return read


def _draft(model: LanguageModel, config: MethodConfig) -> _Reader:
    """Read the logits of the draft model."""
    draft: LanguageModel | None = getattr(model, "draft", None)
    if draft is None:
        raise ConfigError(
            N_(
                "compares with a draft model, and none is given: name it (--draft on "
                "the command line), or set it to 0."
            ),
            "contrastive_beta",
            "Shaping",
        )
    followed = FollowedText(partial(draft.start, use_cache=config.use_cache))
    size = model.vocab_size

    def read(prompt: Sequence[int], text: Sequence[int]) -> tuple[SecondLogits, ...]:
        logits = followed.logits(prompt, text)[:size]
        missing = torch.full((size - len(logits),), -math.inf)  # Padding of a longer vocabulary.
        return (SecondLogits(torch.cat((logits, missing)) if len(missing) else logits),)

    return read


def candidate_layers(text: str, count: int, ties_embeddings: bool) -> tuple[int, ...]:
    """Return the layers that DoLa compares with the last one, as transformers chose them.

    Layer k is the output after k layers; 0 is the embedding, left out with `low` if the head has
    the same weights.

    Args:
        text: `high`, `low`, or numbers with commas between.
        count: number of layers of the model.
    """
    middle = count // 2
    if text == "high":
        return tuple(range(middle if count <= 40 else count - 20, count, 2))
    if text == "low":
        first = min(2, count - 1) if ties_embeddings else 0
        return (first,) if first == middle else tuple(range(first, min(middle, 20), 2))
    return tuple(sorted({int(word) for word in text.split(",")} & {*range(count)}))
