"""Invariants of a trace of single tokens, checked from its file alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

import torch

from ...language import N_, Message
from ..autoregressive.config import drawn_by
from ..counting import at_step, nth
from ..record.notes import DRAWS_UNKNOWN
from ..record.steps import TokenStep
from ..record.trace import Check, Trace
from ..shaping.config import CONTRASTS, RESCALING
from ..shaping.draws import draw_noise
from ..shaping.stage import named_uniform
from ..shaping.states import first_states, next_states
from .common import (
    COMMON_CHECKS,
    MASS_TOLERANCE,
    TINY,
    VALUE_TOLERANCE,
    checked_if_whole,
    count,
    finish,
    spread,
    worst,
)
from .expected import (
    as_picked,
    expected_draw,
    expected_draw_of,
    expected_stages,
    leaves_one,
    record_fault,
)
from .token_text import added_faults, display_faults
from .xtc import xtc_fault

# Rounding error of a state that is computed from a file's numbers.
_STATE_ERROR = 1e-6


def self_checks(trace: Trace) -> list[Check]:
    """Return the checks of a trace whose steps emit one token each; if a step has missing parts,
    only that failed check.
    """
    return checked_if_whole(trace, whole, _SELF_CHECKS)


def whole(trace: Trace) -> Check:
    """Check that every step holds its token and all numbers; the other checks rely on it."""
    faults = [fault for step in trace.token_steps if (fault := _missing(step))]
    return count("steps_whole", faults, N_("steps with something missing"))


def _missing(step: TokenStep) -> str:
    ids = [candidate.token_id for candidate in step.candidates]
    fewest = 3 if leaves_one(step) else 2
    if step.token_id not in ids or len(set(ids)) != len(ids):
        return at_step(step.index, N_("the token is not among the candidates once"))
    if len(step.stages) < fewest or any(len(stage.probs) != len(ids) for stage in step.stages):
        return at_step(step.index, N_("a stage is missing, or has too few probabilities"))
    seconds = [stage.second.probs for stage in step.stages if stage.second is not None]
    if any(len(probs) != len(ids) for probs in seconds):
        return at_step(step.index, N_("a second forward has not one number for each candidate"))
    if step.draw.scores is not None and len(step.draw.scores) != len(ids):
        return at_step(step.index, N_("the draw has not one score for each candidate"))
    return ""


def _sums_to_one(trace: Trace) -> Check:
    sums = (
        abs(sum(stage.probs) + stage.tail_mass - 1)
        for step in trace.token_steps
        for stage in step.stages
    )
    detail = N_("largest distance from 1, over every stage of every step, vocabulary tail included")
    return worst("sum_to_one", sums, MASS_TOLERANCE, detail)


def _filters_renormalise(trace: Trace) -> Check:
    name = "filters_renormalise"
    detail = N_("largest deviation of a survivor from its probability before / (1 - mass removed)")
    return worst(name, _survivor_errors(trace), MASS_TOLERANCE, detail)


def _survivor_errors(trace: Trace) -> Iterator[float]:
    for step in trace.token_steps:
        for before, after in pairwise(step.stages):
            if after.name in CONTRASTS:
                pairs = zip(before.probs, after.probs, strict=True)
                gone = sum(old for old, new in pairs if new == 0 and old > TINY)
                # A probability may underflow to 0 where the contrast removes no token.
                yield max(0.0, gone - after.removed_mass) if after.kept < before.kept else 0.0
                yield math.inf if after.kept > before.kept else 0.0
                continue
            if after.name in RESCALING:
                yield abs(after.removed_mass)
                continue
            if after.kept > before.kept:
                yield math.inf
            if after.name == "forced":
                yield abs(1 - before.probs[step.candidates.index(step.chosen)] - after.removed_mass)
                continue
            left = 1 - after.removed_mass
            for old, new in zip(before.probs, after.probs, strict=True):
                if new > 0 and left > 1e-6:
                    yield abs(old / left - new)


def _candidates_agree(trace: Trace) -> Check:
    faults = [fault for step in trace.token_steps if (fault := _candidate_fault(step))]
    faults += [fault for step in trace.token_steps if (fault := record_fault(step, trace))]
    return count("candidates_of_stages", faults, N_("candidates that disagree"))


def _candidate_fault(step: TokenStep) -> str:
    where = Message("step {step}", step=nth(step.index))
    first, last = step.stages[0], step.stages[-1]
    ranks = [candidate.rank for candidate in step.candidates]
    order = [(-candidate.logit, candidate.token_id) for candidate in step.candidates]
    if ranks != sorted(set(ranks)) or ranks[:-1] != list(range(1, len(ranks))):
        return Message("{where}: the ranks are not 1, 2, 3, ...", where=where)
    if order != sorted(order):
        return Message("{where}: the candidates are not ordered by their logits", where=where)
    if spread([c.logit for c in step.candidates], first.probs) > VALUE_TOLERANCE:
        return Message("{where}: the probabilities don't follow from the logits", where=where)
    for at, candidate in enumerate(step.candidates):
        if (candidate.raw_prob, candidate.prob) != (first.probs[at], last.probs[at]):
            return Message("{where}: a candidate's probabilities are not its stages'", where=where)
        if candidate.raw_prob > TINY and not _says_what_removed_it(step, at):
            return Message(
                "{where}: a candidate was removed by another stage than it says", where=where
            )
    return ""


def _says_what_removed_it(step: TokenStep, at: int) -> bool:
    """Return whether a candidate without probability was removed by the stage that the record
    names; a tiny probability may round to 0.
    """
    zeros = [stage.name for stage in step.stages if stage.probs[at] == 0]
    removed_by = step.candidates[at].removed_by
    if step.origin == "forced" and step.candidates[at].token_id == step.token_id:
        return removed_by is None
    if zeros and zeros[0] in RESCALING:
        return removed_by is None or removed_by in set(zeros) - (RESCALING - {*CONTRASTS})
    return removed_by == (zeros[0] if zeros else None)


def _settings_made_the_steps(trace: Trace) -> Check:
    faults, length = _state_faults(trace), len(trace.prompt_ids)
    for step in trace.token_steps:
        names = [stage.name for stage in step.stages]
        if names not in expected_stages(trace, step, length + step.index):
            faults.append(at_step(step.index, N_("the stages are not those of the settings")))
        if (step.origin, step.draw.method) != expected_draw_of(trace, step):
            faults.append(at_step(step.index, N_("the draw is not that of the settings")))
        if fault := xtc_fault(step, trace.config.shaping):
            faults.append(fault)
    return count("stages_of_settings", faults, N_("steps that differ"))


def _state_faults(trace: Trace) -> list[str]:
    """List steps with a sampler's state that is not what the steps before it left."""
    faults, shaping = list[str](), trace.config.shaping
    states = first_states(shaping) if expected_draw(trace)[0] == "sampled" else {}
    for step in (step for step in trace.token_steps if step.draw.method != "forced"):
        same = step.states.keys() == states.keys() and all(
            math.isclose(state, states[name], rel_tol=_STATE_ERROR, abs_tol=_STATE_ERROR)
            for name, state in step.states.items()
        )
        if not same:
            faults.append(at_step(step.index, N_("a sampler's state is not what the steps left")))
        if states and step.origin != "forced":
            place = step.candidates.index(step.chosen)
            stages = [(stage.name, stage.state) for stage in step.stages]
            states = next_states(shaping, stages, [stage.probs[place] for stage in step.stages])
    return faults


