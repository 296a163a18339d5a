"""A forward module by module: shapes, times, parameters, and what the cache held around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ...decoding.inside.types import CacheSize, Forward, ModulePart, ModuleRun
from ..transformers_model import TransformersModel
from .contexts import CachedContext, UncachedContext

# Of the times of several forwards the median is kept.
REPEATS = 3
# What the name of a class says of its part, in this order.
_PARTS: tuple[tuple[str, ModulePart], ...] = (
    ("norm", "norm"),
    ("attention", "attention"),
    ("mlp", "mlp"),
    ("moe", "mlp"),
    ("feedforward", "mlp"),
    ("embedding", "embedding"),
)


class _Place(NamedTuple):
    """A module that is watched."""

    name: str
    module: nn.Module
    part: ModulePart
    layer: int | None


class _Seen(NamedTuple):
    """One forward of a module."""

    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    seconds: float


def watch_forward(
    model: TransformersModel,
    before: Sequence[int],
    added: Sequence[int],
    *,
    prompt_length: int | None = None,
    use_cache: bool = True,
) -> tuple[Forward, Tensor]:
    """Run tokens behind others, through transformers' own modules, and look at each of these.

    Args:
        before: the tokens that the context holds already; none for a prompt.
        prompt_length: how many tokens of `before` were read at once; by default all.
        use_cache: False runs all tokens again.

    Returns:
        what was seen, and the logits after the last token, `[vocab]`; raises as `start`.
    """
    places = list(_places(model))
    _ = model.supports_cache  # It is found out now, before anything is watched.
    seen: list[dict[str, _Seen]] = []
    whole: list[float] = []
    with model.plain_forwards():
        context = context_over(model, before, prompt_length, use_cache) if before else None
        held = size_of(context)
        for _ in range(REPEATS):
            branch = None if context is None else context.branch([0])
            with ExitStack() as hooks:
                seen.append(_watch(places, hooks))
                started = perf_counter()
                if branch is None:
                    running = model.start(added, use_cache=use_cache)
                else:
                    branch.extend(added, keep=1)
                    running = branch
                _wait_for(model.device)
                whole.append(perf_counter() - started)
    by_name = {place.name: place for place in places}
    forward = Forward(
        tokens=len(added) if isinstance(running, CachedContext) else running.length,
        before=held,
        after=size_of(running),
        seconds=median(whole),
        # In the order in which they ended.
        modules=tuple(
            _summed(by_name[name], [repeat[name] for repeat in seen if name in repeat])
            for name in seen[0]
        ),
    )
    return forward, running.logits[0]


def context_over(
    model: TransformersModel, ids: Sequence[int], prompt_length: int | None, use_cache: bool
) -> CachedContext | UncachedContext:
    """Run the prompt at once, and what a run has added to it behind it."""
    first = prompt_length or len(ids)
    context = model.start(ids[:first], use_cache=use_cache)
    if ids[first:]:
        context.extend(ids[first:], keep=1)
    return context


def size_of(context: CachedContext | UncachedContext | None) -> CacheSize:
    """Return tokens and bytes that the context's cache holds."""
    if not isinstance(context, CachedContext):
        return CacheSize(0, 0)
    return CacheSize(context.length, context.bytes_held)


def _places(model: TransformersModel) -> Iterator[_Place]:
    """Embedding, each layer's own modules, what stands behind the layers, and the head."""
    hf_model = model.hf_model
    names = {id(module): name for name, module in hf_model.named_modules()}
    for child in hf_model.base_model.children():
        layers = child if isinstance(child, nn.ModuleList) else None
        if layers is None:
            yield _Place(names[id(child)], child, _part_of(child), None)
            continue
        for at, layer in enumerate(layers):
            for inner in layer.children():
                yield _Place(names[id(inner)], inner, _part_of(inner), at)
    head = hf_model.get_output_embeddings()
    if head is not None:
        yield _Place(names[id(head)], head, "head", None)


def _part_of(module: nn.Module) -> ModulePart:
    kind = type(module).__name__.lower()
    if "rotary" in kind:
        return "other"
    return next((part for word, part in _PARTS if word in kind), "other")


def _watch(places: Sequence[_Place], hooks: ExitStack) -> dict[str, _Seen]:
    """Hooks that fill the dict as the modules run."""
    seen: dict[str, _Seen] = {}
    started: dict[str, tuple[tuple[int, ...], float]] = {}

    def watch(name: str, module: nn.Module) -> None:
        device = next((weight.device for weight in module.parameters()), torch.device("cpu"))

        def before(_: nn.Module, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
            _wait_for(device)
            started[name] = _shape([*positional, *named.values()]), perf_counter()

        def after(_: nn.Module, _given: object, _named: object, out: Any) -> None:
            _wait_for(device)
            taken, at = started[name]
            made = _shape(out if isinstance(out, tuple | list) else [out])
            seen[name] = _Seen(taken, made, perf_counter() - at)

        for handle in (
            module.register_forward_pre_hook(before, with_kwargs=True),
            module.register_forward_hook(after, with_kwargs=True),
        ):
            hooks.callback(handle.remove)

    for place in places:
        watch(place.name, place.module)
    return seen


def _shape(values: Sequence[object]) -> tuple[int, ...]:
    """Return the shape of the first tensor."""
    tensor = next((value for value in values if isinstance(value, Tensor)), None)
    return () if tensor is None else tuple(tensor.shape)


def _summed(place: _Place, seen: Sequence[_Seen]) -> ModuleRun:
    first = seen[0]
    return ModuleRun(
        name=place.name,
        kind=type(place.module).__name__,
        part=place.part,
        layer=place.layer,
        taken=first.input_shape,
        given=first.output_shape,
        seconds=median(run.seconds for run in seen),
        parameters=sum(weight.numel() for weight in place.module.parameters()),
    )


def _wait_for(device: torch.device) -> None:
    """A GPU computes beside Python."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
