"""Context window of a model, from its configuration."""

from __future__ import annotations

import math
from typing import Any

_POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len")


def context_window(config: Any) -> int | None:
    """Return how many tokens fit, prompt and generated together; None where nothing says so.

    A factor of scaled rotary embeddings lengthens `max_position_embeddings`, unless that is the
    longer window already. Of several kinds of layers the smallest window counts.

    Args:
        config: of the part that writes text (transformers' `PreTrainedConfig`).
    """
    listed = next(
        (count for name in _POSITIONS if (count := _whole(getattr(config, name, None)))), 0
    )
    return min(_scaled(rope, listed) for rope in rope_parameters(config)) if listed else None


def rope_parameters(config: Any) -> list[dict[str, Any]]:
    """Return the rotary embeddings' settings, one dict for each kind of layers.

    `rope_parameters` and `rope_scaling` are both read, and `rope_type`, which every dict has, under
    its old name `type` too.
    """
    whole = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    if not isinstance(whole, dict):
        whole = {}
    inner = [rope for rope in whole.values() if isinstance(rope, dict)]
    return [
        {**rope, "rope_type": rope.get("rope_type") or rope.get("type") or "default"}
        for rope in inner or [whole]
    ]


def _scaled(parameters: dict[str, Any], listed: int) -> int:
    kind, factor = parameters["rope_type"], _factor(parameters.get("factor"))
    if kind == "default":
        return listed
    original = min(_whole(parameters.get("original_max_position_embeddings")) or listed, listed)
    # Llama 3.2 has a factor of 32 and 8,192 original positions, and a window of 131,072.
    if kind == "llama3" and original < listed:
        return listed
    return max(listed, int(original * factor))


def _factor(value: object) -> float:
    """A finite number of at least 1, which anything else counts as."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return max(1.0, value)
    return 1.0


def _whole(value: object) -> int:
    """A positive integer, 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