def _draw_explains_token(trace: Trace) -> Check:
    unknown = DRAWS_UNKNOWN in trace.notes
    faults = [fault for step in trace.token_steps if (fault := _draw_fault(step, unknown))]
    return count("tokens_of_draws", faults, N_("draws that point elsewhere"))


def _draw_fault(step: TokenStep, unknown: bool = False) -> str:
    """Describe a draw that doesn't give the step's token.

    Args:
        unknown: the numbers of the draws weren't recorded.
    """
    where, draw, chosen = Message("step {step}", step=nth(step.index)), step.draw, step.chosen
    place = step.candidates.index(chosen)
    if step.origin == "forced":
        picked = as_picked(step)
        if chosen.prob != 1:
            return Message("{where}: a forced token must have probability 1", where=where)
        return _draw_fault(picked) if picked else ""
    if chosen.removed_by is not None or chosen.prob <= 0:
        return Message("{where}: a removed token was emitted", where=where)
    if draw.method == "argmax":
        before = step.stages[-3].probs
        return (
            ""
            if before[place] == max(before)
            else Message("{where}: another token is more probable", where=where)
        )
    if draw.method == "inverse_cdf":
        uniform, interval = draw.uniform, draw.interval
        if uniform is None or interval is None:
            return Message("{where}: the uniform number was not recorded", where=where)
        low, high = interval
        if not low - VALUE_TOLERANCE <= uniform <= high + VALUE_TOLERANCE:
            return Message(
                "{where}: the uniform number lies outside the token's interval", where=where
            )
        if abs(high - low - chosen.prob) > VALUE_TOLERANCE:
            return Message(
                "{where}: the interval is not as wide as the token is probable", where=where
            )
        return ""
    if unknown and draw.scores is None:
        return ""
    if draw.scores and any(
        (score is None) != (candidate.removed_by is not None)
        for score, candidate in zip(draw.scores, step.candidates, strict=True)
    ):
        return Message("{where}: a score is missing, or is of a removed token", where=where)
    score = draw.scores[place] if draw.scores else None
    beaten = score is None or any(s is not None and s > score for s in draw.scores or ())
    return Message("{where}: the token has not the highest score", where=where) if beaten else ""


