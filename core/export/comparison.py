"""File of a comparison: both runs, the first difference with its cause, and the measures.

A reader takes the two runs from it, and compares them again.
"""

from __future__ import annotations

import json
from typing import Any

from core.decoding.comparison.measures import PairMeasures
from core.decoding.comparison.types import ComparedRuns, Parting
from core.decoding.comparison.words import differences
from core.decoding.files import finite_values
from core.decoding.record.trace import Trace
from core.decoding.serial import require_header
from core.traces.file import trace_of


def comparison_dict(
    left: Trace, right: Trace, parting: Parting, measures: PairMeasures
) -> dict[str, Any]:
    """Return a comparison in JSON's types; probabilities from 0 to 1, other numbers in nats."""
    return {
        "schema": ComparedRuns.schema,
        "version": ComparedRuns.version,
        "cause": parting.cause,
        "reason": parting.reason,
        "parted_at": parting.at,
        "margin": parting.margin,
        "rounding": parting.rounding,
        "differences": [row._asdict() for row in differences(left, right)],
        "rivals": [rival._asdict() for rival in parting.rivals],
        "measures": finite_values(
            {
                "text": measures.text,
                "distribution": measures.distribution,
                "exact": measures.exact,
                "steps": [
                    {
                        "index": step.at,
                        "tokens": step.tokens,
                        "entropy": step.entropy,
                        "surprisal": step.surprisal,
                        "kl_left_right": step.divergence and step.divergence.left,
                        "kl_right_left": step.divergence and step.divergence.right,
                        "total_variation": step.divergence and step.divergence.variation,
                    }
                    for step in measures.steps
                ],
            }
        ),
        "left": left.to_dict(),
        "right": right.to_dict(),
    }


def comparison_json(left: Trace, right: Trace, parting: Parting, measures: PairMeasures) -> bytes:
    """Return the content of a comparison's file."""
    content = comparison_dict(left, right, parting, measures)
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")


def comparison_of(data: Any) -> ComparedRuns:
    """Return the two runs of a parsed file.

    Raises:
        TraceError: the file is invalid; the message names the fault.
    """
    require_header(data, ComparedRuns)
    return ComparedRuns(trace_of(data.get("left")), trace_of(data.get("right")))
