"""File of a comparison: both runs, the first difference with its cause, and the measures."""

from __future__ import annotations

import json
import math
from typing import Any

from core.decoding.comparison.measures import PairMeasures
from core.decoding.comparison.types import Parting
from core.decoding.comparison.words import differences
from core.decoding.record.trace import Trace

SCHEMA, VERSION = "decoding-explorer/comparison", 1


def comparison_dict(
    left: Trace, right: Trace, parting: Parting, measures: PairMeasures
) -> dict[str, Any]:
    """Return a comparison in JSON's types; probabilities from 0 to 1, other numbers in nats."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "cause": parting.cause,
        "reason": parting.reason,
        "parted_at": parting.at,
        "margin": parting.margin,
        "rounding": parting.rounding,
        "differences": [row._asdict() for row in differences(left, right)],
        "rivals": [rival._asdict() for rival in parting.rivals],
        "measures": {
            "text": measures.text,
            "distribution": measures.distribution,
            "exact": measures.exact,
            "steps": [
                {
                    "index": step.at,
                    "tokens": step.tokens,
                    "entropy": step.entropy,
                    "surprisal": step.surprisal,
                    "kl_left_right": step.divergence and _finite(step.divergence.left),
                    "kl_right_left": step.divergence and _finite(step.divergence.right),
                    "total_variation": step.divergence and step.divergence.variation,
                }
                for step in measures.steps
            ],
        },
        "left": left.to_dict(),
        "right": right.to_dict(),
    }


def comparison_json(left: Trace, right: Trace, parting: Parting, measures: PairMeasures) -> bytes:
    """Return the content of a comparison's file."""
    content = comparison_dict(left, right, parting, measures)
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _finite(value: float) -> float | str:
    """Return a number as JSON has it; an infinite one as the word `inf`."""
    return value if math.isfinite(value) else "inf"
