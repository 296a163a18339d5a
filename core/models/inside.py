"""Looking into a forward: the logit lens and attention, from transformers' own modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from ..decoding.errors import ModelError
from ..decoding.inside.types import Attention, Lens, LensCell, LensPosition
from ..language import Message
from .running.masked import MaskedModel
from .transformers_model import TransformersModel

# Of the largest logit; float32 rounds the same products otherwise in another order.
TOLERANCE = 1e-4
# Of the attention weights of all heads, which a forward holds at once.
MOST_BYTES = 2**30


class _Reader(NamedTuple):
    """Last norm and head of a model, which turn hidden states into logits."""

    layers: nn.ModuleList
    norm: nn.Module
    head: nn.Module
    softcap: float | None

    def read(self, hidden: Tensor) -> Tensor:
        """Logits `[n, vocab]` in float32 of hidden states `[n, width]`."""
        logits: Tensor = self.head(self.norm(hidden)).to("cpu", torch.float32)
        return logits if self.softcap is None else torch.tanh(logits / self.softcap) * self.softcap


def require_modules(model: Any) -> TransformersModel:
    """The model, known to run through transformers' modules here; raises ModelError elsewhere."""
    if isinstance(model, MaskedModel):
        model.start()  # raises
    if not isinstance(model, TransformersModel):
        raise ModelError(
            Message(
                "{model} doesn't run through transformers' modules here, so it can't "
                "be looked into; take a model that does.",
                model=model.model_id,
            )
        )
    return model


def logit_lens(
    model: TransformersModel,
    ids: Sequence[int],
    *,
    first: int = 0,
    next_id: int | None = None,
    prompt_length: int | None = None,
    use_cache: bool = True,
) -> Lens:
    """Compute the tokens that the model would choose after every layer, at each position of `ids`.

    One forward of the whole sequence; a layer's logits are held at a time.

    Args:
        first: the first position that is read.
        next_id: the token that came out behind the last one; by default the likeliest.
        prompt_length: how many of the tokens the run read as its prompt; by default all.
        use_cache: whether the run had a cache.

    Raises:
        ModelError: the model has no such reading: its head after its norm on the last layer
            doesn't give its logits.
        PromptError: as of a prompt.
    """
    reader = _reader_of(model)
    length = len(ids)
    angles = model.angles_at(length, prompt_length or length, use_cache)
    with torch.inference_mode():
        with angles:
            logits, hidden = _run(model, reader, ids, first)
        deviation = float((reader.read(hidden[-1]) - logits).abs().max())
        if not deviation <= TOLERANCE * max(1.0, float(logits.abs().max())):
            raise _no_lens(model)
        last = int(logits[-1].argmax()) if next_id is None else next_id
        following = [*ids[first + 1 :], last]
        columns = [_cells(model, reader.read(states), following) for states in hidden]
    return Lens(
        layers=("embedding", *(str(at) for at in range(1, len(hidden)))),
        positions=tuple(
            _position(model, token_id, following[at], [column[at] for column in columns])
            for at, token_id in enumerate(ids[first:])
        ),
        first=first,
        deviation=deviation,
    )


def _position(
    model: TransformersModel, token_id: int, next_id: int, cells: Sequence[LensCell]
) -> LensPosition:
    before = max((layer for layer, cell in enumerate(cells) if cell.rank > 1), default=-1)
    decided = before + 1 if before + 1 < len(cells) else None
    text = model.token_text
    return LensPosition(token_id, text(token_id), next_id, text(next_id), decided, tuple(cells))


def _cells(model: TransformersModel, logits: Tensor, following: Sequence[int]) -> list[LensCell]:
    """A cell for each row of `[n, vocab]`."""
    probs, ids = torch.softmax(logits, dim=-1).max(dim=-1)
    ranks = 1 + (logits > logits.gather(1, torch.tensor(following)[:, None])).sum(dim=-1)
    numbers = zip(ids.tolist(), probs.tolist(), ranks.tolist(), strict=True)
    return [LensCell(at, model.token_text(at), prob, rank) for at, prob, rank in numbers]


