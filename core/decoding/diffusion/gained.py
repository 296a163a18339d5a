"""Text that a canvas step adds to the running text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..loop.text import Ending
from .types import CanvasStep


def with_text(step: CanvasStep, ending: Ending, shown: int, gained: Sequence[int]) -> CanvasStep:
    """Return the step with the tokens that the text gains, up to the end of the run.

    Args:
        shown: number of tokens of the text before the step.
    """
    texts, reason = list[str](), None
    for at, token_id in enumerate(gained, start=shown):
        text, reason = ending.after(at, token_id)
        texts.append(text)
        if reason:
            break
    emitted = tuple(gained[: len(texts)])
    return replace(step, emitted=emitted, texts=tuple(texts), finish_reason=reason)
