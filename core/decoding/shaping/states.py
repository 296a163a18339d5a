"""States that samplers take from step to step, given probabilities; torch-free."""

from __future__ import annotations

from collections.abc import Sequence

from .config import SETTINGS, Shaping


def next_states(
    shaping: Shaping, stages: Sequence[tuple[str, float | None]], probs: Sequence[float]
) -> dict[str, float]:
    """Return the states at the next step, by setting.

    Args:
        stages: name and state of each stage of a step, `raw` first.
        probs: the chosen token's probability in each of them.
    """
    states = {}
    for at, (name, state) in enumerate(stages):
        if state is not None and name in SETTINGS and (spec := SETTINGS[name].state):
            seen = spec.seen(probs[at - 1], probs[at])
            states[name] = (
                state if seen is None else spec.after(shaping.value_of(name), state, seen)
            )
    return states


def first_states(shaping: Shaping) -> dict[str, float]:
    """Return the states at the first step of a run, by setting."""
    return {
        name: spec.state.start(shaping.value_of(name))
        for name, spec in SETTINGS.items()
        if spec.state and shaping.active([name])
    }
