"""Speculative decoding on the command line: a second model drafts, or the text so far."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from typing import Any

from core.cli.method import Method, add_settings, given
from core.decoding.errors import ConfigError
from core.decoding.speculative.config import ACCEPTANCES, DRAFTERS, SCORINGS, Speculative

SPECULATIVE_HELP = {
    "draft_length": "tokens that the draft proposes a round at most",
    "acceptance": "speculative sampling, the target's own sample, or typical acceptance",
    "scoring": "one sequence with many queries, or many sequences",
    "drafter": "a second model, or what followed the last tokens before",
    "draft_temperature": "the draft's own",
    "draft_threshold": "the draft stops behind a token that it is less sure of",
    "adaptive": "lengthen drafts that are accepted, shorten the others",
    "lookup_ngram": "of prompt lookup: the longest run of last tokens to search for",
    "posterior_threshold": "of typical acceptance: epsilon",
    "posterior_alpha": "of typical acceptance: delta",
}
_CHOICES = {"acceptance": ACCEPTANCES, "scoring": SCORINGS, "drafter": DRAFTERS}
_OWN = ("draft", *SPECULATIVE_HELP)
_EMBEDDED = "embedded:draft"


def _add(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("speculative decoding")
    group.add_argument(
        "--draft",
        default=SUPPRESS,
        metavar="MODEL",
        help=f"the second model, as --model (default: {_EMBEDDED})",
    )
    add_settings(group, Speculative, SPECULATIVE_HELP, _CHOICES)


def _values(args: Namespace) -> dict[str, Any]:
    return given(args, SPECULATIVE_HELP)


def _draft(args: Namespace) -> str | None:
    """Which model drafts: the embedded one where none is named, none where none is needed.

    Raises:
        ConfigError: a draft model beside prompt lookup.
    """
    named: str | None = getattr(args, "draft", None)
    if getattr(args, "drafter", "model") == "model":
        return named or _EMBEDDED
    if named:
        raise ConfigError(
            "--draft does nothing with --drafter prompt_lookup; leave one of both out."
        )
    return None


METHOD = Method(
    config=Speculative,
    words="speculative decoding",
    own=_OWN,
    asks=_OWN,
    add=_add,
    values=_values,
    draft=_draft,
)
