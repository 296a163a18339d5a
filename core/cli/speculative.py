"""Speculative decoding on the command line, with the draft of each source."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace, _ArgumentGroup

from ..decoding.errors import ConfigError
from ..decoding.record.trace import Trace
from ..decoding.speculative.config import Speculative
from ..decoding.speculative.sources import SOURCES
from ..language import Message
from ..models.places import DEFAULT_DRAFT, DEFAULT_DRAFTS
from .method import MethodOptions


def _add(group: _ArgumentGroup) -> None:
    group.add_argument(
        "--draft",
        default=SUPPRESS,
        metavar="MODEL",
        help=Message("the second model, as --model (default: {name})", name=DEFAULT_DRAFT),
    )


def _draft(args: Namespace) -> str | None:
    """Return the draft model's name, the embedded one by default; None if the source needs none.

    Raises:
        ConfigError: a draft model is named with a source that needs none.
    """
    named: str | None = getattr(args, "draft", None)
    source = SOURCES[getattr(args, "drafter", "model")]
    if source.needs_draft:
        return named or DEFAULT_DRAFTS[source.name]
    if named:
        raise ConfigError(
            Message(
                "--draft does nothing with --drafter {name}; leave one of both out.",
                name=source.name,
            )
        )
    return None


def _notes(trace: Trace[Speculative]) -> tuple[str, ...]:
    if not trace.rounds:
        return ()
    accepted = sum(len(step.accepted) for step in trace.rounds)
    drafted = sum(len(step.drafted) for step in trace.rounds)
    words = Message(
        "[{rounds} rounds, {accepted} of {drafted} drafted tokens accepted]",
        rounds=len(trace.rounds), accepted=accepted, drafted=drafted,
    )  # fmt: skip
    return (words,)


OPTIONS = MethodOptions(by_hand=["draft"], add=_add, draft=_draft, notes=_notes)
