"""Records of a forward's internals: logit lens, attention, modules and cache sizes."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias


class LensCell(NamedTuple):
    """Prediction at one position if the model ended after one layer.

    Args:
        token_id, text: the most probable token.
        prob: its probability.
        rank: rank of the token that follows in the text, from 1.
    """

    token_id: int
    text: str
    prob: float
    rank: int


class LensPosition(NamedTuple):
    """A position of the sequence with its predictions after every layer.

    Args:
        token_id, text: the token at this position.
        next_id, next_text: the next token in the text; at the last position the most probable
            token.
        decided: the first layer after which that token is the most probable one and stays so; None
            if it isn't after the last layer.
        cells: one for each layer, the embedding first.
    """

    token_id: int
    text: str
    next_id: int
    next_text: str
    decided: int | None
    cells: tuple[LensCell, ...]


class Lens(NamedTuple):
    """Logit lens (nostalgebraist 2020): the final norm and head applied after every layer.

    Args:
        layers: names of the layers, the embedding first; the reading after the last layer is the
            model's own.
        first: index of the first position in the text.
        deviation: largest deviation of the last reading from the model's logits.
    """

    layers: tuple[str, ...]
    positions: tuple[LensPosition, ...]
    deviation: float
    first: int = 0


class Attention(NamedTuple):
    """Attention of one position to every position up to itself.

    Args:
        texts: texts of the tokens up to the position.
        weights: weights by layer and head; each row sums to 1. A layer without attention has no
            heads.
    """

    position: int
    texts: tuple[str, ...]
    weights: tuple[tuple[tuple[float, ...], ...], ...]


ModulePart: TypeAlias = Literal["embedding", "norm", "attention", "mlp", "head", "other"]


class ModuleRun(NamedTuple):
    """Forward of one module.

    Args:
        name: name in the model, such as `model.layers.0.self_attn`.
        kind: class of the module.
        layer: index of its layer; None outside of layers.
        taken, given: shapes of input and output, `[rows, n, width]`.
        parameters: number of parameters of the module and its submodules.
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
    """Size of the KV cache; zeros for a model without one."""

    tokens: int
    bytes: int


class Forward(NamedTuple):
    """One forward, module by module.

    Args:
        tokens: number of tokens that it ran.
        before, after: sizes of the cache before and after it.
        seconds: duration of the whole forward.
    """

    tokens: int
    before: CacheSize
    after: CacheSize
    seconds: float
    modules: tuple[ModuleRun, ...]
