"""Beam search on the command line: the text is printed at the end of the run."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace, _ArgumentGroup
from typing import Any

from ..decoding.beam.config import BeamSearch
from ..decoding.record.trace import Trace
from .method import MethodOptions

_EARLY_STOPPING: dict[str, bool | str] = {"true": True, "false": False, "never": "never"}


def _add(group: _ArgumentGroup) -> None:
    group.add_argument(
        "--early-stopping",
        choices=list(_EARLY_STOPPING),
        default=SUPPRESS,
        help="when to end: true, false or never (default: false)",
    )


def _values(_: Namespace, settings: dict[str, Any]) -> dict[str, Any]:
    if "early_stopping" not in settings:
        return settings
    return {**settings, "early_stopping": _EARLY_STOPPING[settings["early_stopping"]]}


def _print_hypotheses(trace: Trace[BeamSearch]) -> None:
    """Print the best hypothesis, or all requested hypotheses with their scores."""
    returned = trace.hypotheses[: trace.config.num_return_sequences]
    if len(returned) < 2:
        print(trace.text, end="")
    else:
        print(
            "\n".join(f"{hypothesis.score:.4f}  {hypothesis.text}" for hypothesis in returned),
            end="",
        )


OPTIONS = MethodOptions(
    by_hand=["early_stopping"], add=_add, values=_values, print_result=_print_hypotheses
)
