"""Synthetic lab measurements with honest arithmetic, for tests of what is drawn from them."""

from __future__ import annotations

from functools import cache

from core.decoding.autoregressive.config import Sampling
from core.decoding.config import DrawMethod
from core.decoding.lab.cuts import all_cuts
from core.decoding.lab.decision_boundaries import all_boundaries
from core.decoding.lab.series import roll, sweep
from core.decoding.lab.step import StepLogits, lab_step
from core.decoding.lab.types import Continuation, Continuations, LabExample, RowToken
from core.decoding.shaping.config import Shaping, ranges_in_view
from core.decoding.shaping.orders import TRANSFORMERS, Order
from tests.decoding.lab.scenes import random_scene
from tests.figures.traces import HOSTILE, token_text

SHAPING = Shaping(temperature=0.8, top_k=40, top_p=0.9, min_p=0.01)


class _Texts:
    """A model whose tokens have the texts of the synthetic traces."""

    def __init__(self, model: object, hostile: bool, name: str) -> None:
        self._model, self._hostile = model, hostile
        self.model_id = name

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def token_text(self, token_id: int) -> str:
        return token_text(token_id, self._hostile)

    def token_bytes(self, token_id: int) -> bytes:
        return self.token_text(token_id).encode("utf-8", "replace")


def make_scene(
    *, hostile: bool = False, seed: int = 1, name: str = "embedded:target"
) -> StepLogits:
    """A random step; its likeliest tokens are the first ids, which bear the texts."""
    scene = random_scene(400, seed)
    logits = scene.logits.sort(descending=True)[0]
    return StepLogits(_Texts(scene.model, hostile, name), logits, (3, 1, 4))  # type: ignore[arg-type]


@cache
def make_lab(
    shaping: Shaping = SHAPING,
    *,
    draw: DrawMethod = "inverse_cdf",
    order: Order = TRANSFORMERS,
    hostile: bool = False,
    seed: int = 7,
    name: str = "embedded:target",
) -> LabExample:
    """All that the lab measures, of one synthetic step; half a second, once."""
    scene = make_scene(hostile=hostile, name=name)
    config = Sampling(shaping=shaping, seed=seed, draw=draw)
    step = lab_step(scene, config, order, 2, "a prompt")
    return LabExample(
        index=2,
        step=step,
        flips=all_boundaries(scene, config, order, 2, ranges_in_view(config.shaping)),
        cuts=all_cuts(scene, config, step),
        rolls=roll(scene, config, order, 2, 300),
        sweep=sweep(scene, config, order, 2, (0.0, 0.5, 0.8, 1.0, 2.0)),
        continuations=make_rows(hostile=hostile, name=name),
    )


def row_of(seed: int | None, *ids: int, hostile: bool = False) -> Continuation:
    """A continuation of these tokens, each with a probability of its own."""
    tokens = tuple(
        RowToken(token, token_text(token, hostile), 1 / (1 + token), 1 / (1 + token))
        for token in ids
    )
    return Continuation(seed, tokens, "".join(token.text for token in tokens), "length")


def make_rows(*, hostile: bool = False, name: str = "embedded:target") -> Continuations:
    """Rows that share beginnings: 0 1 | 2 3 and 4 5; 6 alone; the greedy one along the first."""
    rows = (
        row_of(7, 0, 1, 2, 3, hostile=hostile),
        row_of(8, 6, 7, 8, 9, hostile=hostile),
        row_of(9, 0, 1, 4, 5, hostile=hostile),
        row_of(None, 0, 1, 2, 3, hostile=hostile),
    )
    return Continuations(name, "before", Sampling(seed=7, max_new_tokens=4), rows, 0.1)


__all__ = ["HOSTILE"]
