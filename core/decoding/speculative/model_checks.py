"""What the models that made a speculative trace say about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import torch
from torch import Tensor

from core.decoding.autoregressive.config import Greedy
from core.decoding.checks.boundary_tokens import boundary_tokens
from core.decoding.checks.common import count, worst
from core.decoding.checks.filter_cuts import MASS_TOLERANCE
from core.decoding.checks.forwards import FAINT, largest_logit, logit_tolerance, prompt_numbers
from core.decoding.checks.model_checks import (
    HasReference,
    ending_faults,
    fit_faults,
    is_of_dtype,
    made_by,
    same_tokens,
)
from core.decoding.checks.run_text import run_text_faults
from core.decoding.counting import nth
from core.decoding.loop.ending import eos_rows
from core.decoding.loop.prompt import read_again
from core.decoding.loop.text import TextStream
from core.decoding.protocol import Context, LanguageModel, offers
from core.decoding.record.trace import Check, Trace
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.stages import penalties
from core.decoding.speculative.acceptance import typical_threshold
from core.decoding.speculative.config import Speculative
from core.decoding.speculative.distributions import PositionShaper, Rows, entropies, residual_masses
from core.decoding.speculative.drafting import fit
from core.decoding.speculative.rounds import positions_of
from core.decoding.speculative.types import DraftRound, PairCandidate
from core.decoding.speculative.whole_rows import candidate_faults, draw_faults

SAME_GREEDY_TOKENS = "transformers' greedy generate emits the same tokens"


def model_checks(
    trace: Trace[Speculative], model: LanguageModel, draft: LanguageModel | None
) -> list[Check]:
    """The checks that need the models; one failed check alone where the trace can't be theirs."""
    fits = _fits(trace, model, draft)
    if not fits.passed:
        return [fits]
    checks = [fits, _texts(trace, model), prompt_numbers(trace, model)]
    checks += _rescored(trace, model, draft)
    reference = _reference(trace, model)
    return [*checks, *([reference] if reference else [])]


def _fits(trace: Trace[Speculative], model: LanguageModel, draft: LanguageModel | None) -> Check:
    """Ids, lengths, revisions and the end of the run are possible with these models."""
    ids = {token.token_id for step in trace.rounds for token in step.drafted}
    for step in trace.rounds:
        ids |= {c.token_id for candidates in positions_of(step) for c in candidates}
    faults = fit_faults(trace, model, ids) + ending_faults(trace, model)
    if draft is not None and not _drafted_by(trace, draft):
        faults.append("the tokens were drafted by another model, or another version of it")
    for step in trace.rounds:
        ended = any(token.token_id in model.eos_ids for token in step.drafted[-1:])
        if ended != (step.draft_end == "eos"):
            faults.append(f"round {nth(step.index)}: a drafted end ended drafting, or none did")
        if draft is not None and len(step.drafted) < step.draft_length and not ended:
            held, window = len(trace.prompt_ids) + step.start, draft.context_window or math.inf
            full = len(step.drafted) == max(0, window - held + 1)
            if step.draft_end != "confidence" and full != (step.draft_end == "room"):
                faults.append(f"round {nth(step.index)}: the draft's window was full, or was not")
    return count("the trace can be these models'", faults, "contradictions")


def _drafted_by(trace: Trace[Speculative], draft: LanguageModel) -> bool:
    if trace.config.drafter != "model":
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
            faults.append(f"round {nth(step.index)}: a text is not its token's")
    return count("the tokenizer decodes the tokens to the text", faults, "differences")


class _Side(NamedTuple):
    """One model's part of the rescoring: its logits `[n, vocab]` of a round, and what shapes them.

    `raw` and `shaped` are the columns of a `PairCandidate` that it made.
    """

    logits: Tensor
    shaping: Shaping
    shaper: PositionShaper
    tolerance: float
    raw: int
    shaped: int


