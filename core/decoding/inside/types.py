"""Readings inside a forward: the logit lens layer by layer, attention, modules, cache sizes."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias


class LensCell(NamedTuple):
    """Prediction at a position if the model ended after a layer.

    Args:
        token_id, text: the likeliest token.
        prob: its probability.
        rank: of the token that stands next in the text; 1 is the first.
    """

    token_id: int
    text: str
    prob: float
    rank: int


class LensPosition(NamedTuple):
    """A position of the sequence.

    Args:
        token_id, text: of the token there.
        next_id, next_text: of the token that stands next; at the last position the likeliest one.
        decided: the first layer from which on that token is the likeliest after every layer; None
            where it isn't after the last one.
        cells: one a layer, the embedding first.
    """

    token_id: int
    text: str
    next_id: int
    next_text: str
    decided: int | None
    cells: tuple[LensCell, ...]


class Lens(NamedTuple):
    """The final norm and head after every layer (nostalgebraist 2020, "logit lens").

    Args:
        layers: their names, the embedding first; the last one's reading is the model's own.
        first: the place of the first position in the text.
        deviation: of the last reading from the model's logits, at most.
    """

    layers: tuple[str, ...]
    positions: tuple[LensPosition, ...]
    deviation: float
    first: int = 0


class Attention(NamedTuple):
    """Attention of one position to each position up to itself.

    Args:
        texts: of the tokens up to it.
        weights: by layer, by head; each row adds up to 1. A layer without attention has no heads.
    """

    position: int
    texts: tuple[str, ...]
    weights: tuple[tuple[tuple[float, ...], ...], ...]


ModulePart: TypeAlias = Literal["embedding", "norm", "attention", "mlp", "head", "other"]


class ModuleRun(NamedTuple):
    """A module's forward.

    Args:
        name: as the model calls it, such as `model.layers.0.self_attn`.
        kind: its class.
        layer: which layer it is in; None outside of them.
        taken, given: shapes of what went in and came out, `[rows, n, width]`.
        parameters: of it and all inside it.
    """

    name: str
    kind: str
    part: ModulePart
    layer: int | None
    taken: tuple[int, ...]
    given: tuple[int, ...]
    seconds: float
    parameters: int


class CacheSize(NamedTuple):
    """Size of the key-value cache; zeros for a model without one."""

    tokens: int
    bytes: int


class Forward(NamedTuple):
    """One forward, module by module.

    Args:
        tokens: that it ran.
        before, after: the cache's size.
        seconds: of the whole forward.
    """

    tokens: int
    before: CacheSize
    after: CacheSize
    seconds: float
    modules: tuple[ModuleRun, ...]
