"""File of a comparison: both runs, the first difference with its cause, and the measures.

A reader takes the two runs and the measures from it, and compares the runs again.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

from ..decoding.comparison.measures import ComparedRuns, Divergence, PairMeasures
from ..decoding.comparison.types import Parting
from ..decoding.comparison.words import differences
from ..decoding.errors import TraceError
from ..decoding.files import finite_values
from ..decoding.record.layout import Codec, RecordLayout
from ..decoding.record.trace import Trace
from ..decoding.serial import require_header
from ..language import N_
from ..traces.file import trace_of


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
        "measures": _layout().plain(measures),
        "left": left.to_dict(),
        "right": right.to_dict(),
    }


def comparison_json(left: Trace, right: Trace, parting: Parting, measures: PairMeasures) -> bytes:
    """Return the content of a comparison's file."""
    content = comparison_dict(left, right, parting, measures)
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")


def comparison_of(data: Any) -> ComparedRuns:
    """Return the two runs of a parsed file with their measures.

    Raises:
        TraceError: the file is invalid; the message names the fault.
    """
    require_header(data, ComparedRuns)
    left, right = trace_of(data.get("left")), trace_of(data.get("right"))
    measures: PairMeasures = _layout().read(data.get("measures"))
    most = max(len(left.token_ids), len(right.token_ids))
    if len(measures.steps) > most or any(step.at != at for at, step in enumerate(measures.steps)):
        raise TraceError(N_("The comparison's measures are of other steps than its runs."))
    return ComparedRuns(left, right, measures)


@cache
def _layout() -> RecordLayout[PairMeasures]:
    return RecordLayout(PairMeasures, {Divergence: Codec(_plain_divergence, _divergence)})


def _plain_divergence(divergence: Divergence) -> Any:
    return finite_values(divergence._asdict())


def _divergence(data: Any) -> Divergence:
    """Read a divergence, whose infinite numbers are the word `inf`."""
    if not isinstance(data, dict) or list(data) != list(Divergence._fields):
        raise ValueError(N_("it is no divergence"))
    numbers = [math.inf if value == "inf" else value for value in data.values()]
    if not all(type(number) in (int, float) and number >= 0 for number in numbers):
        raise ValueError(N_("a divergence is a number from 0 on, or the word inf"))
    return Divergence(*map(float, numbers))