def _run(
    model: TransformersModel, reader: _Reader, ids: Sequence[int], first: int
) -> tuple[Tensor, list[Tensor]]:
    """Logits `[n, vocab]` from a position on, and the hidden states `[n, width]` there before the
    first layer and after each."""
    states: list[Tensor] = []

    def before(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        states.append((given[0] if given else named["hidden_states"])[0, first:])

    def after(_: nn.Module, _given: object, out: Any) -> None:
        states.append((out[0] if isinstance(out, tuple) else out)[0, first:])

    with ExitStack() as hooks:
        entry = reader.layers[0].register_forward_pre_hook(before, with_kwargs=True)
        hooks.callback(entry.remove)
        for layer in reader.layers:
            hooks.callback(layer.register_forward_hook(after).remove)
        row = torch.tensor([list(ids)], device=model.device)
        few = {"logits_to_keep": len(ids) - first} if first and model.keeps_logits else {}
        output = model.hf_model(input_ids=row, use_cache=False, return_dict=True, **few)
    return output.logits[0, first - len(ids) :].to("cpu", torch.float32), states


def _reader_of(model: TransformersModel) -> _Reader:
    """The layers, the last norm and the head, found by their kinds; `logit_lens` tries them."""
    config = model.hf_model.config.get_text_config(decoder=True)
    children = list(model.hf_model.base_model.children())
    layers = [child for child in children if isinstance(child, nn.ModuleList) and len(child)]
    norms = [child for child in children if "norm" in type(child).__name__.lower()]
    head = model.hf_model.get_output_embeddings()
    if len(layers) != 1 or not norms or head is None:
        raise _no_lens(model)
    return _Reader(layers[0], norms[-1], head, getattr(config, "final_logit_softcapping", None))


def _no_lens(model: TransformersModel) -> ModelError:
    return ModelError(
        Message(
            "{model} can't be read layer by layer: its head after its last norm "
            "doesn't give its logits; the other figures work.",
            model=model.model_id,
        )
    )


def attention(
    model: TransformersModel,
    ids: Sequence[int],
    position: int,
    *,
    prompt_length: int | None = None,
    use_cache: bool = True,
) -> Attention:
    """Compute a position's attention to each position up to itself, by layer and head.

    Args:
        prompt_length: how many of the tokens the run read as its prompt; by default all.
        use_cache: whether the run had a cache.

    Raises:
        ModelError: the model gives no attention weights, or those of so many tokens would take
            more than `MOST_BYTES`.
    """
    upto = list(ids[: position + 1])
    config = model.hf_model.config.get_text_config(decoder=True)
    heads = getattr(config, "num_hidden_layers", 1) * getattr(config, "num_attention_heads", 1)
    if 4 * heads * len(upto) ** 2 > MOST_BYTES:
        raise ModelError(
            Message(
                "The attention of {upto} tokens in {heads} heads would take more "
                "memory than this page gives it; look at an earlier step.",
                upto=len(upto),
                heads=heads,
            )
        )
    angles = model.angles_at(len(upto), prompt_length or len(ids), use_cache)
    with torch.inference_mode(), _eager(model), angles:
        row = torch.tensor([upto], device=model.device)
        output = model.hf_model(
            input_ids=row, use_cache=False, return_dict=True, output_attentions=True
        )
    layers = output.get("attentions")
    if not layers or all(layer is None for layer in layers):
        raise ModelError(
            Message(
                "{model} gives no attention weights; the other figures work.", model=model.model_id
            )
        )
    return Attention(
        position,
        tuple(map(model.token_text, upto)),
        tuple(() if layer is None else _rows(layer) for layer in layers),
    )


def _rows(layer: Tensor) -> tuple[tuple[float, ...], ...]:
    """The last query's weights of `[1, heads, n, n]`, by head."""
    rows = layer[0, :, -1].to("cpu", torch.float32).tolist()
    return tuple(map(tuple, cast("list[list[float]]", rows)))


@contextmanager
def _eager(model: TransformersModel) -> Iterator[None]:
    """Meanwhile the model computes attention in the one way that hands its weights out."""
    hf_model = model.hf_model
    before = hf_model.config._attn_implementation
    hf_model.set_attn_implementation("eager")
    try:
        yield
    finally:
        hf_model.set_attn_implementation(before)
