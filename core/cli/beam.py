"""Beam search on the command line: its text is known at its end only."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from typing import Any

from core.cli.method import Method, add_settings, given
from core.decoding.beam.config import BeamSearch
from core.decoding.trace import Trace

BEAM_HELP = {
    "num_beams": "rows of the beam",
    "length_penalty": "above 0 favours long hypotheses, below 0 short ones",
    "num_return_sequences": "how many hypotheses to print",
    "do_sample": "draw the candidates instead of taking the best",
    "num_beam_groups": "diverse beam search: so many groups",
    "diversity_penalty": "what a token costs that an earlier group has just taken, in nats",
}
_OWN = (*BEAM_HELP, "early_stopping")
_EARLY_STOPPING: dict[str, bool | str] = {"true": True, "false": False, "never": "never"}


def _add(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("beam search")
    add_settings(group, BeamSearch, BEAM_HELP)
    group.add_argument(
        "--early-stopping",
        choices=list(_EARLY_STOPPING),
        default=SUPPRESS,
        help="when to end: true, false or never (default: false)",
    )


def _values(args: Namespace) -> dict[str, Any]:
    values = given(args, _OWN)
    if "early_stopping" in values:
        values["early_stopping"] = _EARLY_STOPPING[values["early_stopping"]]
    return values


def _undrawn(args: Namespace) -> str:
    return "" if "do_sample" in args else "beam search without --do-sample; add it"


def _print_hypotheses(trace: Trace) -> None:
    """The best one, or all that were asked for, with their scores."""
    assert isinstance(trace.config, BeamSearch)
    asked = trace.hypotheses[: trace.config.num_return_sequences]
    if len(asked) < 2:
        print(trace.text, end="")
    else:
        print("\n".join(f"{found.score:.4f}  {found.text}" for found in asked), end="")


METHOD = Method(
    config=BeamSearch,
    words="beam search",
    own=_OWN,
    asks=_OWN,
    add=_add,
    undrawn=_undrawn,
    values=_values,
    printer=lambda: None,
    print_result=_print_hypotheses,
)
