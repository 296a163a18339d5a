"""Settings of greedy decoding and of sampling."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ...language import N_
from ..config import SEED, DrawMethod, MethodConfig, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy(MethodConfig):
    """Greedy decoding: emit the most probable token at every step.

    Penalties act; temperature and filters don't.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> trace.text
        ', there was a little girl whose name'
    """

    method: ClassVar[str] = "greedy"
    words: ClassVar[str] = N_("greedy decoding")
    can_draw: ClassVar[bool] = False
    forces: ClassVar[tuple[str, ...]] = ("given",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(MethodConfig):
    """Sampling: draw a token from the shaped distribution at every step.

    Args:
        seed: seed of the run's own generator; the same seed gives the same run.
        draw: `inverse_cdf` records the uniform number, `gumbel` adds noise to the
            log-probabilities, `multinomial` uses torch's generator exactly as transformers does.

    Example:
        >>> config = Sampling(seed=7, max_new_tokens=8, shaping=Shaping(temperature=0.8))
        >>> model = load_model("embedded:target")
        >>> collect(model, "Once upon a time", config).text
        ', there lived a young monkey called Fern'
    """

    method: ClassVar[str] = "sampling"
    words: ClassVar[str] = "sampling"
    forces: ClassVar[tuple[str, ...]] = ("given",)

    seed: int = setting(0, within=SEED)
    draw: DrawMethod = setting("inverse_cdf", "how to draw")


def as_single_tokens(config: MethodConfig, draws: bool) -> Greedy | Sampling:
    """Return sampling or greedy decoding with the shared settings, seed and draw of any config."""
    shared: dict[str, Any] = {f.name: getattr(config, f.name) for f in fields(MethodConfig)}
    if not draws:
        return Greedy(**shared)
    shared |= {name: getattr(config, name) for name in ("seed", "draw") if hasattr(config, name)}
    return Sampling(**shared)


def drawn_by(chooser: MethodConfig) -> Sampling | None:
    """Return the sampling settings that draw a run's tokens; None if every token is the most
    probable one.

    At temperature 0 nothing is drawn.

    Args:
        chooser: the run's `MethodConfig.chooser`.
    """
    if isinstance(chooser, Sampling) and chooser.shaping.temperature > 0:
        return chooser
    return None