def _noise(trace: Trace) -> Check:
    """Check that the uniform numbers are those that the seed gives."""
    sampling, faults = drawn_by(trace.config.chooser), list[str]()
    if sampling and sampling.draw == "inverse_cdf":
        generator = torch.Generator().manual_seed(sampling.seed)
        for step in (s for s in trace.token_steps if s.draw.method != "forced"):
            if step.draw.uniform != float(draw_noise("inverse_cdf", generator, 0)):
                faults.append(at_step(step.index, N_("the seed gives another uniform number")))
    faults += [
        at_step(step.index, Message("the seed gives another number of {name}", name=stage.name))
        for step in (trace.token_steps if sampling else ())
        for stage in step.stages
        if sampling and stage.noise is not None
        if stage.noise != named_uniform(sampling.seed, stage.name, step.index)
    ]
    return count("dice_of_seed", faults, N_("uniform numbers that differ"))


def _surprisals(trace: Trace) -> Check:
    errors = (
        abs(step.surprisal + math.log(step.chosen.raw_prob))
        for step in trace.token_steps
        if step.chosen.raw_prob > TINY
    )
    detail = N_("largest deviation from -ln of the token's raw probability")
    return worst("surprisal", errors, VALUE_TOLERANCE, detail)


def _entropies(trace: Trace) -> Check:
    """Check that entropies lie within the bounds of the candidates: n tokens of mass m add -m ln m
    to m ln(n / m).
    """
    errors = map(_entropy_error, trace.token_steps)
    detail = N_("distance from the bounds that the candidates and the tail's mass leave")
    return worst("entropy", errors, MASS_TOLERANCE, detail)


def _entropy_error(step: TokenStep) -> float:
    shown = -sum(c.raw_prob * math.log(c.raw_prob) for c in step.candidates if c.raw_prob > 0)
    mass, others = step.tail_mass, max(1, step.stages[0].kept - len(step.candidates))
    if mass <= 0:
        return abs(step.entropy - shown)
    low, high = shown - mass * math.log(mass), shown + mass * math.log(others / mass)
    return max(low - step.entropy, step.entropy - high, 0.0)


def _texts(trace: Trace) -> Check:
    faults = [*display_faults(_shown(trace)), *added_faults(_added(trace))]
    return count("token_texts", faults, N_("tokens shown as something else"))


def _shown(trace: Trace) -> Iterator[tuple[str, int, str]]:
    for position in trace.prompt_step.positions if trace.prompt_step else ():
        where = Message("prompt position {index}", index=nth(position.index))
        yield where, position.token_id, position.text
        for candidate in position.candidates:
            yield where, candidate.token_id, candidate.text
    for step in trace.token_steps:
        for candidate in step.candidates:
            yield Message("step {step}", step=nth(step.index)), candidate.token_id, candidate.text


def _added(trace: Trace) -> Iterator[tuple[str, str, str]]:
    for step in trace.token_steps:
        yield Message("step {step}", step=nth(step.index)), step.chosen.text, step.text


def _steps_make_tokens(trace: Trace) -> Check:
    faults = []
    if tuple(step.token_id for step in trace.token_steps) != trace.token_ids:
        faults.append(N_("the steps' tokens are not the trace's tokens"))
    if [step.index for step in trace.token_steps] != list(range(len(trace.token_ids))):
        faults.append(N_("the steps are not numbered from 0 without a gap"))
    if "".join(step.text for step in trace.token_steps) != trace.text and (
        trace.finish_reason != "cancelled"
    ):
        faults.append(N_("the steps' texts don't make up the trace's text"))
    return count("steps_make_text", faults, "mismatches")


# Checks of each step alone, with its draw, then of its numbers; checks of the tokens' texts.
_STAGES_AND_DRAWS: tuple[Callable[[Trace], Check], ...] = (
    _sums_to_one,
    _filters_renormalise,
    _candidates_agree,
    _settings_made_the_steps,
    _draw_explains_token,
)
_SURPRISES: tuple[Callable[[Trace], Check], ...] = (_surprisals, _entropies)
STEP_CHECKS = (*_STAGES_AND_DRAWS, *_SURPRISES)
TEXT_CHECKS: tuple[Callable[[Trace], Check], ...] = (_texts, _steps_make_tokens, finish)
_SELF_CHECKS = (*_STAGES_AND_DRAWS, _noise, *_SURPRISES, *TEXT_CHECKS, *COMMON_CHECKS)
# Checks of the stages; a method with its own stages replaces them.
STAGE_CHECKS: tuple[Callable[[Trace], Check], ...] = (_settings_made_the_steps,)
# Checks of the draw; a method that chooses differently replaces them.
_OF_THE_DRAW = {*STAGE_CHECKS, _draw_explains_token, _noise}
NUMBER_CHECKS = tuple(check for check in _SELF_CHECKS if check not in _OF_THE_DRAW)
