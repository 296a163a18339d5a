"""List of the parts that no check covers, shown beside every badge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..language import N_, Message
from .by_engine.config import ByEngine
from .contrastive_decoding.config import ContrastiveDecoding
from .counting import listed
from .record.notes import CONSTRAINT_LEFT, DRAWS_UNKNOWN
from .record.trace import Check, Trace
from .shaping.config import Shaping
from .speculative.config import Speculative


class Unchecked(NamedTuple):
    """A part of a trace that the checks don't cover.

    Args:
        words: its name in a list.
        fields: its fields in the trace file, at any place.
        when: returns whether it is unchecked, from the trace and its checks.
    """

    words: str
    fields: tuple[str, ...]
    when: Callable[[Trace, Sequence[Check]], bool] = lambda _trace, _checks: True


def _by_model(_: Trace, checks: Sequence[Check]) -> bool:
    return any(check.by_model for check in checks)


def _shaped_unseen(trace: Trace, checks: Sequence[Check]) -> bool:
    """Return whether only the model could verify how the settings shape its logits."""
    return not _by_model(trace, checks) and (
        trace.config.shaping != Shaping() or not trace.token_steps
    )


def _named_by_revision(trace: Trace, checks: Sequence[Check]) -> bool:
    revised = trace.model_revision and (trace.draft_revision or not trace.draft_id)
    return bool(revised) or not _by_model(trace, checks)


def _without_draft(trace: Trace, checks: Sequence[Check]) -> bool:
    config = trace.config
    drafts = isinstance(config, ContrastiveDecoding) or (
        isinstance(config, Speculative) and config.source.needs_draft
    )
    names = {"target_and_draft_probs_again", "draft_translated", "draft_fits"}
    asked = any(check.by_model and check.name in names for check in checks)
    return drafts and _by_model(trace, checks) and not asked


_UNCHECKED = (
    Unchecked(N_("times and the date"), ("seconds", "timings", "created")),
    Unchecked(N_("library versions"), ("versions",)),
    Unchecked(N_("names of models"), ("model_id", "draft_id"), _named_by_revision),
    Unchecked(N_("whether a cache was used"), ("use_cache",)),
    Unchecked(
        N_("the settings' effect on the probabilities, without the model"),
        ("shaping",),
        _shaped_unseen,
    ),
    Unchecked(
        N_("how the drafted tokens were scored at once"),
        ("scoring",),
        lambda trace, _: isinstance(trace.config, Speculative),
    ),
    Unchecked(
        N_("which message of what the model saw is the prompt"),
        (),
        lambda trace, _: trace.prompt != trace.rendered_prompt,
    ),
    Unchecked(
        N_("the note of why it was cancelled"),
        ("notes",),
        lambda trace, _: trace.finish_reason == "cancelled" and bool(trace.notes),
    ),
    Unchecked(
        N_("the dead end of the constraint, without the model"),
        ("notes",),
        lambda trace, checks: (
            trace.finish_reason == "eos"
            and any(note.key == CONSTRAINT_LEFT for note in trace.notes)
            and not _by_model(trace, checks)
        ),
    ),
    Unchecked(
        N_(
            "the draft model and its probabilities, and so the recovered tokens, without that model"
        ),
        (
            "draft_prob",
            "draft_raw_prob",
            "draft_interval",
            "residual_mass",
            "draft_revision",
            "draft_dtype",
            "second",
            "translation",
        ),
        _without_draft,
    ),
    Unchecked(
        N_("the draws, whose seed isn't known"),
        ("seed", "draw"),
        lambda trace, _: DRAWS_UNKNOWN in trace.notes,
    ),
    Unchecked(
        N_("entropies, and ranks of tokens that the server doesn't name"),
        ("entropy", "rank", "next_rank", "tail_mass", "known"),
        lambda trace, _: trace.known is not None,
    ),
    Unchecked(
        N_("how the server shaped and drew, by its seed and settings"),
        ("seed", "shaping", "thinking_token_budget"),
        lambda trace, _: isinstance(trace.config, ByEngine),
    ),
)


def unchecked(trace: Trace, checks: Sequence[Check]) -> tuple[Unchecked, ...]:
    """Return the parts of a trace that these checks don't cover."""
    return tuple(one for one in _UNCHECKED if one.when(trace, checks))


def unchecked_words(trace: Trace, checks: Sequence[Check]) -> str:
    """Return a sentence that lists them."""
    parts = listed((one.words for one in unchecked(trace, checks)), N_("{one}; {other}"))
    return Message("Not checked: {parts}.", parts=parts)