def _rescored(
    trace: Trace[Speculative], model: LanguageModel, draft: LanguageModel | None
) -> list[Check]:
    """Fresh contexts that never roll back, against every recorded number."""
    config, eos_ids = trace.config, eos_rows(model)
    models = [(model, config.shaping, 4, 2)]
    if draft is not None:
        models.append((draft, config.draft_shaping, 5, 3))
    shapers = [
        PositionShaper(shaping, config.min_new_tokens, eos_ids, config.seed)
        for _, shaping, *_ in models
    ]
    raw_errors, faults = [0.0], [""]
    replays = [_replay(trace, own) for own, *_ in models]
    for step, *logits in zip(trace.rounds, *replays, strict=True):
        sides = []
        for own, (maker, shaping, raw, shaped), shaper in zip(logits, models, shapers, strict=True):
            if not len(own):
                continue
            tolerance = logit_tolerance(trace, maker, largest_logit(own))
            fitted = fit(own, model.vocab_size)
            sides.append(_Side(fitted, shaping, shaper, tolerance, raw, shaped))
        raw_errors += [_raw_error(step, side) for side in sides]
        faults += [_round_fault(trace, step, sides, eos_ids)]
    both = "every target_prob" + (" and draft_prob" if draft is not None else "")
    name = f"the logits and the settings give {both}"
    detail = "largest error of ln(raw p) over its tolerance; contexts that never rolled back"
    return [
        worst("independent forwards give the same probabilities", raw_errors, 1.0, detail),
        count(name, [*filter(None, faults)], "faults"),
    ]


def _replay(trace: Trace[Speculative], model: LanguageModel) -> Iterator[Tensor]:
    """For each round the logits `[n + 1, vocab]` after its last emitted and each drafted token."""
    ids = [*trace.prompt_ids, *trace.token_ids]
    context: Context | None = None
    for step in trace.rounds:
        end = len(trace.prompt_ids) + step.start
        if model.context_window is not None and end > model.context_window:
            # A draft whose window is full has fallen silent.
            yield torch.empty(0, model.vocab_size)
            continue
        if context is None:
            context = model.start(ids[:end], use_cache=trace.config.use_cache)
        elif context.length < end:
            context.extend(ids[context.length : end])
        last = context.logits
        drafted = [token.token_id for token in step.drafted]
        room = len(drafted)
        if model.context_window is not None:
            room = min(room, model.context_window - context.length)
        if room <= 0:
            yield last
            continue
        ahead = context.branch([0]).extend(drafted[:room])[0]
        yield torch.cat([last, ahead])


def _raw_error(step: DraftRound, side: _Side) -> float:
    """The largest deviation of a recorded raw log-probability, in units of its tolerance."""
    errors = [0.0]
    rows = [c for c in positions_of(step) if c and c[0][side.raw] is not None]
    for logits, candidates in zip(side.logits, rows, strict=False):
        own = torch.log_softmax(logits.double(), dim=-1)[[c.token_id for c in candidates]]
        recorded = torch.tensor([c[side.raw] for c in candidates], dtype=torch.float64).log()
        clear = (own > FAINT) & (recorded > FAINT)
        far = (own > FAINT + 1) != (recorded > FAINT + 1)
        if bool((far & ~clear).any()):
            return math.inf
        if bool(clear.any()):
            errors.append(float((own - recorded)[clear].abs().max()) / (2 * side.tolerance))
    return max(errors)


def _round_fault(
    trace: Trace[Speculative], step: DraftRound, sides: Sequence[_Side], eos_ids: Sequence[int]
) -> str:
    """The first shaped probability, residual mass or threshold that the settings don't give."""
    config, where = trace.config, f"round {nth(step.index)}"
    drafted = [token.token_id for token in step.drafted]
    ids = [*trace.prompt_ids, *trace.token_ids[: step.start], *drafted]
    shaped: list[tuple[Rows, list[float]]] = []
    for side in sides:
        history = ids[: len(ids) - len(drafted) - 1 + len(side.logits)]
        rows = side.shaper(side.logits, history, step.start)
        slacks = []
        for at, candidates in enumerate(positions_of(step)):
            if at >= len(side.logits) or (candidates and candidates[0][side.shaped] is None):
                continue
            before = ids[: len(ids) - len(drafted) + at]
            held_back = eos_ids if step.start + at < config.min_new_tokens else []
            near, slack = boundary_tokens(
                side.logits[at], side.shaping, side.tolerance, before, held_back
            )
            slacks.append(slack)
            if not _same_probs(rows, at, candidates, side, near, slack):
                return f"{where}: the settings give other probabilities at position {nth(at)}"
        shaped.append((rows, slacks))
        if side.shaped == 3 and step.draft_end == "no_token" and not rows.is_empty(len(drafted)):
            return f"{where}: the draft had a token left"
    if config.drafter == "prompt_lookup":
        shaped.append((Rows(None, drafted), [0.0] * len(drafted)))
    logits = [(side.logits, side.tolerance) for side in sides]
    for fault in (*candidate_faults(step, config, logits), *draw_faults(step, config, shaped)):
        return f"{where}: {fault}"
    return _derived_fault(step, config, shaped)


