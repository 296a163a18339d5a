"""Speculative decoding on the command line, with the draft of each source."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace, _ArgumentGroup
from typing import Any

from ..decoding.counting import counted
from ..decoding.errors import ConfigError
from ..decoding.record.trace import Trace
from ..decoding.speculative.config import Speculative
from ..decoding.speculative.sources import SOURCES
from ..language import Message
from ..models.places import DEFAULT_DRAFT, DEFAULT_DRAFTS
from .method import MethodOptions, option


def _add(group: _ArgumentGroup) -> None:
    group.add_argument(
        "--draft",
        default=SUPPRESS,
        metavar="MODEL",
        help=Message(
            "the second model, as --model (default: {name}, of a head {head})",
            name=DEFAULT_DRAFT,
            head=DEFAULT_DRAFTS["head"],
        ),
    )


def _values(_: Namespace, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings.

    Raises:
        ConfigError: a value outside its interval, or a setting that would have no effect.
    """
    config = Speculative(**settings)
    for name in settings:
        if name in config.idle:
            raise _without_effect(name, config)
    return settings


def _without_effect(name: str, config: Speculative) -> ConfigError:
    """Return the error of a setting that acts with another source, rule or shape."""
    sources = [source.name for source in SOURCES.values() if name in source.settings]
    if name == "draft_length":
        return _does_nothing_with(name, "--tree-widths")
    if len(sources) > 1:
        return _does_nothing_with(name, f"--drafter {config.drafter}")
    needed = {"tree_picks": "--tree-widths"}.get(name, "--acceptance typical")
    return ConfigError(
        Message(
            "{option} does nothing without {other}; give both.",
            option=option(name), other=f"--drafter {sources[0]}" if sources else needed,
        )
    )  # fmt: skip


def _does_nothing_with(name: str, other: str) -> ConfigError:
    return ConfigError(
        Message(
            "{option} does nothing with {other}; leave one of both out.",
            option=option(name), other=other,
        )
    )  # fmt: skip


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
        raise _does_nothing_with("draft", f"--drafter {source.name}")
    return None


def _notes(trace: Trace[Speculative]) -> tuple[str, ...]:
    if not trace.rounds:
        return ()
    accepted = sum(len(step.accepted) for step in trace.rounds)
    drafted = sum(len(step.drafted) for step in trace.rounds)
    words = Message(
        "[{rounds}, {accepted} of {drafted} drafted tokens accepted]",
        rounds=counted(len(trace.rounds), "round"), accepted=accepted, drafted=drafted,
    )  # fmt: skip
    from ..figures.speculative.drafts.patterns import pattern_words

    return (words, *filter(None, [pattern_words(trace)]))


def _findings(trace: Trace[Speculative]) -> str:
    from ..figures.speculative.drafts.patterns import pattern_note

    return pattern_note(trace)


OPTIONS = MethodOptions(
    by_hand=["draft"],
    add=_add,
    values=_values,
    draft=_draft,
    notes=_notes,
    findings=_findings,
)
