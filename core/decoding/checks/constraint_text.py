"""Test of a run's text against its constraint, from the file alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ..constraints.reading import PlacedToken
from ..constraints.whole_text import keeps_to, shows_in_text
from ..record.notes import CONSTRAINT_LEFT
from ..record.trace import Trace

# ln S of a mask that refuses nothing, with the error of a sum over the vocabulary.
_WHOLE = -1e-6


def keeps_to_constraint(
    trace: Trace, text: str, tokens: Sequence[PlacedToken], *, whole: bool
) -> bool:
    """Return whether a run's text keeps to its constraint as far as that acted; True where the
    text alone doesn't tell.

    Args:
        tokens: the tokens of the text, as `tokens_of` returns them.
        whole: whether the text ended by itself.
    """
    constraint = trace.config.shaping.constraint
    if constraint is None or not shows_in_text(constraint) or "\ufffd" in text:
        return True
    if keeps_to(constraint, text, whole=whole):
        return True
    if all(note.key != CONSTRAINT_LEFT for note in trace.notes):
        return False
    texts = [token.text for token in tokens]
    first = bisect_left(
        range(1, len(texts) + 1),
        True,
        key=lambda count: not keeps_to(constraint, "".join(texts[:count]), whole=False),
    )
    if first < len(texts):
        return _leaves(trace, tokens[first])
    # It begins a text of the constraint: at a dead end only end-of-sequence tokens were left.
    last = trace.token_steps[-1:]
    return all(
        one.removed_by or one.token_id == step.token_id for step in last for one in step.candidates
    )


def _leaves(trace: Trace, token: PlacedToken) -> bool:
    """Return whether a token may break the constraint: it was given, or nothing was refused."""
    given = {step.index for step in trace.token_steps if step.origin == "forced"}
    mask = token.mask
    return token.at in given or mask is None or (mask.log_mass > _WHOLE and mask.wanted is None)
