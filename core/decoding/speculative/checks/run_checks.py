"""Checks that a trace's rounds form one run: caches, drafts, tokens and end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....language import N_, Message
from ...checks.common import count, finish
from ...checks.token_text import added_faults, display_faults
from ...counting import at_round, nth
from ...record.trace import Check, Trace
from ..config import MAX_DRAFT_LENGTH, Speculative
from ..drafters.start import proposed_again
from ..types import CacheSizes, DraftEnd, DraftRound
from .tree_checks import confidence, text_tree_fault, tree_cache_fault, tree_shape_fault


def _caches(trace: Trace[Speculative]) -> Check:
    faults, held = [], len(trace.prompt_ids) - 1
    config = trace.config
    for step in trace.rounds:
        before = len(trace.prompt_ids) + step.start - 1
        if config.drafts_tree:
            if fault := tree_cache_fault(step, config, before, held):
                faults.append(at_round(step.index, fault))
            held = step.draft_cache.after if step.draft_cache else held
            continue
        drafted, accepted = len(step.drafted), len(step.accepted)
        target = CacheSizes(before, before + 1 + drafted, before + 1 + accepted)
        if step.target_cache != target:
            faults.append(
                at_round(step.index, Message("the target's cache is not {sizes}", sizes=target))
            )
        peak = before + drafted if drafted else held
        # A head reads accepted tokens again.
        kept = before + 1 + (0 if config.source.reads_hidden else accepted)
        draft = CacheSizes(held, peak, min(peak, kept))
        if step.draft_cache != (draft if config.source.draws else None):
            faults.append(
                at_round(step.index, Message("the draft's cache is not {sizes}", sizes=draft))
            )
        held = draft.after
    return count("cache_sizes", faults, N_("other sizes"))


def _drafting(trace: Trace[Speculative]) -> Check:
    """Check that the draft proposed as many tokens as the settings allow."""
    config, faults, length = trace.config, [], trace.config.depth
    ids = [*trace.prompt_ids, *trace.token_ids]
    # A context window may end a run before max_new_tokens; only the run's length shows when.
    full = trace.finish_reason == "length"
    limit = len(trace.token_ids) if full else config.max_new_tokens
    for step in trace.rounds:
        allowed = min(length, limit - step.start - 1)
        before = ids[: len(trace.prompt_ids) + step.start]
        if step.draft_length > allowed or (full and step.draft_length < allowed):
            faults.append(
                at_round(
                    step.index,
                    Message(
                        "{length} tokens allowed, not {allowed}",
                        length=step.draft_length,
                        allowed=allowed,
                    ),
                )
            )
        if fault := _drafting_fault(step, config, before, length, trace.rounds[: step.index]):
            faults.append(at_round(step.index, fault))
        if config.adaptive:
            longer = min(length + 2, MAX_DRAFT_LENGTH)
            length = longer if len(step.accepted) == length else max(1, length - 1)
    return count("draft_lengths", faults, N_("drafts that don't"))


def _drafting_fault(
    step: DraftRound,
    config: Speculative,
    before: Sequence[int],
    length: int,
    rounds: Sequence[DraftRound],
) -> str:
    """Describe a fault of a round's draft; empty for none.

    Args:
        length: length of a draft if max_new_tokens leaves room for it.
        rounds: the rounds before.
    """
    if config.drafts_tree:
        fault = tree_shape_fault(step, config, length)
        if fault or not config.source.from_text:
            return fault
        return text_tree_fault(step, proposed_again(config, rounds, before, step.draft_length))
    drafted = [token.token_id for token in step.drafted]
    if len(drafted) > step.draft_length:
        return N_("more was drafted than allowed")
    ends: set[DraftEnd] = {"length" if step.draft_length == length else "room"}
    if len(drafted) < step.draft_length:
        own: set[DraftEnd] = {"translation"} if config.source.needs_draft else {"no_match"}
        ends = {"room", "no_token"} if config.source.draws else own
    unsure = [confidence(token) < config.draft_threshold for token in step.drafted]
    if any(unsure[-1:]):
        ends = {"confidence"}
    # A drafted end-of-sequence token ends drafting, whatever its probability.
    if step.draft_end not in {*ends, "eos"} or any(unsure[:-1]):
        return N_("drafting didn't end at the first token below the threshold, or at the length")
    if config.source.from_text:
        proposed = proposed_again(config, rounds, before, step.draft_length)
        continuation = list(proposed.token_ids)
        cut = continuation if step.draft_end != "eos" else continuation[: len(drafted)]
        return "" if drafted == cut else N_("the text doesn't go on like that where it did before")
    return ""


def _tokens(trace: Trace[Speculative]) -> Check:
    faults, text = list[str](), "".join(step.text for step in trace.rounds)
    if text != trace.text and trace.finish_reason != "cancelled":
        faults.append(N_("the rounds' texts don't make up the trace's text"))
    return count("rounds_make_text", faults, N_("mismatches"))


def _texts(trace: Trace[Speculative]) -> Check:
    faults = [*display_faults(_shown(trace)), *added_faults(_emitted(trace))]
    return count("token_texts", faults, N_("tokens shown as something else"))


def _shown(trace: Trace[Speculative]) -> Iterator[tuple[str, int, str]]:
    for step in trace.rounds:
        extra = () if step.extra is None else (step.extra,)
        for token in (*step.drafted, *extra):
            for shown in (token, *token.candidates):
                yield Message("round {round}", round=nth(step.index)), shown.token_id, shown.text


def _emitted(trace: Trace[Speculative]) -> Iterator[tuple[str, str, str]]:
    for step in trace.rounds:
        extra = () if step.extra is None else (step.extra,)
        for token, added in zip((*step.accepted, *extra), step.texts, strict=True):
            yield Message("round {round}", round=nth(step.index)), token.text, added


RUN_CHECKS = (_caches, _drafting, _tokens, _texts, finish)
