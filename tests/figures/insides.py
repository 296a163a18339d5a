"""Handwritten data for the figures of the page Inside."""

from __future__ import annotations

from core.decoding.inside.types import (
    Attention,
    CacheSize,
    Forward,
    Lens,
    LensCell,
    LensPosition,
    ModuleRun,
)
from core.traces.data_path.types import FunctionCall, ShownValue
from tests.figures.traces import HOSTILE

STEPS = "core/decoding/loop/run.py"


def call(
    function: str, start: float, seconds: float, *calls: FunctionCall, file: str = "core/a.py",
    resumed: bool = False,
) -> FunctionCall:  # fmt: skip
    arguments = (ShownValue("text", HOSTILE[0]),)
    return FunctionCall(
        function, file, 7, "loop", arguments, HOSTILE[0], resumed, start, seconds, calls
    )


def make_calls() -> tuple[FunctionCall, ...]:
    """A prompt and two steps; of the second all five acts."""
    acts = (
        call("CachedContext.extend", 3.0, 1.0, file="core/models/running/contexts.py"),
        call("shape", 4.0, 0.5, file="core/decoding/shaping/stages.py"),
        call("draw", 4.5, 0.25, file="core/decoding/shaping/draws.py"),
        call("Ending.after", 4.75, 0.125, file="core/decoding/loop/text.py"),
        call("read_step", 5.0, 0.5, file="core/decoding/loop/recording.py"),
    )
    steps = (
        call("_timed", 0.5, 1.0, file=STEPS),
        call("_timed", 1.5, 1.0, file=STEPS, resumed=True),
        call("_timed", 2.5, 3.5, *acts, file=STEPS, resumed=True),
    )
    return (call("collect", 0.0, 6.0, *steps, call("brief", 6.0, 1e-6)),)


def make_lens(layers: int = 3, positions: int = 4, first: int = 10) -> Lens:
    """Position `i` is decided after layer `i`; the last one never."""
    names = ("embedding", *(str(at) for at in range(1, layers + 1)))
    made = []
    for at in range(positions):
        decided = at if at < len(names) and at < positions - 1 else None
        cells = tuple(
            LensCell(layer, HOSTILE[layer % len(HOSTILE)], (layer + 1) / 10,
                     1 if decided is not None and layer >= decided else 5)
            for layer in range(len(names))
        )  # fmt: skip
        made.append(LensPosition(at, HOSTILE[0], at + 1, HOSTILE[1], decided, cells))
    return Lens(names, tuple(made), 0.0, first)


def make_attention(layers: int = 2, heads: int = 3, tokens: int = 4) -> Attention:
    """Each head looks at one token alone: head `h` of layer `l` at `(l + h) % tokens`."""
    rows = tuple(
        tuple(
            tuple(float(at == (layer + head) % tokens) for at in range(tokens))
            for head in range(heads)
        )
        for layer in range(layers)
    )
    texts = tuple(HOSTILE[at % len(HOSTILE)] for at in range(tokens))
    return Attention(tokens - 1, texts, rows)


def make_forward(tokens: int, before: int = 0, layers: int = 2) -> Forward:
    """Module `i` takes i + 1 ms."""
    named: list[tuple[str, str, int | None]] = [("embed", "embedding", None)]
    named += [(f"layers.{at}.{part}", part, at)
              for at in range(layers) for part in ("norm", "attention", "mlp")]  # fmt: skip
    named += [("norm", "norm", None), ("head", "head", None)]
    runs = tuple(
        ModuleRun(name, f"Tiny{part}", part, layer, (1, tokens, 8), (1, tokens, 8), (at + 1) / 1000,
                  100 * at)  # type: ignore[arg-type]
        for at, (name, part, layer) in enumerate(named)
    )  # fmt: skip
    after = CacheSize(before + tokens, 64 * (before + tokens))
    return Forward(tokens, CacheSize(before, 64 * before), after, 0.05, runs)