def _derived_fault(
    step: DraftRound, config: Speculative, shaped: Sequence[tuple[Rows, list[float]]]
) -> str:
    """Of the numbers that need whole rows: the typical thresholds, and the residual masses."""
    where, (target, slacks) = f"round {nth(step.index)}", shaped[0]
    bounds = config.posterior_threshold, config.posterior_alpha
    for token, entropy, slack in zip(step.drafted, entropies(target), slacks, strict=False):
        if token.threshold is not None:
            expected = typical_threshold(entropy, *bounds)
            # An entropy may be off by the slack times the logarithm of the vocabulary, about.
            bound = bounds[1] * math.exp(-entropy) * math.expm1(20 * slack)
            if abs(token.threshold - expected) > bound:
                return f"{where}: the threshold of typical acceptance is another"
    if len(shaped) > 1 and len(step.drafted):
        draft, draft_slacks = shaped[1]
        n = min(len(step.drafted), len(draft), len(target))
        draft = Rows(None if draft.probs is None else draft.probs[:n], draft.only[:n])
        masses = residual_masses(target, draft)
        for token, mass, own, other in zip(
            step.drafted, masses, slacks, draft_slacks, strict=False
        ):
            if abs(token.residual_mass - mass) > own + other + MASS_TOLERANCE:
                return f"{where}: the residual mass is another"
    return ""


def _same_probs(
    rows: Rows,
    at: int,
    candidates: Sequence[PairCandidate],
    side: _Side,
    near: Tensor,
    slack: float,
) -> bool:
    ids = [candidate.token_id for candidate in candidates]
    if rows.probs is None:
        own = [float(token_id == rows.only[at]) for token_id in ids]
    else:
        own = rows.probs[at][ids].tolist()
    spared: list[bool] = near[ids].tolist()
    recorded = (candidate[side.shaped] for candidate in candidates)
    # Errors of logits and of the mass that is left are relative, where they are small.
    relative = slack if slack < 0.25 else math.inf
    slack = min(slack, 0.5)
    return all(
        close or (isinstance(old, float) and abs(old - new) <= min(slack, relative * new + 1e-9))
        for old, new, close in zip(recorded, own, spared, strict=True)
    )


def _reference(trace: Trace[Speculative], model: LanguageModel) -> Check | None:
    """Greedy speculation emits what `generate` emits without a draft, but for near ties."""
    config = trace.config
    if not offers(model, HasReference) or trace.finish_reason == "cancelled":
        return None
    if config.shaping.temperature > 0:
        return None
    shared = {field.name: getattr(config, field.name) for field in fields(Greedy)}
    expected = model.reference_token_ids(trace.prompt_ids, Greedy(**shared))
    if expected is None:
        return None
    return same_tokens(
        SAME_GREEDY_TOKENS, trace, model, expected, lambda at: _gap(trace, model, at, expected)
    )


def _gap(
    trace: Trace[Speculative], model: LanguageModel, at: int, expected: Sequence[int]
) -> tuple[float, float]:
    """How far apart two tokens' logits are after the penalties, and the largest logit."""
    if at >= len(expected) or at >= len(trace.token_ids):
        return math.inf, 0.0
    ids, config = [*trace.prompt_ids, *trace.token_ids[:at]], trace.config
    logits = read_again(model, trace, trace.token_ids[:at]).logits[0]
    largest = largest_logit(logits)
    held_back = eos_rows(model) if at < config.min_new_tokens else []
    for _, act in penalties(config.shaping, ids, held_back):
        logits = act(logits)
    return abs(float(logits[trace.token_ids[at]] - logits[expected[at]])), largest
