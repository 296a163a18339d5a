"""Stages of the target's shaping that can have removed a rejected token."""

from __future__ import annotations

from ....decoding.record.trace import Trace
from ....decoding.shaping.config import RESCALING, RUN_ORDER, SETTINGS
from ....decoding.speculative.analysis.rejections import Rejection


def removing_stages(trace: Trace, found: Rejection) -> list[str]:
    """Return the stages that can have removed a token, in their order; one if the trace tells it.

    A file has no probabilities between two stages: a token's rank tells top-k from the others.
    """
    if found.token.refused:
        return ["constraint"]
    shaping = trace.config.shaping
    active = [name for name in RUN_ORDER if name in shaping.active(SETTINGS)]
    # What the constraint allows is recorded.
    names = [
        name for name in active if SETTINGS[name].role in ("filter", "ban") and name != "constraint"
    ]
    position = trace.rounds[found.round]
    if position.start + position.depths[found.place] < trace.config.min_new_tokens:
        names.append("min_new_tokens")
    ranked = {name for name in active if name in RESCALING} <= {"temperature"}
    if not ranked or "top_k" not in names:
        return names
    own = found.drafted.target_raw_prob
    above = sum(candidate.target_raw_prob > own for candidate in found.token.candidates)
    if above >= shaping.top_k:
        return ["top_k"] if names[0] == "top_k" else names
    # Further tokens above it may be missing in the candidates, and equal ones may come first.
    equal = sum(candidate.target_raw_prob >= own for candidate in found.token.candidates)
    known = above < trace.config.top_candidates and equal <= shaping.top_k
    return [name for name in names if name != "top_k" or not known]
