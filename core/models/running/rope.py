"""Rotary position embeddings whose angles depend on how long the sequence is.

transformers chooses the angles of a forward by its last position: under "longrope" there are two
sets of them, under "dynamic" (NTK) one for every length beyond `max_position_embeddings`.
`generate` runs the prompt at once and then token by token, so that position p has the angles of
the length max(prompt, p + 1). Keys in the cache keep theirs, except in models that drop the cache
when the set changes (Phi-3); without a cache every position has those of the whole length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, PreTrainedModel

from .window import rope_parameters

_LONGEST = 2**20  # Tokens; nobody's run gets to a switch beyond, and asking takes memory.


class LengthDependentRope:
    """Sets the length by which a model's rotary embeddings choose their angles.

    Attributes:
        drops_cache: `generate` computes the cache anew when the angles change.
    """

    def __init__(self, model: PreTrainedModel, config: Any) -> None:
        kinds = rope_parameters(config)
        switches = {
            int(parameters["original_max_position_embeddings"])
            for parameters in kinds
            if _has_two_sets(parameters)
        }
        self._switches = {length for length in switches if length < _LONGEST}
        grows = any("dynamic" in parameters["rope_type"] for parameters in kinds)
        self._growing = int(config.max_position_embeddings) if grows else None
        self._modules = [module for module in model.modules() if _is_scaled(module)]
        self._like = torch.zeros(1, device=model.device, dtype=model.dtype)
        self.drops_cache = any(_drops_cache(model, length) for length in self._switches)

    def angles(self, length: int) -> tuple[int, int]:
        """Return a key of a sequence's angles: equal ones for lengths with the same angles."""
        switched = sum(length > switch for switch in self._switches)
        return switched, 0 if self._growing is None else max(length, self._growing)

    @contextmanager
    def at(self, least: int) -> Iterator[None]:
        """Meanwhile position p of a forward has the angles of the length max(least, p + 1)."""
        for module in self._modules:
            module.forward = partial(self._turned, module.forward, least)
        try:
            yield
        finally:
            for module in self._modules:
                del module.forward

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Before and after, forget the longest length seen, which "dynamic" angles would keep."""
        self._forget()
        try:
            yield
        finally:
            self._forget()

    def _forget(self) -> None:
        first = torch.zeros(1, 1, dtype=torch.long, device=self._like.device)
        for module in self._modules:
            kinds: Any = module.rope_type
            for kind in kinds if isinstance(kinds, dict) else [None]:
                module(self._like, first, *([kind] if kind else []))

    def _turned(
        self,
        forward: Callable[..., Any],
        least: int,
        like: Tensor,
        position_ids: Tensor,
        *kind: Any,
        **kinds: Any,
    ) -> Any:
        """Run a rotary module on each part of equal angles; all rows have one length."""
        forward(like, position_ids[..., :1] * 0, *kind, **kinds)
        positions: list[int] = position_ids.reshape(-1, position_ids.shape[-1])[0].tolist()
        parts_of_angles, first = [], 0
        for _, group in groupby(positions, lambda at: self.angles(max(least, at + 1))):
            length = max(least, (part := list(group))[-1] + 1)
            ids = position_ids[..., first : first + len(part)]
            # One position more, the last one of that length, is what the angles are chosen by.
            longer = torch.cat([ids, torch.full_like(ids[..., :1], length - 1)], dim=-1)
            parts_of_angles.append(forward(like, longer, *kind, **kinds))
            first += len(part)
        forward(like, position_ids[..., :1] * 0, *kind, **kinds)
        if isinstance(parts_of_angles[0], Tensor):
            return _joined(parts_of_angles)
        return tuple(_joined(parts) for parts in zip(*parts_of_angles, strict=True))


@dataclass(frozen=True, slots=True)
class AnglesOfRun:
    """Rotary angles of the tokens of a run.

    Args:
        prompt: number of tokens that the run read at once.
        anew: True if all earlier tokens are computed again when the angles change.
    """

    rope: LengthDependentRope
    prompt: int
    anew: bool

    def spans(self, held: int, length: int) -> list[tuple[int, int]]:
        """Return the parts of positions `[held, length)` that one forward can run."""
        if not self.anew:
            return [(held, length)]
        groups = groupby(range(held, length), lambda at: self.key(at + 1))
        parts = [list(group) for _, group in groups]
        return [(part[0], part[-1] + 1) for part in parts]

    def key(self, length: int) -> tuple[int, int]:
        """Return the angles at this length of the run."""
        return self.rope.angles(max(self.prompt, length))

    @contextmanager
    def at(self, length: int) -> Iterator[None]:
        """Meanwhile forwards give what the run sees at this length."""
        with self.rope.at(max(self.prompt, length) if self.anew else self.prompt):
            yield


def length_dependent_rope(model: PreTrainedModel) -> LengthDependentRope | None:
    """Return a model's rotary embeddings where their angles depend on the length."""
    config = model.config.get_text_config(decoder=True)
    kinds = rope_parameters(config)
    if any("dynamic" in rope["rope_type"] or _has_two_sets(rope) for rope in kinds):
        return LengthDependentRope(model, config)
    return None


def _joined(parts: Any) -> Tensor:
    """Join `[..., n + 1, width]` without the last position of each."""
    return torch.cat([part[..., :-1, :] for part in parts], dim=-2)


def _has_two_sets(parameters: dict[str, Any]) -> bool:
    """Return whether there is one set of angles up to a length and another beyond."""
    return parameters["rope_type"] == "longrope" or "long_mscale" in parameters


def _is_scaled(module: nn.Module) -> bool:
    kinds: Any = getattr(module, "rope_type", None)
    rope_types = kinds.values() if isinstance(kinds, dict) else [kinds]
    return any(kind not in (None, "default") for kind in rope_types)


class _Held(DynamicCache):  # type: ignore[misc]
    """An empty cache that says how many tokens it holds."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    def __bool__(self) -> bool:
        return True

    def get_seq_length(self, _layer: int = 0) -> int:
        return self._length


def _drops_cache(model: PreTrainedModel, length: int) -> bool:
    """Return whether `generate` drops a cache of that length before the next token."""
    ids = torch.zeros(1, length + 1, dtype=torch.long, device=model.device)
    inputs = model.prepare_inputs_for_generation(
        ids,
        past_key_values=_Held(length),
        attention_mask=torch.ones_like(ids),
        next_sequence_length=1,
    )
    return inputs.get("past_key_values") is None
