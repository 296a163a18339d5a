"""Checks of a speculative trace against the models that made it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import torch
from torch import Tensor

from ....language import N_, Message
from ...autoregressive.config import as_single_tokens
from ...checks.common import count, worst
from ...checks.forwards import (
    largest_logit,
    log_error,
    logit_tolerance,
    prompt_numbers,
)
from ...checks.model_checks import (
    HasReference,
    ending_faults,
    fit_faults,
    same_tokens,
)
from ...checks.run_text import run_text_faults
from ...counting import at_round, nth
from ...loop.run import read_again
from ...loop.same_model import is_of_dtype, made_by
from ...loop.text import TextStream
from ...protocol import Context, LanguageModel, offers
from ...record.trace import Check, Trace
from ..config import Speculative
from ..distributions import shaper_of
from ..drafters.head import HeadState
from ..drafters.model import fit, room_after
from ..drafters.start import drafting_model, proposed_again, start_draft
from ..lookahead.checks import windows_again
from ..rounds import positions_of
from ..scoring import tree_rows
from ..types import DraftRound
from .replay import RoundReplay, Side
from .tree_checks import text_tree_fault, tree_fault

DRAFT_PROBS_AGAIN = "target_and_draft_probs_again"
SAME_GREEDY_TOKENS = "generate_greedy_tokens"


def model_checks(
    trace: Trace[Speculative], model: LanguageModel, draft: LanguageModel | None
) -> list[Check]:
    """Return the checks that need the models; if they can't have made the trace, only that failed
    check.
    """
    fits = _fits(trace, model, draft)
    if not fits.passed:
        return [fits]
    checks = [fits, _texts(trace, model), prompt_numbers(trace, model)]
    checks += _rescored(trace, model, draft)
    if draft is not None and not trace.config.source.draws:
        checks.append(_translated(trace, model, draft))
    if trace.config.source.looks_ahead:
        checks += windows_again(trace, model)
    reference = _reference(trace, model)
    return [*checks, *([reference] if reference else [])]


def _fits(trace: Trace[Speculative], model: LanguageModel, draft: LanguageModel | None) -> Check:
    """Check that ids, lengths, revisions and the end of the run are possible with these models."""
    ids = {token.token_id for step in trace.rounds for token in step.drafted}
    for step in trace.rounds:
        ids |= {c.token_id for candidates in positions_of(step) for c in candidates}
        if step.window is not None:
            ids.update(*step.window.levels, step.window.predicted)
    faults = fit_faults(trace, model, ids) + ending_faults(trace, model)
    if draft is not None and not _drafted_by(trace, draft):
        faults.append(N_("the tokens were drafted by another model, or another version of it"))
    ahead = None if faults else drafting_model(model, draft, trace.config)
    for step in trace.rounds:
        if step.parents:
            followed = {step.drafted[at].token_id for at in step.parents if at >= 0}
            if followed & model.eos_ids:
                faults.append(at_round(step.index, N_("drafting went on after an end")))
            if trace.config.source.from_text and (fault := _text_fault(trace, step, model)):
                faults.append(at_round(step.index, fault))
            continue
        ended = any(token.token_id in model.eos_ids for token in step.drafted[-1:])
        if ended != (step.draft_end == "eos"):
            faults.append(at_round(step.index, N_("a drafted end ended drafting, or none did")))
        if ahead is not None and len(step.drafted) < step.draft_length and not ended:
            room = room_after(ahead, len(trace.prompt_ids) + step.start)
            full = len(step.drafted) == max(0, room)
            if step.draft_end != "confidence" and full != (step.draft_end == "room"):
                faults.append(at_round(step.index, N_("the draft's window was full, or was not")))
    return count("fits_models", faults, N_("contradictions"))


def _text_fault(trace: Trace[Speculative], step: DraftRound, model: LanguageModel) -> str:
    ids, rounds = [*trace.prompt_ids, *trace.token_ids[: step.start]], trace.rounds[: step.index]
    proposed = proposed_again(trace.config, rounds, ids, step.draft_length)
    return text_tree_fault(step, proposed, model.eos_ids)


def _drafted_by(trace: Trace[Speculative], draft: LanguageModel) -> bool:
    if not trace.config.source.needs_draft:
        return False
    as_target = replace(trace, model_id=trace.draft_id, model_revision=trace.draft_revision)
    return made_by(as_target, draft) and is_of_dtype(trace.draft_dtype, draft)


def _texts(trace: Trace[Speculative], model: LanguageModel) -> Check:
    faults = run_text_faults(trace, model)
    stream = TextStream(model)
    for step in trace.rounds:
        texts = [stream.push(token_id) for token_id in step.token_ids]
        if step.finish_reason:
            texts[-1] += stream.flush()
        shown = [(token.token_id, token.text) for token in step.drafted]
        shown += [(c.token_id, c.text) for row in positions_of(step) for c in row]
        if step.extra is not None:
            shown.append((step.extra.token_id, step.extra.text))
        if list(step.texts) != texts or any(model.token_text(i) != text for i, text in shown):
            faults.append(at_round(step.index, N_("a text is not its token's")))
    return count("tokenizer_text", faults, N_("differences"))


def _rescored(
    trace: Trace[Speculative], model: LanguageModel, draft: LanguageModel | None
) -> list[Check]:
    """Compare fresh contexts, which never roll back, with every recorded number."""
    config, sources = trace.config, [(model, trace.config.shaping)]
    ahead = drafting_model(model, draft, config)
    if ahead is not None:
        sources.append((ahead, config.draft_shaping))
    shapers = [shaper_of(model, config, shaping) for _, shaping in sources]
    errors, faults = [[0.0] for _ in sources], [""]
    logits = [_replay(trace, maker) for maker, _ in sources]
    for step, *made in zip(trace.rounds, *logits, strict=True):
        sides = list[Side]()
        for rows, (maker, _), shaper in zip(made, sources, shapers, strict=True):
            if len(rows):
                # A log-probability is a logit minus the row's log-sum-exp; each has an error.
                tolerance = 2 * logit_tolerance(trace, maker, largest_logit(rows))
                column = "draft_raw_prob" if sides else "target_raw_prob"
                sides.append(Side(fit(rows, model.vocab_size), shaper, tolerance, column))
        for of_model, side in zip(errors, sides, strict=False):
            of_model.append(_raw_error(step, side))
        fault = RoundReplay(trace, step, sides, model).fault() or tree_fault(
            trace, step, sides, model, ahead
        )
        faults.append(fault and at_round(step.index, fault))
    name = "target_probs_again" if ahead is None else DRAFT_PROBS_AGAIN
    return [
        worst("forwards_again", chain(*errors), 1.0, _rescored_detail(trace, errors)),
        count(name, [*filter(None, faults)], N_("faults")),
    ]


def _rescored_detail(trace: Trace[Speculative], errors: Sequence[Sequence[float]]) -> str:
    """Describe the errors of the target, then of the draft; name the draft if it alone is wrong."""
    worst_of = [max(of_model) for of_model in errors]
    if len(errors) < 2 or worst_of[0] > 1 or worst_of[1] <= 1:
        return N_("largest error of ln(raw p) over its tolerance; contexts that never rolled back")
    first = next(at for at, error in enumerate(errors[1]) if error > 1) - 1
    return Message(
        "the target's are the same, the draft's differ, first in round {round}: the draft read "
        "other tokens than the run's, or its cache, positions or weights were others",
        round=nth(trace.rounds[first].index),
    )


def _replay(trace: Trace[Speculative], model: LanguageModel) -> Iterator[Tensor]:
    """Yield, for each round, the logits `[n + 1, vocab]` after its last emitted token and each
    drafted token.
    """
    ids = [*trace.prompt_ids, *trace.token_ids]
    context: Context | None = None
    for step in trace.rounds:
        end = len(trace.prompt_ids) + step.start
        room = room_after(model, end)
        if room < 1:
            # A draft without room proposes nothing.
            yield torch.empty(0, model.vocab_size)
            continue
        if context is None:
            context = model.start(ids[:end], use_cache=trace.config.use_cache)
        elif context.length < end:
            context.extend(ids[context.length : end])
        last = context.logits
        drafted = [token.token_id for token in step.drafted]
        if step.parents:
            yield torch.cat([last, _after_nodes(context, step, room)])
            continue
        # Nothing is drafted after the last token that there is room for.
        read = drafted[: int(min(len(drafted), room - 1))]
        ahead = context.branch([0]).extend(read)[0] if read else last[:0]
        yield torch.cat([last, ahead])


def _after_nodes(context: Context, step: DraftRound, room: float) -> Tensor:
    """Return the logits `[n, vocab]` after each node of a tree, read as a row of its own.

    After nodes of the last level that there is room for, which have no children, they are 0.
    """
    ids = [token.token_id for token in step.drafted]
    inside = sum(depth < room - 1 for depth in step.depths)
    logits = torch.zeros(len(ids), context.logits.shape[-1])
    if inside:
        rows = tree_rows(context.length, ids[:inside], step.parents[:inside])
        if offers(context, HeadState):
            paths = (row.token_ids[: row.new] for row in rows)
            logits[:inside] = torch.cat([context.branch([0]).extend(p)[:, -1] for p in paths])
            return logits
        read = context.branch([0] * inside).extend([row.token_ids for row in rows])
        logits[:inside] = torch.stack([read[at, row.reads[0]] for at, row in enumerate(rows)])
    return logits


def _translated(trace: Trace[Speculative], model: LanguageModel, draft: LanguageModel) -> Check:
    """Check that the draft with another tokenizer proposes the same tokens again."""
    ids, faults = [*trace.prompt_ids, *trace.token_ids], []
    again = start_draft(model, draft, trace.prompt_ids, trace.config)
    with torch.inference_mode():
        for step in trace.rounds:
            held = ids[: len(trace.prompt_ids) + step.start]
            proposal = again.propose(held, step.start, step.draft_length, _no_noise)
            drafted = [token.token_id for token in step.drafted]
            if (proposal.token_ids, proposal.translation) != (drafted, step.translation):
                faults.append(at_round(step.index, N_("the draft proposes other tokens")))
    return count("draft_translated", faults, N_("drafts that differ"))


def _no_noise(_: int) -> list[float]:
    return []


def _raw_error(step: DraftRound, side: Side) -> float:
    """Return the largest deviation of a recorded raw log-probability, in units of its tolerance."""
    errors = [0.0]
    rows = side.logits[[node + 1 for node in step.predicted_after]] if step.parents else side.logits
    for logits, candidates in zip(rows, positions_of(step), strict=False):
        log_probs = torch.log_softmax(logits.double(), dim=-1)
        for candidate in candidates:
            prob = getattr(candidate, side.column)
            if prob is not None:
                error = log_error(float(log_probs[candidate.token_id]), prob)
                errors.append(error / side.tolerance)
    return max(errors)


def _reference(trace: Trace[Speculative], model: LanguageModel) -> Check | None:
    """Check that greedy speculative decoding emits what `generate` emits without a draft, but for
    near ties.
    """
    config = trace.config
    if not offers(model, HasReference) or trace.finish_reason == "cancelled":
        return None
    if config.shaping.temperature > 0:
        return None
    greedy = as_single_tokens(config, draws=False)
    expected = model.reference_token_ids(trace.prompt_ids, greedy)
    if expected is None:
        return None
    return same_tokens(
        SAME_GREEDY_TOKENS, trace, model, expected, lambda at: _gap(trace, model, at, expected)
    )


def _gap(
    trace: Trace[Speculative], model: LanguageModel, at: int, expected: Sequence[int]
) -> tuple[float, float]:
    """Return the distance of two tokens' logits after the penalties, and the largest logit."""
    if at >= len(expected) or at >= len(trace.token_ids):
        return math.inf, 0.0
    ids, config = [*trace.prompt_ids, *trace.token_ids[:at]], trace.config
    logits = read_again(model, trace, trace.token_ids[:at]).logits[0]
    largest = largest_logit(logits)
    shaper = shaper_of(model, config, config.shaping, draws=False)
    logits = shaper.rows(logits[None], [ids], [at])[0]
    return abs(float(logits[trace.token_ids[at]] - logits[expected[at]])), largest
